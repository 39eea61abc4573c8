/* SPDX-License-Identifier: MIT
 *
 * All functions that debug information knows: one walk over the DIEs of all
 * units.
 *
 *     subprogram with code            a definition
 *     inlined_subroutine              an instance of one
 *     subprogram without code         an abstract instance, or what the linker
 *                                     dropped: listed when no other DIE has
 *                                     code of it
 *
 * Inline functions of headers have a DIE in each unit, and code in one.
 *
 * gcc lets a C function that a system header declares be declared there alone: a
 * program's own malloc, a wrapper of read. It is taken to where its code begins,
 * with its inlined instances.
 */
#include "image/lines.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "image/dwarf/attr.h"
#include "image/dwarf/attrs.h"
#include "image/dwarf/frames.h"
#include "image/dwarf/line.h"
#include "image/dwarf/name.h"
#include "image/dwarf/ranges.h"
#include "image/dwarf/root.h"
#include "image/dwarf/unit.h"

#define STEPS UINT64_C(50000000)
#define STEPS_A_BYTE 4
#define STEPS_A_BYTE_OF_LINES 8
#define MAX_FUNCTIONS (1u << 23)

struct reading {
	struct cp_debuginfo *all;
	struct cp_source_functions *to;
	struct cp_map files; /* paths as units have them (addresses): numbers of all->sources */
	struct cp_ranges ranges; /* scratch */
	CP_VEC(size_t) strangers; /* items of the unit at hand that may lie elsewhere */
	struct cp_map moved; /* identities: the item that has code of it */
	bool full; /* no memory */
};

/* Attributes of a DIE and of those it refers to. */
struct said {
	const char *file;
	uint32_t line;
	bool artificial, external;
};

static const char *source_path(struct reading *r, const char *path)
{
	const uint64_t *known = cp_map_get(&r->files, (uintptr_t)path);
	struct cp_interner *all = &r->all->sources;
	struct cp_buf text = { 0 };
	uint32_t id = 0;

	if (known)
		return all->items[*known].bytes;
	cp_path_shorten(&text, path);
	r->full |= text.failed ||
		   !cp_intern(all, text.bytes ? text.bytes : "", text.size, &id, NULL) ||
		   !cp_map_put(&r->files, (uintptr_t)path, id);
	cp_buf_free(&text);
	return r->full ? NULL : all->items[id].bytes;
}

static struct cp_unit *unit_of_lines(struct cp_unit *unit)
{
	return unit->skeleton ? unit->skeleton : unit;
}

static void say(struct reading *r, struct cp_unit *unit, const struct cp_die_attrs *a,
		struct said *s)
{
	struct cp_unit *lines = unit_of_lines(unit);
	const char *path;

	s->artificial |= cp_attr_flag(&a->artificial);
	s->external |= cp_attr_flag(&a->external);
	if (!s->line && a->decl_line.u < UINT32_MAX)
		s->line = (uint32_t)a->decl_line.u;
	if (!s->file && a->decl_file.form) {
		path = cp_unit_file(lines, a->decl_file.u);
		s->file = path ? source_path(r, path) : NULL;
	}
}

/* The first DIE that says something counts: a definition's line, not that of
 * its declaration in a class. */
static struct said follow(struct reading *r, struct cp_unit *unit, const struct cp_die_attrs *first)
{
	struct cp_die_attrs a = *first;
	struct said s = { 0 };
	struct cp_walk w;
	struct cp_die die;
	uint64_t at;
	unsigned i;

	for (i = 0; i < 16; i++) {
		say(r, unit, &a, &s);
		unit = cp_attr_reference(unit, a.origin.form ? &a.origin : &a.specification, &at);
		if (!unit || !cp_unit_root(unit) || !cp_walk_from(unit, at, &w) ||
		    !cp_walk_next(&w, &die) || !die.abbrev)
			break;
		cp_walk_attrs(&w, die.abbrev, &a);
	}
	return s;
}

