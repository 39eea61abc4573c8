/* SPDX-License-Identifier: MIT
 *
 * Calls that were open when a process was forked. Private to src/engine.
 */
#ifndef CP_ENGINE_INHERIT_H
#define CP_ENGINE_INHERIT_H

#include "engine/calls.h"

/* `t`, the first thread of a forked process, returns from them, too. */
void engine_calls_inherit(cprof_session *s, cprof_thread *t, const cprof_process *parent);

/* calls.c: what it is made of. The call that the next event is about: */
void engine_calls_set_current(struct engine_calls *c, const struct cp_call *call);
/* The process's shadow stack, made when there is none; false without memory. */
bool engine_calls_shadow(cprof_process *p);
/* Where the thread's own stack is. */
void engine_calls_set_stack(cprof_thread *t, uint64_t low, uint64_t end);

#endif
