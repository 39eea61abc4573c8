/* SPDX-License-Identifier: MIT
 *
 * Events of coverage. The thread is held until one is released.
 */
#ifndef CP_LINK_COVERAGE_H
#define CP_LINK_COVERAGE_H

#include "link/link.h"

struct cp_event_fault {
	struct cp_event e;
	uint64_t pc;
	/* 1 + the counter that the thread counted at last, if no signal came since; 0. */
	uint32_t entered;
	uint32_t pad;
};

/* A block was reached behind which not everything is placed: a site that counts, once,
 * and holds. */
struct cp_event_opened {
	struct cp_event e;
	uint32_t counter; /* of the block */
	uint32_t pad;
};

#endif
