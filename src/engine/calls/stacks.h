/* SPDX-License-Identifier: MIT
 *
 * Threads' own stacks, and on which stack a hit was.
 */
#ifndef CP_ENGINE_CALLS_STACKS_H
#define CP_ENGINE_CALLS_STACKS_H

#include <cprof/cprof.h>

struct cp_event_hit;

/* Notes where a thread was born (0: not known); `parent`: of a forked process's first one,
 * which has the stack of who forked. */
void engine_calls_born(cprof_thread *t, uint64_t sp, const cprof_process *parent);
/* Finds where the own stack of the thread is that executed a program; of NULL nothing. */
void engine_calls_stack(cprof_thread *t);
/* Finds where the own stack of a thread is that has just begun, by the mappings of now. */
void engine_thread_stack(cprof_thread *t);
/* Up to where the thread's own stack, which has to be known, is surely its own and kept
 * mapped while it runs, by its thread pointer; 0: not known. */
uint64_t engine_thread_stack_end(cprof_thread *t, uint64_t pointer);
/* The thread of a process on whose own stack `sp` lies; NULL: none is known. */
const cprof_thread *engine_calls_at_home(const cprof_process *p, uint64_t sp);
/* On which stack a hit was, and which calls led there. */
struct cp_shadow_at engine_calls_where(cprof_session *s, const struct cp_event_hit *e);

#endif
