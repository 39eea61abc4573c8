/* SPDX-License-Identifier: MIT
 *
 * What types consist of: see members.c.
 */
#ifndef CP_IMAGE_DWARF_MEMBERS_H
#define CP_IMAGE_DWARF_MEMBERS_H

#include "image/types.h"

/* Reads what a struct, union or enum consists of. */
const struct cp_type_details *cp_type_read_details(const struct cp_type *type);

#endif
