/* SPDX-License-Identifier: MIT
 *
 * Stacks that are no thread's own: of coroutines, of signals' handlers. Private to
 * src/engine.
 */
#ifndef CP_ENGINE_CALLS_OTHER_STACKS_H
#define CP_ENGINE_CALLS_OTHER_STACKS_H

#include <cprof/cprof.h>

#include "probe/shadow.h"
#include "unwind/unwind.h"

struct cp_event_hit;

/* Finds, by the walk of the event's stack that is in the session's frames, where chains of
 * callers end on a stack that is not the thread's own: at->root and what is said of it. */
void engine_stack_find_root(const cprof_thread *t, const struct cp_event_hit *e, size_t frames,
			    enum cp_unwind_end end, struct cp_shadow_at *at);
/* The thread is there: if its stack has a root, its records are told from now on by where
 * they are on it. A root that only seems to be one, and can't be relied on, is taken back. */
void engine_stack_learn(cprof_thread *t, const struct cp_event_hit *e, struct cp_shadow_at *at);
/* The one that an address lies on; NULL: none is known. Valid until the next is learnt. */
const struct engine_stack *engine_stack_at(const cprof_process *p, uint64_t sp);
/* The same by the low bits of a stack pointer that a record has (CP_RECORD_SP()), which are
 * made whole. */
bool engine_stack_whole(const cprof_process *p, uint64_t low, uint64_t *sp_ret);

#endif
