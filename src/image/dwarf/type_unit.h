/* SPDX-License-Identifier: MIT
 *
 * Type units: one type each, which others name by a signature.
 */
#ifndef CP_IMAGE_DWARF_TYPE_UNIT_H
#define CP_IMAGE_DWARF_TYPE_UNIT_H

#include "image/dwarf/debuginfo.h"

/* The unit of the type with that signature, as `dwarf` or the main file has it, and the
 * offset of its DIE; NULL: there is none. */
struct cp_unit *cp_dwarf_signed(struct cp_dwarf *dwarf, uint64_t signature, uint64_t *offset_ret);
/* The `n`th type unit of all files that are read; NULL: there are fewer. */
struct cp_unit *cp_debuginfo_type_unit(struct cp_debuginfo *all, size_t n);

#endif
