/* SPDX-License-Identifier: MIT
 *
 * Attributes of a DIE by name, for those who want many kinds of them.
 */
#ifndef CP_IMAGE_DWARF_ATTRS_H
#define CP_IMAGE_DWARF_ATTRS_H

#include "image/dwarf/walk.h"

/* field, DW_AT_name */
#define CP_ATTRS(X) \
	X(name, name) \
	X(linkage, linkage_name) \
	X(type, type) \
	X(byte_size, byte_size) \
	X(bit_size, bit_size) \
	X(encoding, encoding) \
	X(declaration, declaration) \
	X(lower, lower_bound) \
	X(upper, upper_bound) \
	X(count, count) \
	X(byte_stride, byte_stride) \
	X(bit_stride, bit_stride) \
	X(const_value, const_value) \
	X(member_location, data_member_location) \
	X(data_bit_offset, data_bit_offset) \
	X(bit_offset, bit_offset) \
	X(alignment, alignment) \
	X(specification, specification) \
	X(origin, abstract_origin) \
	X(signature, signature) \
	X(sibling, sibling) \
	X(external, external) \
	X(artificial, artificial) \
	X(virtuality, virtuality) \
	X(vtable_slot, vtable_elem_location) \
	X(containing, containing_type) \
	X(convention, calling_convention) \
	X(vector, GNU_vector) \
	X(prototyped, prototyped) \
	X(low, low_pc) \
	X(high, high_pc) \
	X(ranges, ranges) \
	X(location, location) \
	X(frame_base, frame_base) \
	X(defaulted, defaulted) \
	X(deleted, deleted) \
	X(discr, discr) \
	X(discr_value, discr_value) \
	X(export_symbols, export_symbols) \
	X(enum_class, enum_class) \
	X(decl_file, decl_file) \
	X(decl_line, decl_line)

#define CP_ATTRS_FIELD(field, at) struct cp_attr field;
struct cp_attrs {
	CP_ATTRS(CP_ATTRS_FIELD)
};
#undef CP_ATTRS_FIELD

/* Reads the attributes that come next in `w`. */
bool cp_attrs_read(struct cp_walk *w, const struct cp_abbrev *abbrev, struct cp_attrs *ret);
/* Stands before the children of the DIE at `offset` and has read the DIE.
 * False when there is no such DIE. */
bool cp_die_at(struct cp_unit *unit, uint64_t offset, struct cp_walk *w, struct cp_die *die_ret,
	       struct cp_attrs *attrs_ret);
/* True when the attribute is a plain number. */
bool cp_attr_number(const struct cp_attr *attr, uint64_t *ret);
bool cp_attr_flag(const struct cp_attr *attr);

#endif
