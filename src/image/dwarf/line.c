/* SPDX-License-Identifier: MIT
 *
 * Line number programs. For lookups the program of a unit is run once, and its
 * rows kept sorted: sequences (each a stretch of code without gaps) are
 * flattened like symbols, and within one the last row at or below an address
 * counts. Of several rows at one address only the last can be found, so only
 * it is kept. Who wants all rows has the program run once more.
 */
#include "image/dwarf/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/dwarf/attr.h"
#include "image/dwarf/root.h"
#include "image/dwarf/unit.h"
#include "image/lines.h"

#define MAX_FILES (1u << 20)
#define MAX_ROWS (1u << 26)
#define MAX_FORMATS 16
#define MAX_PROGRAM (UINT64_C(512) << 20)

struct row {
	uint64_t address;
	uint32_t file, line, column;
	uint32_t order; /* as in the program */
};

struct sequence {
	size_t first, count; /* rows */
	uint64_t low, high;
};

struct file {
	struct cp_attr name; /* read when asked for */
	uint64_t dir;
	char *path; /* once built; owned by the debug information */
};

/* A program as its header describes it. */
struct program {
	struct cp_cursor c; /* its bytes */
	uint8_t min_length, line_range, opcode_base;
	int8_t line_base;
	bool statement; /* where is_stmt begins */
	const uint8_t *lengths; /* of standard opcodes; opcode_base - 1 of them */
};

struct cp_lines {
	CP_VEC(struct row) rows;
	CP_VEC(struct sequence) sequences;
	CP_VEC(struct cp_attr) dirs;
	CP_VEC(struct file) files;
	size_t header_files; /* of them, the others are defined in the program */
	struct cp_spans spans; /* addresses to sequences */
	struct cp_unit form; /* how its attributes are written */
	unsigned version;
	bool ran; /* its rows are here */
	struct program program;
};

static void destroy_lines(struct cp_lines *lines)
{
	if (!lines)
		return;
	cp_vec_free(&lines->rows);
	cp_vec_free(&lines->sequences);
	cp_vec_free(&lines->dirs);
	cp_vec_free(&lines->files);
	cp_spans_free(&lines->spans);
	free(lines);
}

/* A program while it runs. */
struct run {
	struct cp_unit *unit;
	struct cp_lines *lines;
	struct cp_unit form; /* how big things are in this program */
	struct cp_cursor c;
	struct program p;
	struct cp_line_table *all; /* where all rows go, or NULL: those for lookups to `lines` */
	/* registers */
	uint64_t address;
	uint64_t file, line, column, discriminator;
	bool statement;
	size_t first; /* row of this sequence */
	bool ordered;
};

/* ---- header ---- */

static struct cp_attr in_place(const char *text)
{
	return (struct cp_attr){ .form = DW_FORM_string, .string = text };
}

static bool entries_v4(struct run *r)
{
	struct file f;
	const char *text;

	while ((text = cp_cursor_string(&r->c)) && text[0]) {
		if (r->lines->dirs.count >= MAX_FILES ||
		    !cp_vec_push(&r->lines->dirs, in_place(text)))
			return false;
	}
	while ((text = cp_cursor_string(&r->c)) && text[0]) {
		f = (struct file){ .name = in_place(text), .dir = cp_cursor_uleb(&r->c) };
		cp_cursor_uleb(&r->c); /* time */
		cp_cursor_uleb(&r->c); /* size */
		if (r->lines->files.count >= MAX_FILES || !cp_vec_push(&r->lines->files, f))
			return false;
	}
	return !r->c.bad;
}

