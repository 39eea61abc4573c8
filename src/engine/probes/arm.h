/* SPDX-License-Identifier: MIT
 *
 * Breakpoints of images into processes. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_ARM_H
#define CP_ENGINE_PROBES_ARM_H

#include <cprof/cprof.h>

struct cp_event_gone;
struct engine_numbers;

/* Makes breakpoints follow the mappings that were just read: new images get theirs,
 * those of images that are gone are forgotten. */
void engine_arm_process(cprof_process *p);
/* Reads the mappings of all processes, and arms new images. */
void engine_arm_all(cprof_session *s);
/* Does so for processes in which the tracer could not place breakpoints at the time. */
void engine_arm_again(cprof_session *s);
/* Are there any? */
bool engine_arm_waits(const cprof_session *s);
/* Places the `changed` functions of an image that has breakpoints already, or `all` of
 * them when those don't fit beside the others. */
void engine_arm_changed(cprof_image *image, const struct engine_numbers *changed,
			const struct engine_numbers *all);
/* Breakpoints are gone with what was written there: they are placed anew. */
void engine_arm_gone(cprof_process *p, const struct cp_event_gone *e);
/* The process uses what detours find rings by: breakpoints come in their place. */
void engine_arm_without_detours(cprof_process *p);

#endif
