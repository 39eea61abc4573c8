/* SPDX-License-Identifier: MIT
 *
 * All rows of an image's line table. Each program is run once, and its files,
 * which units number each for itself, get numbers of the image's own. Programs
 * come in sequences (stretches of code without gaps), which linkers leave in
 * any order:
 *
 *     unit 1   2000-2040, 5000-5100
 *     unit 2   1000-1200                ─►  1000-1200, 2000-2040, 5000-5100
 *
 * Sequences that overlap (identical code folded into one) make it costly: then
 * all rows are sorted one by one.
 */
#include "image/lines.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "image/dwarf/line.h"
#include "image/dwarf/root.h"
#include "image/dwarf/unit.h"

/* A lookup's worth, and as much again as a program of that size can need. */
#define STEPS UINT64_C(50000000)
#define STEPS_A_BYTE 8
#define NO_FILE UINT32_MAX

struct sequence {
	size_t first, count; /* rows; the last one is the end */
	uint64_t low, high;
};

struct reading {
	struct cp_debuginfo *all;
	struct cp_line_table *to;
	struct cp_map programs; /* offsets of those that were run */
	CP_VEC(struct sequence) sequences;
	CP_VEC(uint32_t) files; /* of the unit at hand, by its numbers: those of `to` */
	CP_VEC(uint32_t) sources; /* numbers in all->sources: those of `to` */
};

/* ---- files ---- */

/* The number of a path in `to`. */
static bool add_file(struct reading *r, const char *path, uint32_t *ret)
{
	struct cp_interner *all = &r->all->sources;
	struct cp_buf text = { 0 };
	uint32_t id;
	bool ok;

	cp_path_shorten(&text, path ? path : "");
	ok = !text.failed && cp_intern(all, text.bytes ? text.bytes : "", text.size, &id, NULL);
	cp_buf_free(&text);
	while (ok && r->sources.count <= id)
		ok = cp_vec_push(&r->sources, NO_FILE);
	if (ok && r->sources.items[id] == NO_FILE) {
		r->sources.items[id] = (uint32_t)r->to->files.count;
		ok = cp_vec_push(&r->to->files, (const char *)all->items[id].bytes);
	}
	if (ok)
		*ret = r->sources.items[id];
	return ok;
}

/* Turns the unit's number of a file into that of `to`; where there is no such file,
 * the row is of no line. */
static bool set_file(struct reading *r, struct cp_unit *unit, struct cp_line_row *row)
{
	uint32_t number = row->file, file;
	const char *path;

	if (number < r->files.count && r->files.items[number] != NO_FILE) {
		row->file = r->files.items[number];
		return true;
	}
	path = cp_unit_file(unit, number);
	if (!path)
		row->line = 0;
	if (!add_file(r, path, &file))
		return false;
	row->file = file;
	if (!path)
		return true;
	/* A number of a file is less than there are files: no more than a million. */
	while (r->files.count <= number) {
		if (!cp_vec_push(&r->files, NO_FILE))
			return false;
	}
	r->files.items[number] = file;
	return true;
}

/* ---- order ---- */

struct ordered {
	struct cp_line_row row;
	size_t order;
};

