/* SPDX-License-Identifier: MIT */
#include "image/dwarf/attrs.h"

#include "image/dwarf/root.h"

static struct cp_attr *slot(void *to, uint16_t name)
{
	struct cp_attrs *a = to;

#define CASE(field, at) \
	case DW_AT_##at: \
		return &a->field;
	switch (name) {
		CP_ATTRS(CASE)
	case DW_AT_MIPS_linkage_name:
		return &a->linkage;
	default:
		return NULL;
	}
#undef CASE
}

bool cp_attrs_read(struct cp_walk *w, const struct cp_abbrev *abbrev, struct cp_attrs *ret)
{
	*ret = (struct cp_attrs){ 0 };
	cp_walk_slots(w, abbrev, slot, ret);
	return !w->c.bad;
}

bool cp_die_at(struct cp_unit *unit, uint64_t offset, struct cp_walk *w, struct cp_die *die_ret,
	       struct cp_attrs *attrs_ret)
{
	return unit && cp_unit_root(unit) && cp_walk_from(unit, offset, w) &&
	       cp_walk_next(w, die_ret) && die_ret->abbrev &&
	       cp_attrs_read(w, die_ret->abbrev, attrs_ret);
}

bool cp_attr_number(const struct cp_attr *attr, uint64_t *ret)
{
	switch (attr->form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_implicit_const:
		*ret = attr->u;
		return true;
	default:
		return false;
	}
}

bool cp_attr_flag(const struct cp_attr *attr)
{
	return (attr->form == DW_FORM_flag || attr->form == DW_FORM_flag_present) && attr->u;
}
