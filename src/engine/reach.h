/* SPDX-License-Identifier: MIT
 *
 * What families ask of calls. Private to src/engine.
 */
#ifndef CP_ENGINE_REACH_H
#define CP_ENGINE_REACH_H

#include "engine/calls.h"

/* The thread of the event has unwound its stack up to `sp`: the calls below it
 * end, and cprof_current_call() says where the thread is. */
void engine_calls_reach(cprof_session *s, const struct cp_event_hit *e, uint64_t sp);
void engine_calls_raise_disarmed(cprof_session *s, const cprof_function *f, uint32_t rate,
				 uint64_t ts_ns);

#endif
