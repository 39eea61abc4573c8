/* SPDX-License-Identifier: MIT
 *
 * Calls that were left without their exit. Private to src/engine.
 */
#ifndef CP_ENGINE_CALLS_UNWOUND_H
#define CP_ENGINE_CALLS_UNWOUND_H

#include "engine/calls/calls.h"

/* A doubt up to this part of a time is not mentioned: printed times are right to a
 * tenth. */
#define ENGINE_PLAIN_DOUBT 0.1

/* That a call was left is seen when something else of its thread happens: it may have been
 * over since what was before that, and so much of its time is uncertain. */
void engine_unwound_doubt(const cprof_session *s, const struct cp_call *call, cprof_call *ret);

#endif
