/* SPDX-License-Identifier: MIT
 *
 * Memory of a process. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_MEMORY_H
#define CP_ENGINE_TARGET_MEMORY_H

#include <cprof/cprof.h>

/* Opens p->memory, by the descriptor that the tracer hands over; false: the process is
 * gone. */
bool engine_open_memory(cprof_process *p);

#endif
