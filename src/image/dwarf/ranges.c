/* SPDX-License-Identifier: MIT
 *
 * Which addresses belong to a DIE, and which unit an address belongs to. The
 * compiler may have left an index in .debug_aranges (gcc does, clang does
 * not): that is tried first, because it is small. For an address that it does
 * not know, the root DIE of every unit is read, once.
 */
#include "image/dwarf/ranges.h"

#include <stdlib.h>

#include "image/dwarf/attr.h"
#include "image/dwarf/list.h"
#include "image/dwarf/root.h"
#include "image/dwarf/unit.h"

#define WINDOW 512
#define MAX_ARANGES (UINT64_C(256) << 20)

static bool add(const struct cp_unit *unit, struct cp_ranges *to, uint64_t low, uint64_t high)
{
	const struct cp_elf *elf = unit->dwarf->all->image->elf;

	/* Functions that the linker dropped are at 0 or at the highest
	 * addresses: in no segment. */
	if (low >= high || !cp_elf_is_code(elf, low) || !cp_elf_is_code(elf, high - 1))
		return true;
	return cp_vec_push(&to->list, (struct cp_range){ low, high });
}

/* ---- lists ---- */

/* Reads a list at `offset`, with more and more of the section at hand. */
static bool read_list(const struct cp_unit *unit, struct cp_dwarf *in,
		      struct cp_elf_section *section, uint64_t offset, uint64_t base,
		      struct cp_ranges *ret)
{
	uint64_t total = cp_elf_length(in->elf, section), window, low, high;
	size_t before = ret->list.count;
	struct cp_list l = { .unit = unit };
	enum cp_list_more more;
	const uint8_t *bytes;

	if (offset >= total)
		return true;
	total -= offset;
	for (window = WINDOW;; window *= 4) {
		window = window < total ? window : total;
		bytes = cp_elf_need(in->elf, section, offset, window);
		if (!bytes)
			return true;
		l.c = cp_cursor(bytes, window);
		l.base = base;
		ret->list.count = before;
		do {
			if (!cp_dwarf_step(unit->dwarf, 8))
				return true;
			more = cp_list_next(&l, &low, &high);
			if (more == CP_LIST_RANGE && !add(unit, ret, low, high))
				return false;
		} while (more != CP_LIST_END);
		if (!l.c.bad || window == total)
			return true;
	}
}

static bool list_v4(const struct cp_unit *unit, const struct cp_attr *attr, struct cp_ranges *ret)
{
	const struct cp_unit *own = unit->skeleton ? unit->skeleton : unit;
	uint64_t offset = attr->u + (unit->skeleton ? own->ranges_base : 0);

	return read_list(unit, own->dwarf, own->dwarf->ranges, offset, own->low_pc, ret);
}

static bool list_v5(const struct cp_unit *unit, const struct cp_attr *attr, struct cp_ranges *ret)
{
	const struct cp_unit *own = unit->skeleton ? unit->skeleton : unit;
	struct cp_dwarf *in = unit->dwarf;
	uint64_t offset = attr->u + unit->part->rnglists;

	if (attr->form == DW_FORM_rnglistx &&
	    !cp_list_indexed(unit, in->rnglists, unit->rnglists_base, attr->u, &offset))
		return true;
	return read_list(unit, in, in->rnglists, offset, own->low_pc, ret);
}

bool cp_unit_ranges(const struct cp_unit *unit, const struct cp_attr *low,
		    const struct cp_attr *high, const struct cp_attr *ranges, struct cp_ranges *ret)
{
	uint64_t from, to;

	switch (ranges->form) {
	case 0:
		break;
	case DW_FORM_sec_offset:
	case DW_FORM_rnglistx:
	case DW_FORM_data4: /* DWARF 2 and 3 */
	case DW_FORM_data8:
		return unit->version < 5 ? list_v4(unit, ranges, ret) : list_v5(unit, ranges, ret);
	default:
		return true;
	}
	if (!high->form || !cp_attr_address(unit, low, &from))
		return true;
	if (!cp_attr_address(unit, high, &to))
		to = from + high->u; /* a constant: the length */
	return add(unit, ret, from, to);
}

/* ---- the unit of an address ---- */

struct unit_spans {
	CP_VEC(struct cp_span) list;
};

static bool add_span(struct unit_spans *to, uint64_t low, uint64_t high, size_t number)
{
	/* The later one of units that overlap wins: it must be one of them. */
	return cp_vec_push(&to->list, (struct cp_span){ low, high, number, (uint32_t)number });
}

static size_t number_of(const struct cp_dwarf *dwarf, uint64_t offset)
{
	size_t low = 0, high = dwarf->units.count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (dwarf->units.items[mid]->offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < dwarf->units.count && dwarf->units.items[low]->offset == offset)
		return low;
	return SIZE_MAX;
}

