/* SPDX-License-Identifier: MIT */
#include "image/dwarf/list.h"

#include "image/dwarf/attr.h"

/* One kind for an entry of .debug_rnglists and one of .debug_loclists that say the
 * same. */
static unsigned kind_of(uint8_t byte, bool locations)
{
	if (!locations || byte < DW_LLE_default_location)
		return byte;
	switch (byte) {
	case DW_LLE_base_address:
		return DW_RLE_base_address;
	case DW_LLE_start_end:
		return DW_RLE_start_end;
	case DW_LLE_start_length:
		return DW_RLE_start_length;
	case DW_LLE_default_location:
		return CP_LIST_DEFAULT;
	case DW_LLE_GNU_view_pair:
		return CP_LIST_VIEWS;
	default:
		return DW_RLE_end_of_list;
	}
}

static uint64_t list_address(struct cp_list *l)
{
	return l->unit->address_size == 8 ? cp_cursor_u64(&l->c) : cp_cursor_u32(&l->c);
}

uint64_t cp_cursor_addrx(const struct cp_unit *unit, struct cp_cursor *c)
{
	struct cp_attr attr = { .form = DW_FORM_addrx, .u = cp_cursor_uleb(c) };
	uint64_t value = 0;

	if (!cp_attr_address(unit, &attr, &value))
		c->bad = true;
	return value;
}

/* The next entry of a list in .debug_ranges or .debug_loc. */
static enum cp_list_more next_v4(struct cp_list *l, uint64_t *low_ret, uint64_t *high_ret)
{
	uint64_t low = list_address(l), high = list_address(l);
	uint64_t highest = l->unit->address_size == 8 ? UINT64_MAX : UINT32_MAX;

	if (l->c.bad || (!low && !high))
		return CP_LIST_END;
	if (low == highest) {
		l->base = high;
		return CP_LIST_NOTHING;
	}
	*low_ret = l->base + low;
	*high_ret = l->base + high;
	return CP_LIST_RANGE;
}

/* The next one of a list of locations in a split file before DWARF 5. */
static enum cp_list_more next_gnu(struct cp_list *l, uint64_t *low_ret, uint64_t *high_ret)
{
	uint64_t low, high;

	switch (cp_cursor_u8(&l->c)) {
	case DW_LLE_GNU_base_address_selection_entry:
		l->base = cp_cursor_addrx(l->unit, &l->c);
		return l->c.bad ? CP_LIST_END : CP_LIST_NOTHING;
	case DW_LLE_GNU_start_end_entry:
		low = cp_cursor_addrx(l->unit, &l->c);
		high = cp_cursor_addrx(l->unit, &l->c);
		break;
	case DW_LLE_GNU_start_length_entry:
		low = cp_cursor_addrx(l->unit, &l->c);
		high = low + cp_cursor_u32(&l->c);
		break;
	case 4: /* DW_LLE_GNU_offset_pair_entry */
		low = l->base + cp_cursor_u32(&l->c);
		high = l->base + cp_cursor_u32(&l->c);
		break;
	default: /* DW_LLE_GNU_end_of_list_entry, and what nobody knows */
		return CP_LIST_END;
	}
	*low_ret = low;
	*high_ret = high;
	return l->c.bad ? CP_LIST_END : CP_LIST_RANGE;
}

static enum cp_list_more next_v5(struct cp_list *l, uint64_t *low_ret, uint64_t *high_ret)
{
	uint64_t low = 0, high = 0;

	switch (kind_of(cp_cursor_u8(&l->c), l->locations)) {
	case DW_RLE_base_addressx:
		l->base = cp_cursor_addrx(l->unit, &l->c);
		return l->c.bad ? CP_LIST_END : CP_LIST_NOTHING;
	case DW_RLE_base_address:
		l->base = list_address(l);
		return l->c.bad ? CP_LIST_END : CP_LIST_NOTHING;
	case DW_RLE_startx_endx:
		low = cp_cursor_addrx(l->unit, &l->c);
		high = cp_cursor_addrx(l->unit, &l->c);
		break;
	case DW_RLE_startx_length:
		low = cp_cursor_addrx(l->unit, &l->c);
		high = low + cp_cursor_uleb(&l->c);
		break;
	case DW_RLE_offset_pair:
		low = l->base + cp_cursor_uleb(&l->c);
		high = l->base + cp_cursor_uleb(&l->c);
		break;
	case DW_RLE_start_end:
		low = list_address(l);
		high = list_address(l);
		break;
	case DW_RLE_start_length:
		low = list_address(l);
		high = low + cp_cursor_uleb(&l->c);
		break;
	case CP_LIST_DEFAULT:
		high = UINT64_MAX;
		break;
	case CP_LIST_VIEWS:
		cp_cursor_uleb(&l->c);
		cp_cursor_uleb(&l->c);
		return l->c.bad ? CP_LIST_END : CP_LIST_NOTHING;
	default: /* DW_RLE_end_of_list, and what nobody knows */
		return CP_LIST_END;
	}
	*low_ret = low;
	*high_ret = high;
	return l->c.bad ? CP_LIST_END : CP_LIST_RANGE;
}

enum cp_list_more cp_list_next(struct cp_list *l, uint64_t *low_ret, uint64_t *high_ret)
{
	if (l->unit->version >= 5)
		return next_v5(l, low_ret, high_ret);
	return l->locations && l->unit->skeleton ? next_gnu(l, low_ret, high_ret)
						 : next_v4(l, low_ret, high_ret);
}

bool cp_list_indexed(const struct cp_unit *unit, struct cp_elf_section *section, uint64_t base,
		     uint64_t index, uint64_t *offset_ret)
{
	const uint8_t *bytes;
	struct cp_cursor c;
	uint64_t at;

	if (__builtin_mul_overflow(index, unit->offset_size, &at) ||
	    __builtin_add_overflow(at, base, &at))
		return false;
	bytes = cp_elf_need(unit->dwarf->elf, section, at, unit->offset_size);
	if (!bytes)
		return false;
	c = cp_cursor(bytes, unit->offset_size);
	*offset_ret = base + (unit->offset_size == 8 ? cp_cursor_u64(&c) : cp_cursor_u32(&c));
	return true;
}
