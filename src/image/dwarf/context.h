/* SPDX-License-Identifier: MIT
 *
 * What a type is in that is defined apart from its declaration.
 */
#ifndef CP_IMAGE_DWARF_CONTEXT_H
#define CP_IMAGE_DWARF_CONTEXT_H

#include "image/dwarf/debuginfo.h"

/* DIEs that a type's declaration lies in, the outermost first. */
struct cp_type_context {
	struct cp_unit *unit; /* of all of them */
	uint64_t dies[CP_DWARF_DEPTH];
	unsigned count;
};
/* What the declaration lies in that a type's DIE names with `specification`: the
 * definition itself is in nothing. False: there is none. */
bool cp_type_context(struct cp_unit *unit, const struct cp_attr *specification,
		     struct cp_type_context *ret);

#endif
