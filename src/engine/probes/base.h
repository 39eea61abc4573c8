/* SPDX-License-Identifier: MIT
 *
 * Processes whose program uses what detours find rings by. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_BASE_H
#define CP_ENGINE_PROBES_BASE_H

#include "engine/target/state.h"

/* Is the base of gs the program's in what is mapped now? No detours then. */
bool engine_base_used(const cprof_process *p);

#endif
