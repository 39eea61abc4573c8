/* SPDX-License-Identifier: MIT
 *
 * Calls that were open when a process was forked. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_INHERIT_H
#define CP_ENGINE_CALLS_INHERIT_H

#include <cprof/cprof.h>

/* The first thread of a forked process returns from the calls that were open around
 * the fork, too. */
void engine_calls_inherit(cprof_session *s, cprof_thread *t, const cprof_process *parent);

#endif
