/* SPDX-License-Identifier: MIT
 *
 * Stacks that read the same: of the same functions at the same lines, though calls came from
 * different instructions there. Tables of stacks show them as one.
 */
#ifndef CP_REPORT_ALIKE_H
#define CP_REPORT_ALIKE_H

#include "base/map.h"
#include "base/vec.h"
#include "report/profile/profile.h"

/* Begins as zeros. */
struct cp_alike {
	struct cp_interner frames; /* name, file, line */
	struct cp_interner stacks; /* numbers of these, leaf last */
	CP_VEC(uint32_t) first; /* by number of these: the stack that was so first */
	struct cp_map known; /* stack -> the one that it is like */
	CP_VEC(uint32_t) at_hand;
};

/* The first stack that reads like this one; CP_RECORD_NONE is like itself. False without
 * memory. */
bool cp_alike_stack(struct cp_alike *a, const struct cp_profile *p, uint32_t stack, uint32_t *ret);
void cp_alike_deinit(struct cp_alike *a);

#endif