/* The entry of a DIE's code; 0: it has none. */
static uint64_t entry_of(struct reading *r, struct cp_unit *unit, const struct cp_die_attrs *a)
{
	uint64_t at, first;
	size_t i;

	r->ranges.list.count = 0;
	if (!cp_unit_ranges(unit, &a->low, &a->high, &a->ranges, &r->ranges)) {
		r->full = true;
		return 0;
	}
	if (!r->ranges.list.count)
		return 0;
	first = r->ranges.list.items[0].low;
	if (!a->entry.form)
		return first;
	/* A number may count from where the code begins, from DWARF 5 on. */
	if (!cp_attr_address(unit, &a->entry, &at))
		at = first + a->entry.u;
	for (i = 0; i < r->ranges.list.count; i++) {
		if (at >= r->ranges.list.items[i].low && at < r->ranges.list.items[i].high)
			return at;
	}
	return first;
}

/* Declared in some other file than that which was compiled. */
static bool is_stranger(struct reading *r, struct cp_unit *unit, const struct cp_source_function *f,
			const struct said *said)
{
	const char *main;

	if (!f->address || f->inlined || !said->external || !f->file ||
	    !cp_language_is_c((uint16_t)unit->language))
		return false;
	main = cp_unit_file(unit_of_lines(unit), 1);
	return main && source_path(r, main) != f->file;
}

static void add(struct reading *r, struct cp_unit *unit, const struct cp_die *die,
		const struct cp_die_attrs *a)
{
	struct cp_source_function f = { .inlined = die->abbrev->tag == DW_TAG_inlined_subroutine };
	struct said said;

	f.address = entry_of(r, unit, a);
	if (!f.address && (f.inlined || cp_attr_flag(&a->declaration)))
		return;
	said = follow(r, unit, a);
	f.file = said.file;
	f.line = said.line;
	f.artificial = said.artificial;
	/* Built-in functions, and copies that the linker left none of. */
	if (!f.address && (!f.file || !f.line))
		return;
	f.name = cp_unit_function_name(unit, die->offset, f.inlined ? 0 : f.address).name;
	if (is_stranger(r, unit, &f, &said) && !cp_vec_push(&r->strangers, r->to->items.count))
		r->full = true;
	if (r->to->items.count >= MAX_FUNCTIONS || !cp_vec_push(&r->to->items, f))
		r->full = true;
}

static void walk(struct reading *r, struct cp_unit *unit)
{
	struct cp_die_attrs a;
	struct cp_walk w;
	struct cp_die die;

	if (!cp_unit_root(unit) || !cp_walk_from(unit, unit->die, &w))
		return;
	while (!r->full && cp_walk_next(&w, &die)) {
		if (!die.abbrev)
			continue;
		if (die.abbrev->tag != DW_TAG_subprogram &&
		    die.abbrev->tag != DW_TAG_inlined_subroutine) {
			cp_walk_skip_attrs(&w, die.abbrev);
			continue;
		}
		cp_walk_attrs(&w, die.abbrev, &a);
		if (w.c.bad)
			return;
		add(r, unit, &die, &a);
	}
}

/* ---- what is declared elsewhere ---- */

/* Equal for one function of the sources, whatever became of it and whatever it is
 * called then: of a template, for all instances. */
static uint64_t identity(const struct cp_source_function *f)
{
	/* Paths are interned. */
	return cp_hash_u64((uintptr_t)f->file * 31 ^ f->line);
}

/* The first row at an address. */
static const struct cp_line_row *row_at(const struct cp_line_table *table, uint64_t address)
{
	const struct cp_line_row *row;

	cp_vec_for_each(&table->rows, row)
		if (row->address == address && !(row->flags & CP_LINE_END))
			return row;
	return NULL;
}

static void move(struct reading *r, struct cp_unit *lines, const struct cp_line_row *row, size_t n)
{
	struct cp_source_function *f = &r->to->items.items[n];
	const char *path = row && row->line ? cp_unit_file(lines, row->file) : NULL;

	path = path ? source_path(r, path) : NULL;
	if (!path || path == f->file)
		return;
	if (!cp_map_put(&r->moved, identity(f), n))
		r->full = true;
	f->file = path;
	f->line = row->line;
}

/* Moves the functions of the unit that was just walked that lie in another file than
 * they are declared in. */
