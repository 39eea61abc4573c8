/* SPDX-License-Identifier: MIT
 *
 * Reading where variables are, from debug information.
 */
#ifndef CP_IMAGE_DWARF_LOCATION_H
#define CP_IMAGE_DWARF_LOCATION_H

#include "image/dwarf/debuginfo.h"
#include "image/location.h"
#include "image/types.h"

/* The locations of the attribute, in `arena`; none where it makes no sense. */
struct cp_locations cp_unit_locations(struct cp_unit *unit, const struct cp_attr *attr,
				      struct cp_arena *arena);

#endif
