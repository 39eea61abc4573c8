/* SPDX-License-Identifier: MIT
 *
 * Files of debug information, their units and abbreviations.
 */
#ifndef CP_IMAGE_DWARF_UNIT_H
#define CP_IMAGE_DWARF_UNIT_H

#include "image/dwarf/debuginfo.h"

/* Counts work; false when a lookup has had enough. */
bool cp_dwarf_step(struct cp_dwarf *dwarf, uint64_t steps);

/* NULL without memory or without .debug_info. */
struct cp_dwarf *cp_dwarf_create(struct cp_debuginfo *all, struct cp_elf *elf, bool owns_elf);
void cp_dwarf_destroy(struct cp_dwarf *dwarf);
/* Reads the headers of all units; the ones that make sense are listed. */
void cp_dwarf_walk(struct cp_dwarf *dwarf);
struct cp_unit *cp_dwarf_unit_at(struct cp_dwarf *dwarf, uint64_t offset);
/* The table of `unit` up to its end, or to the entry `until` (0: none); NULL: it makes
 * no sense. */
struct cp_abbrevs *cp_unit_parse_abbrevs(const struct cp_unit *unit, uint64_t until);
void cp_abbrevs_destroy(struct cp_abbrevs *abbrevs);
bool cp_unit_abbrevs(struct cp_unit *unit);
const struct cp_abbrev *cp_abbrev_find(const struct cp_abbrevs *abbrevs, uint64_t code);
/* Bytes of a form of fixed size; -1 for the others. */
int cp_unit_form_size(const struct cp_unit *unit, uint16_t form);
/* Bytes of the unit from `offset` to its end. */
bool cp_unit_cursor(const struct cp_unit *unit, uint64_t offset, struct cp_cursor *ret);

#endif
