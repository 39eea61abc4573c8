/* SPDX-License-Identifier: MIT
 *
 * The tracer's events, handed to whom they concern. Private to src/engine.
 */
#ifndef CP_ENGINE_SESSION_DELIVERY_H
#define CP_ENGINE_SESSION_DELIVERY_H

#include <cprof/cprof.h>

struct cp_event;

/* What an event says; what detours recorded before it is told already, or does not matter. */
void engine_dispatch(cprof_session *s, const struct cp_event *e);
/* The next event of the ring, after what was recorded before it. It is released: whoever waits
 * for that goes on. */
void engine_deliver(cprof_session *s, const struct cp_event *e);

#endif
