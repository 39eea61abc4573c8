/* SPDX-License-Identifier: MIT
 *
 * What is known at a hit, gathered as it is needed.
 */
#ifndef CP_TRACER_AT_H
#define CP_TRACER_AT_H

#include "tracer/memory/space.h"

struct at {
	struct thread *t;
	struct space *space;
	struct site *site; /* the first at the address */
	uint64_t prstatus[PRSTATUS_MAX / 8];
	struct cp_regs regs;
	uint64_t seen_ns, pc, sp;
	bool changed; /* prstatus */
	bool quiet, told; /* some site is quiet just now; some other is not */
	unsigned chosen; /* CP_HIT_CHOSEN, CP_HIT_PASSED */
	unsigned detour; /* offset in the slot at which to go on */
};

#endif
