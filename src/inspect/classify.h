/* SPDX-License-Identifier: MIT
 *
 * What all calling conventions want to know of a type.
 */
#ifndef CP_INSPECT_CLASSIFY_H
#define CP_INSPECT_CLASSIFY_H

#include "image/types.h"

/* True when C++ passes the class by invisible reference. `budget` counts
 * down; at 0 the answer is false. */
bool cp_type_is_nontrivial(const struct cp_type *type, unsigned *budget);
/* True for gcc's transparent unions, which it describes without members: such a
 * union is passed as one of them is. */
bool cp_type_is_transparent(const struct cp_type *type);
/* Reads the details of all that a type is made of, pointers not followed. */
void cp_type_complete_parts(struct cp_image *image, const struct cp_type *type);
/* Of what was read: see cp_type_complete_parts(). */
uint32_t cp_type_alignment(const struct cp_type *type, unsigned *budget);
#define CP_CLASSIFY_BUDGET 20000u
/* One step of a walk that may have no end; false: it has taken all that it may. */
static inline bool cp_classify_spend(unsigned *budget)
{
	return *budget && (*budget)--;
}

#endif
