/* SPDX-License-Identifier: MIT
 *
 * What was hit too often. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_DISARMED_H
#define CP_ENGINE_CALLS_DISARMED_H

#include <cprof/cprof.h>

struct cp_event_disarmed;

/* The tracer took a group's breakpoints out of one process: takes them out of all. */
void engine_on_disarmed(cprof_session *s, const struct cp_event_disarmed *e);
/* Raises method_disarmed of a function that was called `rate` times a second; 0: by a
 * signal handler that left its thread no time. */
void engine_calls_raise_disarmed(cprof_session *s, const cprof_function *f, uint32_t rate,
				 uint64_t ts_ns);

#endif