/* Reads a self-describing table of DWARF 5: directories or files. */
static bool table_v5(struct run *r, bool files)
{
	struct cp_attr_spec formats[MAX_FORMATS];
	unsigned n = cp_cursor_u8(&r->c), i;
	const uint8_t *before;
	struct cp_attr attr;
	struct file f;
	uint64_t count;

	if (n > MAX_FORMATS)
		return false;
	for (i = 0; i < n; i++) {
		formats[i] = (struct cp_attr_spec){ 0 };
		formats[i].name = (uint16_t)cp_cursor_uleb(&r->c);
		formats[i].form = (uint16_t)cp_cursor_uleb(&r->c);
	}
	for (count = cp_cursor_uleb(&r->c); count; count--) {
		before = r->c.at;
		f = (struct file){ 0 };
		for (i = 0; i < n; i++) {
			cp_attr_read(&r->form, &formats[i], &r->c, &attr);
			if (formats[i].name == DW_LNCT_path)
				f.name = attr;
			else if (formats[i].name == DW_LNCT_directory_index)
				f.dir = attr.u;
		}
		/* An entry of no bytes could be repeated for ever. */
		if (r->c.bad || r->c.at == before || r->lines->files.count >= MAX_FILES ||
		    r->lines->dirs.count >= MAX_FILES)
			return false;
		if (files ? !cp_vec_push(&r->lines->files, f)
			  : !cp_vec_push(&r->lines->dirs, f.name))
			return false;
	}
	return !r->c.bad;
}

/* Bytes of the program by its length field; sizes of the form too. */
static bool open_program(struct run *r)
{
	struct cp_dwarf *dwarf = r->unit->dwarf;
	uint64_t at = r->unit->stmt_list, total = cp_elf_length(dwarf->elf, dwarf->line), length;
	const uint8_t *bytes;

	if (at >= total || total - at < 16)
		return false;
	bytes = cp_elf_need(dwarf->elf, dwarf->line, at, 12);
	if (!bytes)
		return false;
	r->c = cp_cursor(bytes, 12);
	r->form = *r->unit;
	r->form.offset_size = 4;
	length = cp_cursor_u32(&r->c);
	if (length == UINT32_MAX) {
		r->form.offset_size = 8;
		length = cp_cursor_u64(&r->c);
	}
	at += (uint64_t)(r->c.at - bytes);
	if (length > total - at || length > MAX_PROGRAM)
		return false;
	bytes = cp_elf_need(dwarf->elf, dwarf->line, at, length);
	if (!bytes)
		return false;
	r->c = cp_cursor(bytes, length);
	return true;
}

static bool read_header(struct run *r)
{
	struct program *p = &r->lines->program;
	struct cp_cursor program;
	uint64_t header_length;

	r->form.version = cp_cursor_u16(&r->c);
	if (r->form.version < 2 || r->form.version > 5)
		return false;
	r->lines->version = r->form.version;
	if (r->form.version == 5) {
		r->form.address_size = cp_cursor_u8(&r->c);
		if (cp_cursor_u8(&r->c)) /* segment selectors */
			return false;
	}
	header_length = r->form.offset_size == 8 ? cp_cursor_u64(&r->c) : cp_cursor_u32(&r->c);
	program = r->c;
	if (header_length > cp_cursor_left(&program) || r->c.bad)
		return false;
	cp_cursor_bytes(&program, header_length);
	p->c = program;
	p->min_length = cp_cursor_u8(&r->c);
	if (r->form.version >= 4)
		cp_cursor_u8(&r->c); /* operations in an instruction: VLIW */
	p->statement = cp_cursor_u8(&r->c) != 0;
	p->line_base = (int8_t)cp_cursor_u8(&r->c);
	p->line_range = cp_cursor_u8(&r->c);
	p->opcode_base = cp_cursor_u8(&r->c);
	if (!p->opcode_base || r->c.bad)
		return false;
	p->lengths = cp_cursor_bytes(&r->c, p->opcode_base - 1u);
	if (!p->lengths && p->opcode_base > 1)
		return false;
	return r->form.version == 5 ? table_v5(r, false) && table_v5(r, true) : entries_v4(r);
}

/* ---- program ---- */

