/* SPDX-License-Identifier: MIT */
#ifndef CP_MODULES_CALLS_JSON_H
#define CP_MODULES_CALLS_JSON_H

#include "modules/calls.h"

/* One event as a line. `context` (arguments), `result`: NULL for none; `rate`
 * of a function that is disarmed. */
void calls_json(cprof_profiler *c, const char *event, const cprof_function *f,
		const cprof_call *call, cprof_call_context *context, const cprof_value *result,
		uint32_t rate);
void calls_json_tail(cprof_profiler *c, const cprof_function *f, const cprof_call *call,
		     const cprof_function *target);

#endif
