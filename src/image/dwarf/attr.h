/* SPDX-License-Identifier: MIT
 *
 * Attributes of DIEs: see attr.c.
 */
#ifndef CP_IMAGE_DWARF_ATTR_H
#define CP_IMAGE_DWARF_ATTR_H

#include "image/dwarf/debuginfo.h"

/* Reads one attribute, or passes over it. */
void cp_attr_read(const struct cp_unit *unit, const struct cp_attr_spec *spec, struct cp_cursor *c,
		  struct cp_attr *ret);
void cp_attrs_skip(const struct cp_unit *unit, const struct cp_abbrev *abbrev, struct cp_cursor *c);
/* An attribute's address or string; false or NULL when it is not there or bad. */
bool cp_attr_address(const struct cp_unit *unit, const struct cp_attr *attr, uint64_t *ret);
const char *cp_attr_string(const struct cp_unit *unit, const struct cp_attr *attr);
/* The DIE referred to: its unit, and its offset in that unit's file. */
struct cp_unit *cp_attr_reference(const struct cp_unit *unit, const struct cp_attr *attr,
				  uint64_t *offset_ret);

#endif
