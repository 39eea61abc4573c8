/* SPDX-License-Identifier: MIT
 *
 * Breakpoints of images into processes. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_ARM_H
#define CP_ENGINE_PROBES_ARM_H

#include <cprof/cprof.h>

struct engine_numbers;

/* A site that makes no events but counts. */
struct engine_counting {
	uint64_t address; /* link-time */
	uint32_t counter;
	uint32_t max_rate; /* hits of a branch in a process before it is given up; 0: any */
	uint16_t flags; /* CP_SITE_* */
	uint8_t size; /* of the instruction there */
	const uint8_t *code;
};

/* Breakpoints follow the mappings that were just read: what is new gets its own, what
 * is gone is forgotten. */
void engine_arm_process(cprof_process *p);
/* Reads the mappings of all processes, and arms what is new. */
void engine_arm_all(cprof_session *s);
/* Does so for those where the tracer could not do it at the time. */
void engine_arm_again(cprof_session *s);
/* Functions of an image that has breakpoints already: places `changed` ones, or `all`
 * of them when they don't fit beside the others. */
void engine_arm_changed(cprof_image *image, const struct engine_numbers *changed,
			const struct engine_numbers *all);
/* Takes out the breakpoints that a killed tracer left in the process. */
void engine_restore(int32_t pid);
/* A forked process has the breakpoints of its parent: they are noted. */
void engine_arm_inherit(cprof_process *p, const cprof_process *parent);
/* Places the site `site`, of no address of its own, at a return address. */
void engine_arm_return(cprof_process *p, uint32_t site, uint64_t address);
/* Places a site that counts in an image that has breakpoints; an errno, or 0. */
int engine_arm_counting(cprof_image *image, const struct engine_counting *counting);

#endif
