/* SPDX-License-Identifier: MIT
 *
 * Breakpoints are not the program's. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_HIDE_H
#define CP_ENGINE_PROBES_HIDE_H

#include <cprof/cprof.h>

/* Puts the original bytes into what was read of the process at `address`. */
void engine_hide_breakpoints(const cprof_process *p, uint64_t address, uint8_t *bytes, size_t size);

/* Addresses of a process where no code is, as long as `made` is its `texts_made`. */
struct engine_bare {
	uint64_t start, end;
	uint32_t made;
};

/* Those around `address`; none, if code is there. */
struct engine_bare engine_bare_around(const cprof_process *p, uint64_t address);

#endif
