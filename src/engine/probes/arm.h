/* SPDX-License-Identifier: MIT
 *
 * Breakpoints of images into processes. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_ARM_H
#define CP_ENGINE_PROBES_ARM_H

#include <cprof/cprof.h>

struct cp_event_gone;
struct engine_numbers;

/* A site that makes no events but counts. */
struct engine_counting {
	uint64_t address; /* link-time */
	uint32_t counter;
	uint16_t flags; /* CP_SITE_* */
	uint8_t size; /* of the instruction there */
	bool refused; /* set: no breakpoint can stand there */
	const uint8_t *code; /* borrowed for the call */
};

/* Makes breakpoints follow the mappings that were just read: new images get theirs,
 * those of images that are gone are forgotten. */
void engine_arm_process(cprof_process *p);
/* Reads the mappings of all processes, and arms new images. */
void engine_arm_all(cprof_session *s);
/* Does so for processes in which the tracer could not place breakpoints at the time. */
void engine_arm_again(cprof_session *s);
/* Places the `changed` functions of an image that has breakpoints already, or `all` of
 * them when those don't fit beside the others. */
void engine_arm_changed(cprof_image *image, const struct engine_numbers *changed,
			const struct engine_numbers *all);
/* Breakpoints are gone with what was written there: they are placed anew. */
void engine_arm_gone(cprof_process *p, const struct cp_event_gone *e);
/* The process uses what detours find rings by: breakpoints come in their place. */
void engine_arm_without_detours(cprof_process *p);
/* Notes that a forked process has the breakpoints of its parent. */
void engine_arm_inherit(cprof_process *p, const cprof_process *parent);
/* Places site number `site`, which has no address of its own, at a return address. */
void engine_arm_return(cprof_process *p, uint32_t site, uint64_t address);
/* Places sites that count in an image that may have others; branches are given up after
 * `max_rate` hits (0: never). An errno (ESTALE: some could not be placed, which the tracer
 * has noted in their counters), or 0; *armed_ret: how many there are. */
int engine_arm_counting(cprof_image *image, struct engine_counting *sites, size_t count,
			uint32_t max_rate, uint32_t *armed_ret);

#endif
