/* SPDX-License-Identifier: MIT
 *
 * What was hit too often. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_DISARMED_H
#define CP_ENGINE_CALLS_DISARMED_H

#include <cprof/cprof.h>

struct cp_event_disarmed;

/* The tracer took a group's breakpoints out of one process: they go from all. */
void engine_on_disarmed(cprof_session *s, const struct cp_event_disarmed *e);
/* Raises method_disarmed; `rate` is in calls a second, 0: of a signal handler that
 * left its thread no time. */
void engine_calls_raise_disarmed(cprof_session *s, const cprof_function *f, uint32_t rate,
				 uint64_t ts_ns);

#endif
