/* SPDX-License-Identifier: MIT
 *
 * Threads' own stacks, and on which stack a hit was.
 */
#ifndef CP_ENGINE_STACKS_H
#define CP_ENGINE_STACKS_H

#include "engine/calls.h"

/* Finds the thread's own stack (NULL: none); of one that has just begun, with what is
 * mapped now. */
void engine_calls_stack(cprof_thread *t);
void engine_thread_stack(cprof_thread *t);
/* On which stack a hit was. */
struct cp_shadow_at engine_calls_where(cprof_session *s, const struct cp_event_hit *e);

#endif
