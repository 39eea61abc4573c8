/* SPDX-License-Identifier: MIT
 *
 * Threads' own stacks, and on which stack a hit was.
 */
#ifndef CP_ENGINE_CALLS_STACKS_H
#define CP_ENGINE_CALLS_STACKS_H

#include <cprof/cprof.h>

struct cp_event_hit;

/* Finds where the thread's own stack is; of NULL nothing. */
void engine_calls_stack(cprof_thread *t);
/* engine_calls_stack() of a thread that has just begun, by the mappings of now. */
void engine_thread_stack(cprof_thread *t);
/* On which stack a hit was, and which calls led there. */
struct cp_shadow_at engine_calls_where(cprof_session *s, const struct cp_event_hit *e);

/* Notes where the thread's own stack is, here and for the tracer. */
void engine_calls_set_stack(cprof_thread *t, uint64_t low, uint64_t end);

#endif
