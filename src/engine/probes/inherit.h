/* SPDX-License-Identifier: MIT
 *
 * Breakpoints of processes that were forked. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_INHERIT_H
#define CP_ENGINE_PROBES_INHERIT_H

#include <cprof/cprof.h>

/* Notes that a forked process has the breakpoints of its parent. */
void engine_arm_inherit(cprof_process *p, const cprof_process *parent);

#endif
