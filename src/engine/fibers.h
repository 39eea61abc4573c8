/* SPDX-License-Identifier: MIT
 *
 * Switches of fibers by the C library. Private to src/engine.
 */
#ifndef CP_ENGINE_FIBERS_H
#define CP_ENGINE_FIBERS_H

#include "engine/calls.h"

/* At setcontext(), or swapcontext(), whose second argument counts. */
struct cp_capture_list engine_fibers_capture(bool swap);
void engine_on_context(cprof_session *s, const struct engine_hit *hit);

#endif