static void move_strangers(struct reading *r, struct cp_unit *unit)
{
	struct cp_unit *lines = unit_of_lines(unit);
	struct cp_line_table table = { 0 };
	const size_t *n;

	if (r->strangers.count && cp_unit_rows(lines, &table))
		cp_vec_for_each(&r->strangers, n)
			move(r, lines, row_at(&table, r->to->items.items[*n].address), *n);
	r->strangers.count = 0;
	cp_line_table_free(&table);
}

static void move_instances(struct reading *r)
{
	const struct cp_source_function *to;
	struct cp_source_function *f;
	const uint64_t *n;

	if (!r->moved.count)
		return;
	cp_vec_for_each(&r->to->items, f) {
		n = !f->address || f->inlined ? cp_map_get(&r->moved, identity(f)) : NULL;
		if (!n)
			continue;
		to = &r->to->items.items[*n];
		f->file = to->file;
		f->line = to->line;
	}
}

/* ---- what has no code ---- */

/* Leaves out those without code that are listed elsewhere. */
static bool drop_copies(struct cp_source_functions *to)
{
	struct cp_map seen = { 0 };
	struct cp_source_function *f;
	size_t kept = 0;
	bool ok = true;

	cp_vec_for_each(&to->items, f) {
		if (f->address)
			ok &= cp_map_put(&seen, identity(f), 1);
	}
	cp_vec_for_each(&to->items, f) {
		if (!f->address && cp_map_get(&seen, identity(f)))
			continue;
		if (!f->address)
			ok &= cp_map_put(&seen, identity(f), 1);
		to->items.items[kept++] = *f;
	}
	to->items.count = kept;
	cp_map_free(&seen);
	return ok;
}

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_address(const void *a, const void *b)
{
	const struct cp_source_function *x = a, *y = b;
	int texts;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->inlined != y->inlined)
		return x->inlined ? 1 : -1;
	texts = compare_texts(x->file, y->file);
	if (texts)
		return texts;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return compare_texts(x->name, y->name);
}

static bool same(const struct cp_source_function *a, const struct cp_source_function *b)
{
	return !by_address(a, b);
}

/* A place is listed once, though partial units, and calls that were inlined twice at
 * one address, tell it again. */
static void sort(struct cp_source_functions *to)
{
	size_t i, kept = 0;

	if (!to->items.count)
		return;
	qsort(to->items.items, to->items.count, sizeof(*to->items.items), by_address);
	for (i = 1; i < to->items.count; i++) {
		if (!same(&to->items.items[kept], &to->items.items[i]))
			to->items.items[++kept] = to->items.items[i];
	}
	to->items.count = kept + 1;
}

static bool read_all(struct reading *r)
{
	struct cp_dwarf *dwarf = r->all->main;
	size_t i;

	cp_dwarf_walk(dwarf);
	for (i = 0; !r->full && i < dwarf->units.count; i++) {
		walk(r, cp_unit_with_dies(dwarf->units.items[i]));
		move_strangers(r, cp_unit_with_dies(dwarf->units.items[i]));
	}
	move_instances(r);
	if (r->full || !drop_copies(r->to))
		return false;
	sort(r->to);
	return true;
}

CP_ERROR cp_image_source_functions(struct cp_image *image, struct cp_source_functions *ret)
{
	struct cp_source_functions got = { 0 };
	struct reading r = { .to = &got };
	bool ok = true;

	pthread_mutex_lock(&image->debug_lock);
	r.all = cp_debuginfo_begin(image, STEPS);
	if (r.all) {
		r.all->steps += STEPS_A_BYTE * cp_elf_length(r.all->main->elf, r.all->main->info);
		r.all->steps +=
			STEPS_A_BYTE_OF_LINES * cp_elf_length(r.all->main->elf, r.all->main->line);
		ok = read_all(&r);
	}
	pthread_mutex_unlock(&image->debug_lock);
	cp_map_free(&r.files);
	cp_map_free(&r.moved);
	cp_vec_free(&r.strangers);
	cp_vec_free(&r.ranges.list);
	if (!ok) {
		cp_source_functions_free(&got);
		return cp_error_nomem();
	}
	*ret = got;
	return NULL;
}

void cp_source_functions_free(struct cp_source_functions *functions)
{
	cp_vec_free(&functions->items);
}
