/* SPDX-License-Identifier: MIT
 *
 * Memory of a process. Private to src/engine.
 */
#ifndef CP_ENGINE_TARGET_MEMORY_H
#define CP_ENGINE_TARGET_MEMORY_H

#include <cprof/cprof.h>

/* A process that is new: p->memory reads nothing until it is opened, and p->code what is in
 * the files of the images. */
void engine_memory_begin(cprof_process *p);
/* Opens p->memory, by the descriptor that the tracer hands over; false: the process is
 * gone. */
bool engine_open_memory(cprof_process *p);

#endif
