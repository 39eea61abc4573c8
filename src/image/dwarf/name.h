/* SPDX-License-Identifier: MIT
 *
 * What a function is called: see name.c.
 */
#ifndef CP_IMAGE_DWARF_NAME_H
#define CP_IMAGE_DWARF_NAME_H

#include "image/dwarf/debuginfo.h"

struct cp_die_name {
	const char *name; /* or NULL; lives as long as the image */
	bool linkage; /* it is mangled */
	uint32_t decl_line;
};
/* The name of the function whose DIE is at `offset`. `at`: an address in it, if it
 * is not an inlined one, which symbols may name better; else 0. */
struct cp_die_name cp_unit_function_name(struct cp_unit *unit, uint64_t offset, uint64_t at);

#endif
