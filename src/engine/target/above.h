/* SPDX-License-Identifier: MIT */
#ifndef CP_ENGINE_TARGET_ABOVE_H
#define CP_ENGINE_TARGET_ABOVE_H

#include <cprof/cprof.h>
#include <stddef.h>
#include <stdint.h>

/* What this floor has to tell those above. */
struct engine_above {
	void (*mapped)(cprof_process *p); /* the process's mappings were read */
	/* `bytes` were read of the process's memory at `address`: puts back what
	 * breakpoints replaced. */
	void (*read)(const cprof_process *p, uint64_t address, uint8_t *bytes, size_t size);
};

#endif
