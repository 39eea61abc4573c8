/* SPDX-License-Identifier: MIT
 *
 * Types as debug information has them: see type.c.
 */
#ifndef CP_IMAGE_DWARF_TYPE_H
#define CP_IMAGE_DWARF_TYPE_H

#include "image/dwarf/debuginfo.h"
#include "image/types.h"

/* The type that `attr` refers to: NULL is void, a broken one is of kind
 * UNKNOWN. Also NULL without memory. */
const struct cp_type *cp_type_referred(struct cp_unit *unit, const struct cp_attr *attr);
/* The type whose DIE is at `offset`; NULL without memory. */
const struct cp_type *cp_unit_type(struct cp_unit *unit, uint64_t offset);

#endif
