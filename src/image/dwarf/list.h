/* SPDX-License-Identifier: MIT
 *
 * Lists of address ranges, plain ones and those with a location each: both
 * have entries of the same forms, under other numbers.
 */
#ifndef CP_IMAGE_DWARF_LIST_H
#define CP_IMAGE_DWARF_LIST_H

#include "image/dwarf/debuginfo.h"

/* Kinds that only lists of locations have, beside DW_RLE_*. */
#define CP_LIST_DEFAULT 0x100u /* wherever no other entry is */
#define CP_LIST_VIEWS 0x101u /* says nothing of addresses */

struct cp_list {
	const struct cp_unit *unit;
	struct cp_cursor c;
	uint64_t base;
	bool locations; /* what the range is for comes behind each */
};

enum cp_list_more {
	CP_LIST_RANGE, /* [low, high) */
	CP_LIST_NOTHING, /* an entry for those that follow */
	CP_LIST_END, /* or there is no sense in it (c.bad) */
};
enum cp_list_more cp_list_next(struct cp_list *l, uint64_t *low_ret, uint64_t *high_ret);

/* The address whose index comes next. */
uint64_t cp_cursor_addrx(const struct cp_unit *unit, struct cp_cursor *c);
/* The beginning of the list of an index, by the table of offsets at `base`. */
bool cp_list_indexed(const struct cp_unit *unit, struct cp_elf_section *section, uint64_t base,
		     uint64_t index, uint64_t *offset_ret);

#endif
