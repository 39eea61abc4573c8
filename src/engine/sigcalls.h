/* SPDX-License-Identifier: MIT
 *
 * System calls about signals in a C library (sigcalls.c). Private to src/engine.
 */
#ifndef CP_ENGINE_SIGCALLS_H
#define CP_ENGINE_SIGCALLS_H

#include <cprof/profiler.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of sites, or of traced functions. */
struct engine_numbers {
	uint32_t *items;
	size_t count, capacity;
};

struct engine_sigcalls {
	bool sought;
	struct engine_numbers sites;
};

/* NULL: none. The watches of the image come first. */
const struct engine_numbers *engine_sigcalls_plan(const cprof_image *image);

#endif
