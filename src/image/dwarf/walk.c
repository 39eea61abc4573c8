/* SPDX-License-Identifier: MIT
 *
 * Walking over the DIEs of a unit.
 */
#include "image/dwarf/walk.h"

#include "image/dwarf/attr.h"
#include "image/dwarf/unit.h"

static struct cp_attr *slot(void *to, uint16_t name)
{
	struct cp_die_attrs *a = to;

	switch (name) {
	case DW_AT_low_pc:
		return &a->low;
	case DW_AT_high_pc:
		return &a->high;
	case DW_AT_ranges:
		return &a->ranges;
	case DW_AT_sibling:
		return &a->sibling;
	case DW_AT_abstract_origin:
		return &a->origin;
	case DW_AT_specification:
		return &a->specification;
	case DW_AT_name:
		return &a->name;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		return &a->linkage;
	case DW_AT_call_file:
		return &a->call_file;
	case DW_AT_call_line:
		return &a->call_line;
	case DW_AT_call_column:
		return &a->call_column;
	case DW_AT_decl_file:
		return &a->decl_file;
	case DW_AT_decl_line:
		return &a->decl_line;
	case DW_AT_entry_pc:
		return &a->entry;
	case DW_AT_declaration:
		return &a->declaration;
	case DW_AT_artificial:
		return &a->artificial;
	case DW_AT_external:
		return &a->external;
	default:
		return NULL;
	}
}

bool cp_walk_from(struct cp_unit *unit, uint64_t offset, struct cp_walk *ret)
{
	if (!cp_unit_abbrevs(unit) || !cp_unit_cursor(unit, offset, &ret->c))
		return false;
	ret->unit = unit;
	ret->origin = ret->c.at;
	ret->base = offset;
	return true;
}

/* The next DIE, whose attributes come next; false at the end of the unit. */
bool cp_walk_next(struct cp_walk *w, struct cp_die *ret)
{
	uint64_t code;

	if (!cp_cursor_left(&w->c))
		return false;
	ret->offset = w->base + (uint64_t)(w->c.at - w->origin);
	code = cp_cursor_uleb(&w->c);
	if (w->c.bad)
		return false;
	ret->abbrev = code ? cp_abbrev_find(w->unit->abbrevs, code) : NULL;
	return cp_dwarf_step(w->unit->dwarf, 1 + (ret->abbrev ? ret->abbrev->count / 8 : 0)) &&
	       (!code || ret->abbrev);
}

void cp_walk_slots(struct cp_walk *w, const struct cp_abbrev *abbrev, cp_attr_slot_fn slot_of,
		   void *to)
{
	const struct cp_attr_spec *specs = w->unit->abbrevs->specs.items + abbrev->first;
	struct cp_attr attr, *place;
	uint32_t i;

	for (i = 0; i < abbrev->count && !w->c.bad; i++) {
		cp_attr_read(w->unit, &specs[i], &w->c, &attr);
		place = slot_of(to, specs[i].name);
		if (place && !w->c.bad)
			*place = attr;
	}
}

void cp_walk_attrs(struct cp_walk *w, const struct cp_abbrev *abbrev, struct cp_die_attrs *ret)
{
	*ret = (struct cp_die_attrs){ 0 };
	cp_walk_slots(w, abbrev, slot, ret);
}

void cp_walk_skip_attrs(struct cp_walk *w, const struct cp_abbrev *abbrev)
{
	cp_attrs_skip(w->unit, abbrev, &w->c);
}

/* Passes over the children of a DIE whose attributes were read. */
bool cp_walk_skip_children(struct cp_walk *w, const struct cp_attr *sibling)
{
	uint64_t here = w->base + (uint64_t)(w->c.at - w->origin), to;
	struct cp_die die;
	unsigned depth = 1;

	if (sibling->form && cp_attr_reference(w->unit, sibling, &to) == w->unit && to > here) {
		cp_cursor_bytes(&w->c, to - here);
		return !w->c.bad;
	}
	while (depth) {
		if (!cp_walk_next(w, &die))
			return false;
		if (!die.abbrev) {
			depth--;
			continue;
		}
		cp_walk_skip_attrs(w, die.abbrev);
		depth += die.abbrev->children;
	}
	return true;
}