static void begin(struct run *r)
{
	r->address = 0;
	r->file = r->line = 1;
	r->column = r->discriminator = 0;
	r->statement = r->p.statement;
	r->first = r->all ? r->all->rows.count : r->lines->rows.count;
	r->ordered = true;
}

static uint32_t number(uint64_t value, uint32_t otherwise)
{
	return value < UINT32_MAX ? (uint32_t)value : otherwise;
}

/* Adds a row to a table of all rows. */
static bool emit_all(struct run *r, uint32_t flags)
{
	struct cp_line_row row = {
		.address = r->address,
		.file = number(r->file, UINT32_MAX),
		.line = number(r->line, 0),
		.column = number(r->column, 0),
		.discriminator = number(r->discriminator, 0),
		.flags = flags | (r->statement ? CP_LINE_STATEMENT : 0),
	};

	r->discriminator = 0;
	return r->all->rows.count < MAX_ROWS && cp_dwarf_step(r->unit->dwarf, 4) &&
	       cp_vec_push(&r->all->rows, row);
}

static bool emit(struct run *r)
{
	size_t count = r->lines->rows.count;
	struct row *last = count > r->first ? &r->lines->rows.items[count - 1] : NULL;
	struct row row = {
		.address = r->address,
		.file = number(r->file, UINT32_MAX),
		.line = number(r->line, 0),
		.column = number(r->column, 0),
		.order = (uint32_t)count,
	};

	if (r->all)
		return emit_all(r, 0);
	if (last && last->address == row.address) {
		*last = row;
		return true;
	}
	if (last && last->address > row.address)
		r->ordered = false;
	return count < MAX_ROWS && cp_dwarf_step(r->unit->dwarf, 4) &&
	       cp_vec_push(&r->lines->rows, row);
}

