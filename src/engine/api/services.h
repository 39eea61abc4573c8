/* SPDX-License-Identifier: MIT
 *
 * For signal handlers, and at the end. Private to src/engine.
 */
#ifndef CP_ENGINE_API_SERVICES_H
#define CP_ENGINE_API_SERVICES_H

#include <cprof/cprof.h>

#include "engine/target/profilers.h"

/* For signal handlers. [async] */
struct engine_calling engine_calling_now(const cprof_session *session);
/* The tracer gave us up, for nothing was read from it for too long. */
bool engine_was_abandoned(const cprof_session *session);
/* Are there events that nobody has read yet? *read_ret grows with what was. */
bool engine_has_unread(const cprof_session *session, uint64_t *read_ret);
/* Do events come? Before that, there is nothing but init. */
bool engine_has_started(const cprof_session *session);
/* Has the tracer leave, whatever we do from now on; false: there was nothing yet. */
bool engine_let_go_now(cprof_session *session);
/* Counters of all profilers. */
void engine_counters_free(cprof_session *session);

#endif
