/* SPDX-License-Identifier: MIT
 *
 * Breakpoints that come to those an image has: see added.c. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_ADDED_H
#define CP_ENGINE_PROBES_ADDED_H

#include <stdint.h>

#include <cprof/cprof.h>

#include "engine/probes/batch.h"

/* A site that makes no events but counts. */
struct engine_counting {
	uint64_t address; /* link-time */
	uint32_t counter;
	uint16_t flags; /* CP_SITE_* */
	uint8_t size; /* of the instruction there */
	bool refused; /* set: no breakpoint can stand there */
	const uint8_t *code; /* borrowed for the call */
};

/* Places site number `site`, which has no address of its own, at a return address. */
void engine_arm_return(cprof_process *p, uint32_t site, uint64_t address);
/* Places sites that count in an image that may have others; branches are given up after
 * `max_rate` hits (0: never). An errno (ESTALE: some could not be placed, which the tracer
 * has noted in their counters), or 0; *armed_ret: how many there are. */
int engine_arm_counting(cprof_image *image, struct engine_counting *sites, size_t count,
			uint32_t max_rate, uint32_t *armed_ret);

/* The same in two steps, in a process that nothing of ran yet; the first asks the tracer for
 * nothing where there is room for the sites already. `ret` is to be freed, whatever comes of
 * it. */
struct engine_added {
	struct engine_batch b;
	size_t before; /* slots */
};
int engine_added_make(cprof_image *image, struct engine_counting *sites, size_t count,
		      uint32_t max_rate, struct engine_added *ret);
int engine_added_send(struct engine_added *added, uint32_t *armed_ret);
void engine_added_free(struct engine_added *added);

#endif