static int by_address(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* True unless the linker dropped the code. */
static bool is_there(const struct run *r, uint64_t low)
{
	return cp_elf_is_code(r->unit->dwarf->all->image->elf, low);
}

static bool end_all(struct run *r)
{
	bool ok = true;

	if (r->all->rows.count > r->first && is_there(r, r->all->rows.items[r->first].address))
		ok = emit_all(r, CP_LINE_END);
	else
		r->all->rows.count = r->first;
	begin(r);
	return ok;
}

static bool end_sequence(struct run *r)
{
	struct sequence s = { .first = r->first };
	struct row *rows = NULL;
	bool ok = true;

	if (r->all)
		return end_all(r);
	s.count = r->lines->rows.count - r->first;
	if (s.count)
		rows = r->lines->rows.items + r->first;
	if (!r->ordered && s.count)
		qsort(rows, s.count, sizeof(*rows), by_address);
	s.low = s.count ? rows[0].address : 0;
	s.high = r->address;
	if (s.count && s.low < s.high && is_there(r, s.low))
		ok = cp_vec_push(&r->lines->sequences, s);
	else
		r->lines->rows.count = r->first; /* dropped by the linker */
	begin(r);
	return ok;
}

static void set_address(struct run *r, uint64_t length)
{
	if (length == 8)
		r->address = cp_cursor_u64(&r->c);
	else if (length == 4)
		r->address = cp_cursor_u32(&r->c);
	else
		r->c.bad = true;
}

static bool extended(struct run *r)
{
	uint64_t length = cp_cursor_uleb(&r->c);
	const uint8_t *body = cp_cursor_bytes(&r->c, length);
	struct cp_cursor after = r->c;
	struct file f;
	bool ok = true;

	if (!body || !length)
		return false;
	r->c = cp_cursor(body, length);
	switch (cp_cursor_u8(&r->c)) {
	case DW_LNE_end_sequence:
		ok = end_sequence(r);
		break;
	case DW_LNE_set_address:
		set_address(r, length - 1);
		ok = !r->c.bad;
		break;
	case DW_LNE_define_file:
		f = (struct file){ .name = in_place(cp_cursor_string(&r->c)) };
		f.dir = cp_cursor_uleb(&r->c);
		ok = f.name.string && r->lines->files.count < MAX_FILES &&
		     cp_vec_push(&r->lines->files, f);
		break;
	case DW_LNE_set_discriminator:
		r->discriminator = cp_cursor_uleb(&r->c);
		break;
	default:
		break;
	}
	r->c = after;
	return ok;
}

static bool standard(struct run *r, uint8_t opcode)
{
	unsigned i;

	switch (opcode) {
	case DW_LNS_copy:
		return emit(r);
	case DW_LNS_advance_pc:
		r->address += cp_cursor_uleb(&r->c) * r->p.min_length;
		break;
	case DW_LNS_advance_line:
		r->line += (uint64_t)cp_cursor_sleb(&r->c);
		break;
	case DW_LNS_set_file:
		r->file = cp_cursor_uleb(&r->c);
		break;
	case DW_LNS_set_column:
		r->column = cp_cursor_uleb(&r->c);
		break;
	case DW_LNS_negate_stmt:
		r->statement = !r->statement;
		break;
	case DW_LNS_const_add_pc:
		if (r->p.line_range)
			r->address += (uint64_t)((255 - r->p.opcode_base) / r->p.line_range) *
				      r->p.min_length;
		break;
	case DW_LNS_fixed_advance_pc:
		r->address += cp_cursor_u16(&r->c);
		break;
	default: /* of no interest, or unknown: as many numbers as it says */
		for (i = 0; i < r->p.lengths[opcode - 1]; i++)
			cp_cursor_uleb(&r->c);
	}
	return true;
}

static bool special(struct run *r, uint8_t opcode)
{
	unsigned adjusted = opcode - r->p.opcode_base;

	if (!r->p.line_range)
		return false;
	r->address += (uint64_t)(adjusted / r->p.line_range) * r->p.min_length;
	r->line += (uint64_t)(int64_t)(r->p.line_base + (int)(adjusted % r->p.line_range));
	return emit(r);
}

/* Runs the program from its beginning: rows go to `lines`, or to `all`. */
static void run_program(struct cp_unit *unit, struct cp_lines *lines, struct cp_line_table *all)
{
	struct run r = { .unit = unit, .lines = lines, .form = lines->form, .all = all };
	uint8_t opcode;
	bool ok = true;

	r.p = lines->program;
	r.c = r.p.c;
	lines->files.count = lines->header_files;
	begin(&r);
	while (ok && !r.c.bad && cp_cursor_left(&r.c) && cp_dwarf_step(unit->dwarf, 1)) {
		opcode = cp_cursor_u8(&r.c);
		if (opcode >= r.p.opcode_base)
			ok = special(&r, opcode);
		else if (!opcode)
			ok = extended(&r);
		else
			ok = standard(&r, opcode);
	}
	/* A sequence without an end. */
	if (all)
		all->rows.count = r.first;
	else
		lines->rows.count = r.first;
}

static void index_sequences(struct cp_lines *lines)
{
	struct cp_span *spans = calloc(lines->sequences.count + 1, sizeof(*spans));
	size_t i;

	if (!spans)
		return;
	for (i = 0; i < lines->sequences.count; i++)
		spans[i] = (struct cp_span){ lines->sequences.items[i].low,
					     lines->sequences.items[i].high, i, (uint32_t)i };
	cp_spans_build(spans, lines->sequences.count, &lines->spans);
	free(spans);
}

/* ---- asking ---- */

/* The header is read; the program has not run yet. */
static struct cp_lines *lines_of(struct cp_unit *unit)
{
	struct run r = { .unit = unit };

	if (unit->lines_tried)
		return unit->lines;
	unit->lines_tried = true;
	if (!cp_unit_root(unit) || unit->stmt_list == CP_NO_OFFSET)
		return NULL;
	r.lines = calloc(1, sizeof(*r.lines));
	if (!r.lines)
		return NULL;
	if (!open_program(&r) || !read_header(&r)) {
		destroy_lines(r.lines);
		return NULL;
	}
	r.lines->form = r.form;
	r.lines->header_files = r.lines->files.count;
	unit->lines = r.lines;
	unit->destroy_lines = destroy_lines;
	return unit->lines;
}

bool cp_unit_rows(struct cp_unit *unit, struct cp_line_table *ret)
{
	struct cp_lines *lines = lines_of(unit);

	if (!lines)
		return false;
	run_program(unit, lines, ret);
	return true;
}

/* A relative directory is in the one before it, unless it begins with "./": then
 * whoever built it had the build's own directory replaced by "." in both of them
 * (-ffile-prefix-map, as Debian does). */
static bool stands_alone(const char *base, const char *dir)
{
	return dir[0] == '/' || !base ||
	       (base[0] == '.' &&
		(!strcmp(dir, ".") ? !strcmp(base, ".") : !strncmp(dir, "./", 2)));
}

/* Joins what there is of directory, subdirectory and name. */
static char *join(struct cp_debuginfo *all, const char *base, const char *dir, const char *name)
{
	char *path = NULL;

	if (name[0] == '/' || !dir)
		path = strdup(name);
	else if (stands_alone(base, dir))
		path = asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
	else if (asprintf(&path, "%s/%s/%s", base, dir, name) < 0)
		path = NULL;
	if (path && !cp_vec_push(&all->strings, path)) {
		free(path);
		path = NULL;
	}
	return path;
}

const char *cp_unit_file(struct cp_unit *unit, uint64_t number)
{
	struct cp_lines *lines = lines_of(unit);
	const char *dir = NULL, *base = unit->comp_dir, *name;
	struct file *f;

	/* Up to DWARF 4 files and directories count from 1, and directory 0
	 * is that of the compilation. */
	if (!lines || (lines->version < 5 && !number--) || number >= lines->files.count)
		return NULL;
	f = &lines->files.items[number];
	if (f->path)
		return f->path;
	name = cp_attr_string(&lines->form, &f->name);
	if (!name)
		return NULL;
	if (lines->version >= 5) {
		if (f->dir < lines->dirs.count)
			dir = cp_attr_string(&lines->form, &lines->dirs.items[f->dir]);
	} else if (f->dir && f->dir <= lines->dirs.count) {
		dir = cp_attr_string(&lines->form, &lines->dirs.items[f->dir - 1]);
	} else if (!f->dir) {
		dir = base;
		base = NULL;
	}
	f->path = join(unit->dwarf->all, base, dir, name);
	return f->path;
}

/* The rows of the sequence that covers `at`, and the one of them that does. */
static const struct row *find_row(struct cp_unit *unit, uint64_t at, const struct row **end_ret)
{
	struct cp_lines *lines = lines_of(unit);
	const struct cp_span *span;
	const struct sequence *s;
	const struct row *rows;
	size_t low = 0, high, mid;

	if (!lines)
		return NULL;
	if (!lines->ran) {
		lines->ran = true;
		run_program(unit, lines, NULL);
		index_sequences(lines);
	}
	span = cp_spans_find(&lines->spans, at);
	if (!span)
		return NULL;
	s = &lines->sequences.items[span->value];
	rows = lines->rows.items + s->first;
	for (high = s->count; high - low > 1;) {
		mid = low + (high - low) / 2;
		if (rows[mid].address <= at)
			low = mid;
		else
			high = mid;
	}
	*end_ret = rows + s->count;
	return rows + low;
}

bool cp_unit_line(struct cp_unit *unit, uint64_t at, struct cp_line *ret)
{
	const struct row *end, *row = find_row(unit, at, &end);

	if (!row)
		return false;
	ret->file = cp_unit_file(unit, row->file);
	ret->line = row->line;
	ret->column = row->column;
	return true;
}

uint64_t cp_unit_next_row(struct cp_unit *unit, uint64_t at)
{
	const struct row *end, *row = find_row(unit, at, &end);

	while (row && row < end && row->address <= at)
		row++;
	return row && row < end ? row->address : 0;
}
