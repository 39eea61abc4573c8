/* SPDX-License-Identifier: MIT
 *
 * What the tracer has accounted for by a stop, and the calls that began since the one before.
 */
#ifndef CP_ENGINE_CALLS_ACCOUNT_H
#define CP_ENGINE_CALLS_ACCOUNT_H

#include "engine/target/state.h"
#include "link/sites.h"

/* The thread has stopped, which the event tells of. */
void engine_account(cprof_thread *t, const struct cp_event_hit *e);

#endif
