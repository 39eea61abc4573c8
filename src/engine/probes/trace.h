/* SPDX-License-Identifier: MIT
 *
 * Settings of calls. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_TRACE_H
#define CP_ENGINE_PROBES_TRACE_H

#include <cprof/cprof.h>

struct engine_calls;

/* Settings */
struct engine_calls *engine_calls_get(cprof_session *s); /* made when it isn't there; or NULL */
void engine_calls_free(cprof_session *s);
bool engine_calls_wanted(const cprof_session *s); /* breakpoints, for whatever: */
bool engine_probes_wanted(const cprof_session *s);
/* At the end: what can be told about filters that chose nothing. */
void engine_calls_warn(cprof_session *s);

#endif
