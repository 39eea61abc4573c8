/* SPDX-License-Identifier: MIT
 *
 * Breakpoints are not the program's. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_HIDE_H
#define CP_ENGINE_PROBES_HIDE_H

#include <cprof/cprof.h>

/* Puts the original bytes into what was read of the process at `address`. */
void engine_hide_breakpoints(const cprof_process *p, uint64_t address, uint8_t *bytes, size_t size);

#endif
