/* SPDX-License-Identifier: MIT
 *
 * `dwp` puts the .dwo files of a program into one file, PROGRAM.dwp: sections one behind
 * another, and an index that tells which part of each is of which unit. Offsets in a unit
 * count from the beginnings of its parts:
 *
 *     .debug_cu_index     id 0x3c1f...   info 0x120   abbrev 0x40   str_offsets 0x200 ...
 *     .debug_tu_index     the same for units of one type each, by their signatures
 *
 * The index is a hash table (DWARF 5, 7.3.5.3; GNU's of version 2 before): `units` rows
 * of `columns` offsets, then as many sizes; `slots` say which row is which id's. All of
 * it is read, for units are also asked for by their offsets.
 */
#include "image/dwarf/package.h"

#include <stdlib.h>

#include "image/debugfile.h"
#include "image/dwarf/unit.h"

#define MAX_COLUMNS 16
#define MAX_INDEX (UINT64_C(256) << 20)

/* What a column is about: numbers before DWARF 5 and since differ. */
enum {
	INFO = 1,
	TYPES_V2 = 2, /* .debug_types */
	ABBREV = 3,
	LINE = 4,
	LISTS = 5, /* .debug_loc, .debug_loclists */
	STR_OFFSETS = 6,
	RNGLISTS_V5 = 8,
};

struct index {
	uint32_t version, columns, units, slots;
	struct cp_cursor ids, rows, sections, offsets, sizes;
};

static bool read_header(struct cp_cursor *c, struct index *ret)
{
	uint64_t n;

	/* Version 5 has two bytes, and two of nothing. */
	ret->version = cp_cursor_u32(c);
	ret->columns = cp_cursor_u32(c);
	ret->units = cp_cursor_u32(c);
	ret->slots = cp_cursor_u32(c);
	if (c->bad || (ret->version != 2 && ret->version != 5) || ret->columns > MAX_COLUMNS ||
	    ret->units > ret->slots)
		return false;
	n = (uint64_t)ret->slots * 12 + ret->columns * UINT64_C(4) +
	    (uint64_t)ret->units * ret->columns * 8;
	return n <= cp_cursor_left(c);
}

static struct cp_cursor take(struct cp_cursor *c, uint64_t size)
{
	return cp_cursor(cp_cursor_bytes(c, size), size);
}

static bool open_index(struct cp_dwarf *dwarf, const char *name, struct index *ret)
{
	struct cp_elf_section *section = cp_elf_section(dwarf->elf, name);
	uint64_t size = cp_elf_length(dwarf->elf, section);
	const uint8_t *bytes =
		size && size <= MAX_INDEX ? cp_elf_need(dwarf->elf, section, 0, size) : NULL;
	struct cp_cursor c;

	if (!bytes)
		return false;
	c = cp_cursor(bytes, size);
	if (!read_header(&c, ret))
		return false;
	ret->ids = take(&c, (uint64_t)ret->slots * 8);
	ret->rows = take(&c, (uint64_t)ret->slots * 4);
	ret->sections = take(&c, ret->columns * UINT64_C(4));
	ret->offsets = take(&c, (uint64_t)ret->units * ret->columns * 4);
	ret->sizes = take(&c, (uint64_t)ret->units * ret->columns * 4);
	return true;
}

/* One row; false: it has no unit in the section that `info` stands for. */
static bool read_row(struct index *x, uint32_t info, struct cp_part *ret)
{
	struct cp_cursor sections = x->sections;
	uint32_t i, column, offset, size;
	bool found = false;

	*ret = (struct cp_part){ 0 };
	for (i = 0; i < x->columns; i++) {
		column = cp_cursor_u32(&sections);
		offset = cp_cursor_u32(&x->offsets);
		size = cp_cursor_u32(&x->sizes);
		if (column == info) {
			ret->start = offset;
			ret->end = (uint64_t)offset + size;
			found = size;
		} else if (column == ABBREV) {
			ret->abbrev = offset;
		} else if (column == LINE) {
			ret->line = offset;
		} else if (column == LISTS) {
			ret->lists = offset;
		} else if (column == STR_OFFSETS) {
			ret->str_offsets = offset;
		} else if (column == RNGLISTS_V5 && x->version == 5) {
			ret->rnglists = offset;
		}
	}
	return found;
}

static int by_start(const void *a, const void *b)
{
	const struct cp_part *x = a, *y = b;

	return x->start == y->start ? 0 : x->start < y->start ? -1 : 1;
}

/* Adds the rows of an index to those that `dwarf` has; with `ids` of which unit each is. */
static bool read_index(struct cp_dwarf *dwarf, const char *name, uint32_t info, bool ids)
{
	struct index x;
	struct cp_part part;
	CP_VEC(uint64_t) starts = { 0 };
	uint32_t i, row;
	uint64_t id;
	bool ok = true;

	if (!open_index(dwarf, name, &x))
		return false;
	for (i = 0; ok && i < x.units && cp_dwarf_step(dwarf, 4); i++) {
		ok = cp_vec_push(&starts, CP_NO_OFFSET);
		if (!ok || !read_row(&x, info, &part))
			continue;
		starts.items[i] = part.start;
		ok = cp_vec_push(&dwarf->parts, part);
	}
	for (i = 0; ok && ids && i < x.slots && cp_dwarf_step(dwarf, 1); i++) {
		id = cp_cursor_u64(&x.ids);
		row = cp_cursor_u32(&x.rows);
		if (row && row <= starts.count && starts.items[row - 1] != CP_NO_OFFSET)
			ok = cp_map_put(&dwarf->packed, id, starts.items[row - 1]);
	}
	cp_vec_free(&starts);
	if (dwarf->parts.count)
		qsort(dwarf->parts.items, dwarf->parts.count, sizeof(*dwarf->parts.items),
		      by_start);
	return ok;
}

static struct cp_dwarf *open_package(struct cp_debuginfo *all)
{
	struct cp_elf *elf = cp_debug_package(all->image);
	struct cp_dwarf *dwarf = elf ? cp_dwarf_create(all, elf, true) : NULL, *types;

	if (!dwarf) {
		cp_elf_destroy(elf);
		return NULL;
	}
	if (!cp_vec_push(&all->others, dwarf)) {
		cp_dwarf_destroy(dwarf);
		return NULL;
	}
	if (!read_index(dwarf, ".debug_cu_index", INFO, true))
		return NULL;
	/* Types in .debug_info are DWARF 5's, those in .debug_types of before. */
	read_index(dwarf, ".debug_tu_index", INFO, false);
	for (types = dwarf->types; types; types = types->types)
		read_index(types, ".debug_tu_index", TYPES_V2, false);
	return dwarf;
}

struct cp_unit *cp_package_unit(struct cp_debuginfo *all, const struct cp_unit *skeleton)
{
	const uint64_t *start;
	struct cp_unit *unit;
	size_t n;

	if (!all->package_tried) {
		all->package_tried = true;
		all->package = open_package(all);
	}
	start = all->package ? cp_map_get(&all->package->packed, skeleton->id) : NULL;
	if (!start)
		return NULL;
	cp_dwarf_walk(all->package);
	n = cp_vec_partition(&all->package->units, it, (*it)->offset < *start);
	if (n == all->package->units.count)
		return NULL;
	unit = all->package->units.items[n];
	return unit->offset == *start && !unit->skeleton && unit->version == skeleton->version
		       ? unit
		       : NULL;
}
