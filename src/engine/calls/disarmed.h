/* SPDX-License-Identifier: MIT
 *
 * What was hit too often. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_DISARMED_H
#define CP_ENGINE_CALLS_DISARMED_H

#include <cprof/cprof.h>

struct cp_event_disarmed;

void engine_on_disarmed(cprof_session *s, const struct cp_event_disarmed *e);
void engine_calls_raise_disarmed(cprof_session *s, const cprof_function *f, uint32_t rate,
				 uint64_t ts_ns);

#endif
