/* SPDX-License-Identifier: MIT
 *
 * Reading where variables are, from debug information.
 */
#ifndef CP_IMAGE_DWARF_LOCATION_H
#define CP_IMAGE_DWARF_LOCATION_H

#include "image/dwarf_attrs.h"

/* Ours, in prepared expressions: two bytes follow, size and encoding. What is
 * on the stack becomes a number of that type. */
#define CP_OP_CONVERT 0xe1

/* What the attribute says, in `arena`; nothing where it makes no sense. */
struct cp_locations cp_unit_locations(struct cp_unit *unit, const struct cp_attr *attr,
				      struct cp_arena *arena);

/* The addresses of a DIE as cp_unit_ranges() has them, in `arena`; NULL: it has none. */
const struct cp_extent *cp_unit_extents(const struct cp_unit *unit, const struct cp_attr *low,
					const struct cp_attr *high, const struct cp_attr *ranges,
					struct cp_arena *arena);

#endif
