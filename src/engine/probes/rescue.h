/* SPDX-License-Identifier: MIT
 *
 * When the tracer was killed. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_RESCUE_H
#define CP_ENGINE_PROBES_RESCUE_H

#include <cprof/cprof.h>

/* The tracer is gone without having taken out its breakpoints: takes them out of all
 * processes. */
void engine_arm_restore(cprof_session *s);
/* Takes out the breakpoints that a killed tracer left in the process. */
void engine_restore(const cprof_session *s, int32_t pid);

#endif
