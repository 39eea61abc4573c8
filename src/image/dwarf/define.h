/* SPDX-License-Identifier: MIT
 *
 * Definitions of what is only declared: see define.c.
 */
#ifndef CP_IMAGE_DWARF_DEFINE_H
#define CP_IMAGE_DWARF_DEFINE_H

#include "image/dwarf/debuginfo.h"
#include "image/types.h"

/* The DIE that defines what `type` declares; NULL: there is none. */
struct cp_unit *cp_type_definition(const struct cp_type *type, uint64_t *die_ret);

#endif
