/* SPDX-License-Identifier: MIT
 *
 * What all detours of a process share and call, at `slow` of their rings.
 */
#ifndef CP_ARCH_X86_64_DETOUR_SLOW_H
#define CP_ARCH_X86_64_DETOUR_SLOW_H

#include "arch/x86_64/detour_reach.h"

struct cp_x86_shared {
	struct cp_detour_stop asked; /* of a thread that asks for a ring */
	struct cp_detour_stop foreign; /* of one on another stack */
	struct cp_x86_load loads[CP_X86_LOADS]; /* that may fault */
	size_t load_count;
};

/* Where who records nothing, but stops if somebody reads, is called from. */
#define CP_X86_OUTSIDE_AT 101

/* All of it. */
void cp_x86_shared(struct cp_x86_emit *e, const struct cp_detour_rings *rings,
		   struct cp_x86_shared *ret);

#endif
