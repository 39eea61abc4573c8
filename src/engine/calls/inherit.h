/* SPDX-License-Identifier: MIT
 *
 * Calls that were open when a process was forked. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_INHERIT_H
#define CP_ENGINE_CALLS_INHERIT_H

#include <cprof/cprof.h>

/* Copies the calls that were open around the fork for the forked process's first
 * thread, which returns from them, too. */
void engine_calls_inherit(cprof_session *s, cprof_thread *t, const cprof_process *parent);

#endif