static int by_row_address(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;
	bool x_end = x->row.flags & CP_LINE_END, y_end = y->row.flags & CP_LINE_END;

	if (x->row.address != y->row.address)
		return x->row.address < y->row.address ? -1 : 1;
	/* At one address a sequence ends before another begins. */
	if (x_end != y_end)
		return x_end ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool sort_rows(struct cp_line_row *rows, size_t count)
{
	struct ordered *list = calloc(count ? count : 1, sizeof(*list));
	size_t i;

	if (!list)
		return false;
	for (i = 0; i < count; i++)
		list[i] = (struct ordered){ rows[i], i };
	qsort(list, count, sizeof(*list), by_row_address);
	for (i = 0; i < count; i++)
		rows[i] = list[i].row;
	free(list);
	return true;
}

/* Rows of one sequence by address, without those where it ends. */
static bool add_sequence(struct reading *r, size_t first, size_t count, size_t *kept_ret)
{
	struct cp_line_row *rows = r->to->rows.items + first, end = rows[count - 1];
	size_t i, kept = 0;
	bool ordered = true;

	for (i = 0; i + 1 < count; i++) {
		if (rows[i].address < end.address)
			rows[kept++] = rows[i];
		if (kept > 1 && rows[kept - 2].address > rows[kept - 1].address)
			ordered = false;
	}
	*kept_ret = 0;
	if (!kept)
		return true;
	if (!ordered && !sort_rows(rows, kept))
		return false;
	rows[kept++] = end;
	*kept_ret = kept;
	return cp_vec_push(&r->sequences,
			   (struct sequence){ first, kept, rows[0].address, end.address });
}

/* Splits what a program added into sequences. */
static bool add_rows(struct reading *r, struct cp_unit *unit, size_t first)
{
	struct cp_line_row *rows = r->to->rows.items;
	size_t end = r->to->rows.count, start = first, to = first, i, kept;

	r->files.count = 0;
	for (i = first; i < end; i++) {
		if (!set_file(r, unit, &rows[i]))
			return false;
		if (!(rows[i].flags & CP_LINE_END))
			continue;
		memmove(rows + to, rows + start, (i + 1 - start) * sizeof(*rows));
		if (!add_sequence(r, to, i + 1 - start, &kept))
			return false;
		to += kept;
		start = i + 1;
	}
	r->to->rows.count = to;
	return true;
}

static int by_low(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Puts the sequences in order. */
static bool order_rows(struct reading *r)
{
	struct cp_line_table *to = r->to;
	struct cp_line_row *rows;
	bool moved = false, overlap = false;
	size_t i, at = 0, n = r->sequences.count;
	struct sequence *s = r->sequences.items;

	for (i = 1; i < n; i++)
		moved |= s[i].low < s[i - 1].high;
	if (!moved)
		return true;
	qsort(s, n, sizeof(*s), by_low);
	for (i = 1; i < n; i++)
		overlap |= s[i].low < s[i - 1].high;
	if (overlap)
		return sort_rows(to->rows.items, to->rows.count);
	rows = calloc(to->rows.count, sizeof(*rows));
	if (!rows)
		return false;
	for (i = 0; i < n; i++) {
		memcpy(rows + at, to->rows.items + s[i].first, s[i].count * sizeof(*rows));
		at += s[i].count;
	}
	free(to->rows.items);
	to->rows.items = rows;
	to->rows.count = to->rows.capacity = at;
	return true;
}

/* ---- programs ---- */

static bool run_unit(struct reading *r, struct cp_unit *unit)
{
	size_t first = r->to->rows.count;

	/* Units share programs: those that dwz cut out of others. */
	if (unit->stmt_list == CP_NO_OFFSET || cp_map_get(&r->programs, unit->stmt_list))
		return true;
	return cp_map_put(&r->programs, unit->stmt_list, 1) &&
	       (!cp_unit_rows(unit, r->to) || add_rows(r, unit, first));
}

static bool run_all(struct reading *r)
{
	struct cp_dwarf *dwarf = r->all->main;
	struct cp_unit *unit;
	bool ok = true, known;
	unsigned round;
	size_t i;

	cp_dwarf_walk(dwarf);
	/* Units that know the directory of the compilation come first. */
	for (round = 0; round < 2; round++) {
		for (i = 0; ok && i < dwarf->units.count && cp_dwarf_step(dwarf, 16); i++) {
			unit = dwarf->units.items[i];
			known = cp_unit_root(unit) && unit->comp_dir;
			if (unit->rooted && known == !round)
				ok = run_unit(r, unit);
		}
	}
	return ok && order_rows(r);
}

CP_ERROR cp_image_lines(struct cp_image *image, struct cp_line_table *ret)
{
	struct cp_line_table table = { 0 };
	struct reading r = { .to = &table };
	bool ok = true;

	pthread_mutex_lock(&image->debug_lock);
	r.all = cp_debuginfo_begin(image, STEPS);
	if (r.all) {
		r.all->steps += STEPS_A_BYTE * cp_elf_length(r.all->main->elf, r.all->main->line);
		ok = run_all(&r);
	}
	pthread_mutex_unlock(&image->debug_lock);
	cp_map_free(&r.programs);
	cp_vec_free(&r.sequences);
	cp_vec_free(&r.files);
	cp_vec_free(&r.sources);
	if (!ok) {
		cp_line_table_free(&table);
		return cp_error_nomem();
	}
	*ret = table;
	return NULL;
}

void cp_line_table_free(struct cp_line_table *table)
{
	cp_vec_free(&table->rows);
	cp_vec_free(&table->files);
}
