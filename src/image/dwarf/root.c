/* SPDX-License-Identifier: MIT */
#include "image/dwarf/root.h"

#include "image/dwarf/attr.h"
#include "image/dwarf/unit.h"

#define ROOT_BYTES 2048 /* enough for nearly every root DIE */

struct root {
	struct cp_attr low, high, ranges, comp_dir, split_name, stmt_list, str_base, addr_base,
		rnglists_base, loclists_base, ranges_base, id, language, producer;
};

static struct cp_attr *root_slot(struct root *r, uint16_t name)
{
	switch (name) {
	case DW_AT_low_pc:
		return &r->low;
	case DW_AT_high_pc:
		return &r->high;
	case DW_AT_ranges:
		return &r->ranges;
	case DW_AT_comp_dir:
		return &r->comp_dir;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		return &r->split_name;
	case DW_AT_stmt_list:
		return &r->stmt_list;
	case DW_AT_str_offsets_base:
		return &r->str_base;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		return &r->addr_base;
	case DW_AT_rnglists_base:
		return &r->rnglists_base;
	case DW_AT_loclists_base:
		return &r->loclists_base;
	case DW_AT_GNU_ranges_base:
		return &r->ranges_base;
	case DW_AT_GNU_dwo_id:
		return &r->id;
	case DW_AT_producer:
		return &r->producer;
	case DW_AT_language:
		return &r->language;
	default:
		return NULL;
	}
}

static bool root_attrs(struct cp_unit *unit, struct cp_cursor c, struct root *r)
{
	uint64_t code = cp_cursor_uleb(&c);
	struct cp_abbrevs *own = NULL;
	const struct cp_abbrev *a = NULL;
	struct cp_attr attr, *slot;
	uint32_t i;

	if (c.bad)
		return false;
	/* The table of abbreviations need not be read to its end for the root alone. */
	if (!unit->abbrevs)
		own = cp_unit_parse_abbrevs(unit, code);
	if (unit->abbrevs || own)
		a = cp_abbrev_find(own ? own : unit->abbrevs, code);
	for (i = 0; a && i < a->count; i++) {
		const struct cp_attr_spec *spec =
			&(own ? own : unit->abbrevs)->specs.items[a->first + i];

		cp_attr_read(unit, spec, &c, &attr);
		slot = root_slot(r, spec->name);
		if (slot && !c.bad)
			*slot = attr;
	}
	if (own)
		cp_abbrevs_destroy(own);
	return a && !c.bad;
}

static bool read_root(struct cp_unit *unit, struct root *r)
{
	uint64_t size = unit->end - unit->die;
	const uint8_t *bytes;

	if (size > ROOT_BYTES) {
		bytes = cp_elf_need(unit->dwarf->elf, unit->dwarf->info, unit->die, ROOT_BYTES);
		if (bytes && root_attrs(unit, cp_cursor(bytes, ROOT_BYTES), r))
			return true;
		*r = (struct root){ 0 };
	}
	bytes = cp_elf_need(unit->dwarf->elf, unit->dwarf->info, unit->die, size);
	return bytes && root_attrs(unit, cp_cursor(bytes, size), r);
}

/* Bases default to what follows the header of the first contribution. */
static void set_bases(struct cp_unit *unit, const struct root *r)
{
	bool v5 = unit->version == 5, wide = unit->offset_size == 8;

	unit->str_base = r->str_base.form ? r->str_base.u : v5 ? (wide ? 16 : 8) : 0;
	unit->str_base += unit->part->str_offsets;
	unit->addr_base = r->addr_base.form ? r->addr_base.u : v5 ? (wide ? 16 : 8) : 0;
	unit->rnglists_base = r->rnglists_base.form ? r->rnglists_base.u : wide ? 20 : 12;
	unit->rnglists_base += unit->part->rnglists;
	unit->loclists_base = r->loclists_base.form ? r->loclists_base.u : wide ? 20 : 12;
	unit->loclists_base += unit->part->lists;
	unit->ranges_base = r->ranges_base.u;
}

bool cp_unit_root(struct cp_unit *unit)
{
	struct root r = { 0 };

	if (unit->rooted)
		return true;
	if (!read_root(unit, &r))
		return false;
	unit->rooted = true;
	set_bases(unit, &r);
	if (r.id.form)
		unit->id = r.id.u;
	if (r.stmt_list.form)
		unit->stmt_list = r.stmt_list.u + unit->part->line;
	unit->language = r.language.u;
	unit->low = r.low;
	unit->high = r.high;
	unit->ranges = r.ranges;
	unit->comp_dir = cp_attr_string(unit, &r.comp_dir);
	unit->producer = cp_attr_string(unit, &r.producer);
	unit->split_name = cp_attr_string(unit, &r.split_name);
	if (!cp_attr_address(unit, &r.low, &unit->low_pc))
		unit->low_pc = 0;
	return true;
}
