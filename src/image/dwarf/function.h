/* SPDX-License-Identifier: MIT
 *
 * Variables by their DIEs: see function.c.
 */
#ifndef CP_IMAGE_DWARF_FUNCTION_H
#define CP_IMAGE_DWARF_FUNCTION_H

#include "image/dwarf/debuginfo.h"
#include "image/types.h"

/* What a variable's DIE, or what it refers to, says beside where and what it is. */
struct cp_die_place {
	const char *file; /* or NULL; lives as long as the image */
	uint32_t line;
	bool external;
};

/* Reads the variable whose DIE is at `offset`; what is read is in `arena`. */
bool cp_unit_variable(struct cp_unit *unit, uint64_t offset, struct cp_arena *arena,
		      struct cp_variable *ret, struct cp_die_place *place_ret);

#endif
