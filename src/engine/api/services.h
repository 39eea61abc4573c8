/* SPDX-License-Identifier: MIT
 *
 * For signal handlers, and at the end. Private to src/engine.
 */
#ifndef CP_ENGINE_API_SERVICES_H
#define CP_ENGINE_API_SERVICES_H

#include <cprof/cprof.h>

#include "engine/target/lives.h"
#include "engine/target/profilers.h"

/* Which profiler's code runs. For signal handlers. [async] */
struct engine_calling engine_calling_now(const cprof_session *session);
/* Has the tracer given the controller up, since it read nothing from the ring for too
 * long? */
bool engine_was_abandoned(const cprof_session *session);
/* Are there events that were not read yet? *read_ret grows with those that were. */
bool engine_has_unread(const cprof_session *session, uint64_t *read_ret);
/* Has the session begun to deliver events? Before, only init functions run. */
bool engine_has_started(const cprof_session *session);
/* The program that is launched is to find SIGCHLD ignored, as cprof did: that is inherited, but
 * cprof has a handler of its own by then. */
void engine_ignore_children(cprof_session *session);
/* Who is told how far preparing is (engine/target/lives.h); NULL: nobody. */
void engine_set_progress(cprof_session *session, engine_progress_fn tell, void *data);
/* Was the target's own program seen? Of a launched one: was it executed, and that told of? */
bool engine_was_loaded(const cprof_session *session);
/* Has the tracer leave, whatever the controller does from now on; false: it traced
 * nothing yet. */
bool engine_let_go_now(cprof_session *session);
/* Frees the counters of all profilers. */
void engine_counters_free(cprof_session *session);

#endif
