/* SPDX-License-Identifier: MIT
 *
 * Profilers. Private to src/engine.
 */
#ifndef CP_ENGINE_API_PROFILER_H
#define CP_ENGINE_API_PROFILER_H

#include <cprof/cprof.h>

/* The cprof_profiler that profiler `name` was created with; NULL: it is not loaded. */
cprof_profiler *engine_profiler_named(const cprof_session *session, const char *name);
/* How the session samples now. */
void engine_sampling(const cprof_session *session, cprof_sample_mode *mode_ret, uint32_t *hz_ret);
/* Tells the tracer how samples are wanted. */
void engine_send_sampling(cprof_session *session);

#endif
