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

/* Is an address, at->sp, on one that is known? Then its root, and what is said of that, is filled
 * in, and there is no chain. */
bool engine_stack_know(const cprof_process *p, struct cp_shadow_at *at);
/* The thread is there, and a walk that is in the session's frames has shown who called: where
 * does its stack end? If that is known now, records of it are told from now on by where they
 * are. Without a walk to the end, it is the stack that is known there. */
void engine_stack_learn(cprof_thread *t, const struct cp_event_hit *e, size_t frames,
			enum cp_unwind_end end, struct cp_shadow_at *at);
/* The low bits of a stack pointer that a record has (CP_RECORD_SP()) are made whole, if they are
 * of one that is known. */
bool engine_stack_whole(const cprof_process *p, uint64_t low, uint64_t *sp_ret);

#endif