/* The addresses of one unit: pairs up to 0, 0. */
static bool read_arange_set(struct cp_dwarf *dwarf, struct cp_cursor set, size_t header,
			    unsigned offset_size, struct unit_spans *to)
{
	const struct cp_elf *elf = dwarf->all->image->elf;
	uint16_t version = cp_cursor_u16(&set);
	uint64_t info = offset_size == 8 ? cp_cursor_u64(&set) : cp_cursor_u32(&set);
	uint8_t address_size = cp_cursor_u8(&set), segment_size = cp_cursor_u8(&set);
	size_t number = number_of(dwarf, info);
	uint64_t low, size;

	header += 4 + offset_size;
	if (set.bad || version != 2 || address_size != 8 || segment_size || number == SIZE_MAX)
		return true;
	if (header % 16)
		cp_cursor_bytes(&set, 16 - header % 16);
	while (cp_dwarf_step(dwarf, 8)) {
		low = cp_cursor_u64(&set);
		size = cp_cursor_u64(&set);
		if (set.bad || (!low && !size))
			break;
		if (!size || size > UINT64_MAX - low || !cp_elf_is_code(elf, low) ||
		    !cp_elf_is_code(elf, low + size - 1))
			continue;
		if (!add_span(to, low, low + size, number))
			return false;
	}
	return true;
}

static bool read_aranges(struct cp_dwarf *dwarf, struct unit_spans *to)
{
	uint64_t total = cp_elf_length(dwarf->elf, dwarf->aranges), length;
	const uint8_t *bytes =
		total <= MAX_ARANGES ? cp_elf_need(dwarf->elf, dwarf->aranges, 0, total) : NULL;
	struct cp_cursor c;
	unsigned offset_size;
	const uint8_t *start, *set;

	if (!bytes)
		return true;
	c = cp_cursor(bytes, total);
	while (cp_cursor_left(&c) && cp_dwarf_step(dwarf, 1)) {
		start = c.at;
		offset_size = 4;
		length = cp_cursor_u32(&c);
		if (length == UINT32_MAX) {
			offset_size = 8;
			length = cp_cursor_u64(&c);
		}
		if (length > cp_cursor_left(&c))
			break;
		set = cp_cursor_bytes(&c, length);
		if (!set)
			break;
		if (!read_arange_set(dwarf, cp_cursor(set, length), (size_t)(set - start),
				     offset_size, to))
			return false;
	}
	return true;
}

static bool read_roots(struct cp_dwarf *dwarf, struct unit_spans *to)
{
	struct cp_ranges ranges = { 0 };
	struct cp_unit *unit;
	bool ok = true;
	size_t i, k;

	for (i = 0; ok && i < dwarf->units.count && cp_dwarf_step(dwarf, 16); i++) {
		unit = dwarf->units.items[i];
		if (!cp_unit_root(unit))
			continue;
		ranges.list.count = 0;
		ok = cp_unit_ranges(unit, &unit->low, &unit->high, &unit->ranges, &ranges);
		for (k = 0; ok && k < ranges.list.count; k++)
			ok = add_span(to, ranges.list.items[k].low, ranges.list.items[k].high, i);
	}
	cp_vec_free(&ranges.list);
	return ok;
}

static struct cp_unit *find(struct cp_dwarf *dwarf, struct cp_spans *spans, bool *tried,
			    bool (*read)(struct cp_dwarf *, struct unit_spans *), uint64_t at)
{
	struct unit_spans list = { 0 };
	const struct cp_span *span;

	if (!*tried) {
		*tried = true;
		if (read(dwarf, &list))
			cp_spans_build(list.list.items, list.list.count, spans);
		cp_vec_free(&list.list);
	}
	span = cp_spans_find(spans, at);
	return span ? dwarf->units.items[span->value] : NULL;
}

struct cp_unit *cp_debuginfo_unit(struct cp_debuginfo *all, uint64_t at)
{
	struct cp_unit *unit;

	cp_dwarf_walk(all->main);
	unit = find(all->main, &all->by_aranges, &all->aranges_tried, read_aranges, at);
	if (!unit)
		unit = find(all->main, &all->by_roots, &all->roots_tried, read_roots, at);
	return unit;
}

const struct cp_extent *cp_unit_extents(const struct cp_unit *unit, const struct cp_attr *low,
					const struct cp_attr *high, const struct cp_attr *ranges,
					struct cp_arena *arena)
{
	const struct cp_extent *extents = NULL;
	struct cp_ranges found = { 0 };
	struct cp_extent *e;
	size_t i;

	if ((low->form || ranges->form) && cp_unit_ranges(unit, low, high, ranges, &found)) {
		for (i = 0; i < found.list.count; i++) {
			e = cp_arena_alloc(arena, sizeof(*e));
			if (!e)
				break;
			*e = (struct cp_extent){ found.list.items[i].low, found.list.items[i].high,
						 extents };
			extents = e;
		}
	}
	cp_vec_free(&found.list);
	return extents;
}
