/* SPDX-License-Identifier: MIT
 *
 * Attributes of DIEs: reading every form of DWARF 2 to 5 and of GNU's and
 * dwz's extensions, and what an address, a string, a reference stands for.
 */
#include "image/dwarf/attr.h"

#include "image/debugfile.h"
#include "image/dwarf/type_unit.h"
#include "image/dwarf/unit.h"

static uint64_t read_u24(struct cp_cursor *c)
{
	uint64_t low = cp_cursor_u16(c);

	return low | (uint64_t)cp_cursor_u8(c) << 16;
}

static uint64_t of_size(struct cp_cursor *c, unsigned size)
{
	return size == 8 ? cp_cursor_u64(c) : cp_cursor_u32(c);
}

/* A block whose length is `size`. */
static void block(struct cp_cursor *c, uint64_t size, struct cp_attr *ret)
{
	if (size > cp_cursor_left(c)) {
		c->bad = true;
		return;
	}
	ret->u = size;
	ret->block = cp_cursor_bytes(c, size);
}

/* Forms that are numbers of a width of their own. True when it was one. */
static bool read_number(uint16_t form, struct cp_cursor *c, struct cp_attr *ret)
{
	switch (form) {
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		ret->u = cp_cursor_u8(c);
		return true;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		ret->u = cp_cursor_u16(c);
		return true;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		ret->u = read_u24(c);
		return true;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		ret->u = cp_cursor_u32(c);
		return true;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		ret->u = cp_cursor_u64(c);
		return true;
	case DW_FORM_sdata:
		ret->u = (uint64_t)cp_cursor_sleb(c);
		return true;
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		ret->u = cp_cursor_uleb(c);
		return true;
	default:
		return false;
	}
}

static void read_form(const struct cp_unit *unit, uint16_t form, int64_t implicit,
		      struct cp_cursor *c, struct cp_attr *ret)
{
	if (read_number(form, c, ret))
		return;
	switch (form) {
	case DW_FORM_implicit_const:
		ret->u = (uint64_t)implicit;
		break;
	case DW_FORM_flag_present:
		ret->u = 1;
		break;
	case DW_FORM_addr:
		ret->u = of_size(c, unit->address_size);
		break;
	case DW_FORM_ref_addr:
		ret->u = of_size(c, unit->version == 2 ? unit->address_size : unit->offset_size);
		break;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		ret->u = of_size(c, unit->offset_size);
		break;
	case DW_FORM_string:
		ret->string = cp_cursor_string(c);
		break;
	case DW_FORM_data16:
		block(c, 16, ret);
		break;
	case DW_FORM_block1:
		block(c, cp_cursor_u8(c), ret);
		break;
	case DW_FORM_block2:
		block(c, cp_cursor_u16(c), ret);
		break;
	case DW_FORM_block4:
		block(c, cp_cursor_u32(c), ret);
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		block(c, cp_cursor_uleb(c), ret);
		break;
	default:
		c->bad = true;
	}
}

void cp_attr_read(const struct cp_unit *unit, const struct cp_attr_spec *spec, struct cp_cursor *c,
		  struct cp_attr *ret)
{
	uint64_t form = spec->form;

	if (form == DW_FORM_indirect) {
		form = cp_cursor_uleb(c);
		/* A form that is indirect again, or implicit without a value, makes
		 * no sense. */
		if (form == DW_FORM_indirect || form == DW_FORM_implicit_const || form > UINT16_MAX)
			c->bad = true;
	}
	*ret = (struct cp_attr){ .form = (uint16_t)form };
	if (!c->bad)
		read_form(unit, (uint16_t)form, spec->implicit, c, ret);
}

void cp_attrs_skip(const struct cp_unit *unit, const struct cp_abbrev *abbrev, struct cp_cursor *c)
{
	struct cp_attr ignored;
	uint32_t i;

	if (abbrev->fixed) {
		cp_cursor_bytes(c, abbrev->fixed);
		return;
	}
	for (i = 0; i < abbrev->count && !c->bad; i++)
		cp_attr_read(unit, &unit->abbrevs->specs.items[abbrev->first + i], c, &ignored);
}

