/* SPDX-License-Identifier: MIT
 *
 * What functions ended by tail calling. A call is over when it jumps to another function:
 * its time ends there, and that function's is its own. So a function that does nothing but
 * jump on costs nothing, though whoever called it waits for all that follows; which is
 * told here, besides: the time from the jump until what was called by it returned.
 *
 *     outer ──jmp──▶ middle ──jmp──▶ work ──ret──▶      of outer: middle and work
 *                                                       of middle: work
 */
#ifndef CP_REPORT_TAILED_H
#define CP_REPORT_TAILED_H

#include "base/vec.h"
#include "record/spans.h"

/* Functions one after the other, each of which ended by calling the next. */
struct cp_tailed_chain {
	CP_VEC(uint32_t) functions; /* each once; none that is open further out */
};

struct cp_tailed_wait {
	struct cp_tailed_chain *chain; /* NULL: none waits */
	uint32_t depth, target; /* what is to come next */
};

struct cp_tailed {
	struct cp_tailed_wait *waits; /* by thread */
	CP_VEC(struct cp_tailed_chain *) all;
	CP_VEC(struct cp_tailed_chain *) spare;
};

CP_ERROR cp_tailed_init(struct cp_tailed *t, size_t threads);
void cp_tailed_deinit(struct cp_tailed *t);

/* A call begins: the chain that led to it, which is the call's from here on; NULL: none. */
struct cp_tailed_chain *cp_tailed_enter(struct cp_tailed *t, const struct cp_span *span);
/* It is over, and the chain that it had is no longer its own. False without memory. */
bool cp_tailed_leave(struct cp_tailed *t, const struct cp_span *span,
		     struct cp_tailed_chain *chain);

#endif
