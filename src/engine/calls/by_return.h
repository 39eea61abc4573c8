/* SPDX-License-Identifier: MIT
 *
 * Calls whose end is seen where they return to. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_BY_RETURN_H
#define CP_ENGINE_CALLS_BY_RETURN_H

#include <cprof/cprof.h>

struct cp_shadow_at;
struct engine_hit;

/* Ends a call that returns where the hit is. */
void engine_calls_end_by_return(cprof_session *s, const struct cp_shadow_at *at,
				const struct engine_hit *hit);
/* A function that is traced no more returned: calls of others that are made there are ended by
 * the same breakpoint, which goes where there are none. */
void engine_calls_return_late(cprof_session *s, const struct engine_hit *hit);

#endif