/* The number at `index` of a table of `size`-byte entries at `base`. */
static bool table_entry(struct cp_elf *elf, struct cp_elf_section *section, uint64_t base,
			uint64_t index, unsigned size, uint64_t *ret)
{
	const uint8_t *at;
	uint64_t offset;
	struct cp_cursor c;

	if (__builtin_mul_overflow(index, size, &offset) ||
	    __builtin_add_overflow(offset, base, &offset))
		return false;
	at = cp_elf_need(elf, section, offset, size);
	if (!at)
		return false;
	c = cp_cursor(at, size);
	*ret = of_size(&c, size);
	return true;
}

bool cp_attr_address(const struct cp_unit *unit, const struct cp_attr *attr, uint64_t *ret)
{
	/* A split file has no addresses of its own. */
	const struct cp_unit *u = unit->skeleton ? unit->skeleton : unit;

	switch (attr->form) {
	case DW_FORM_addr:
		*ret = attr->u;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return table_entry(u->dwarf->elf, u->dwarf->addr, u->addr_base, attr->u,
				   u->address_size, ret);
	default:
		return false;
	}
}

static struct cp_dwarf *alternate(struct cp_dwarf *dwarf)
{
	struct cp_debuginfo *all = dwarf->all;
	struct cp_elf *elf;

	if (dwarf->alternate_tried)
		return dwarf->alternate;
	dwarf->alternate_tried = true;
	elf = cp_debug_alternate(all->image, dwarf->elf);
	if (!elf)
		return NULL;
	dwarf->alternate = cp_dwarf_create(all, elf, true);
	if (!dwarf->alternate) {
		cp_elf_destroy(elf);
	} else if (!cp_vec_push(&all->others, dwarf->alternate)) {
		cp_dwarf_destroy(dwarf->alternate);
		dwarf->alternate = NULL;
	}
	return dwarf->alternate;
}

const char *cp_attr_string(const struct cp_unit *unit, const struct cp_attr *attr)
{
	struct cp_dwarf *dwarf = unit->dwarf;
	uint64_t offset = attr->u;

	switch (attr->form) {
	case DW_FORM_string:
		return attr->string;
	case DW_FORM_strp:
		return cp_elf_string(dwarf->elf, dwarf->str, offset);
	case DW_FORM_line_strp:
		return cp_elf_string(dwarf->elf, dwarf->line_str, offset);
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		if (!table_entry(dwarf->elf, dwarf->str_offsets, unit->str_base, attr->u,
				 unit->offset_size, &offset))
			return NULL;
		return cp_elf_string(dwarf->elf, dwarf->str, offset);
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		dwarf = alternate(dwarf->types_of ? dwarf->types_of : dwarf);
		return dwarf ? cp_elf_string(dwarf->elf, dwarf->str, offset) : NULL;
	default:
		return NULL;
	}
}

struct cp_unit *cp_attr_reference(const struct cp_unit *unit, const struct cp_attr *attr,
				  uint64_t *offset_ret)
{
	struct cp_dwarf *dwarf = unit->dwarf;
	uint64_t offset = attr->u;

	switch (attr->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		if (offset >= unit->end - unit->offset)
			return NULL;
		offset += unit->offset;
		break;
	case DW_FORM_ref_addr:
		dwarf = dwarf->types_of ? dwarf->types_of : dwarf;
		break;
	case DW_FORM_ref_sig8:
		return cp_dwarf_signed(dwarf, attr->u, offset_ret);
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		dwarf = alternate(dwarf->types_of ? dwarf->types_of : dwarf);
		break;
	default:
		return NULL;
	}
	*offset_ret = offset;
	return dwarf ? cp_dwarf_unit_at(dwarf, offset) : NULL;
}
