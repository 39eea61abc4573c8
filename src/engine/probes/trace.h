/* SPDX-License-Identifier: MIT
 *
 * Settings of calls. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_TRACE_H
#define CP_ENGINE_PROBES_TRACE_H

#include <cprof/cprof.h>

struct engine_calls;

/* The session's calls, made when they aren't there; NULL without memory. */
struct engine_calls *engine_calls_get(cprof_session *s);
void engine_calls_free(cprof_session *s);
/* Does anybody want calls? */
bool engine_calls_wanted(const cprof_session *s);
/* Does anything that is wanted take breakpoints? */
bool engine_probes_wanted(const cprof_session *s);
struct cp_buf;
/* Appends "did you mean ...?" of all that was looked through, by one entry of a SPEC;
 * false: nothing is near. */
bool engine_plan_near(const cprof_session *s, const char *entry, struct cp_buf *out);
/* At the end: warns of filters that chose nothing. */
void engine_calls_warn(cprof_session *s);
/* How far values of calls go: as was said, and as the condition needs. */
struct cp_signature;
struct cp_value_limits engine_value_limits(const cprof_session *s);
/* The same of a function that is known, which may call members of its object by name. */
struct cp_value_limits engine_value_limits_in(const cprof_session *s,
					      struct cp_signature *signature);

#endif
