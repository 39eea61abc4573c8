/* SPDX-License-Identifier: MIT
 *
 * Exact counts without stops: detours that count (arch/detour_count.h) where blocks begin and
 * at conditional jumps. Private to src/engine.
 *
 *     an object    points ─► windows (detour/points.h), once
 *     an image     code, in what its process leaves free ─► jumps; the rest has breakpoints
 *                  numbers in memory that the program and we have ─► counters
 *
 * What stands in an image are its `jumps` with ENGINE_COUNTED: a window gives way to
 * breakpoints when something else has to stand there, or an instruction in it failed.
 */
#ifndef CP_ENGINE_FAMILIES_COUNTING_H
#define CP_ENGINE_FAMILIES_COUNTING_H

#include <cprof/cprof.h>

struct engine_cover;
struct engine_counted;

/* Plans the windows of an object, if its counts are exact and nobody wants traps. */
void engine_counting_plan(cprof_session *s, cprof_assembly *a, struct engine_cover *cover);
void engine_counting_free(struct engine_cover *cover);
/* Slots that windows will take. */
uint32_t engine_counting_slots(const struct engine_cover *cover);

/* Makes code in the image's process for windows with nothing else in them; nothing leads
 * there yet. NULL: there is none. */
struct engine_counted *engine_counting_make(cprof_image *image, struct engine_cover *cover);
/* Does a window count what the site with that counter would? */
bool engine_counted_has(const struct engine_counted *counted, uint32_t counter);
/* Places the jumps; an errno: breakpoints have to come in their place. */
int engine_counted_place(struct engine_counted *counted, uint64_t *sites);
void engine_counted_free(struct engine_counted *counted);

/* Breakpoints in the place of windows that have a byte of a link-time range. */
void engine_counting_yield(cprof_image *image, uint64_t start, uint64_t size);
/* The same everywhere in the process, if the instruction that failed at a link-time address is
 * one that is counted: it must not be again when a handler goes back to it. Who does is told
 * from who comes there anew by what it hit meanwhile, so all has to be hits. */
void engine_counting_failed(cprof_image *image, uint64_t address);
/* Takes over what was counted since. */
void engine_counting_collect(const cprof_session *s);

#endif
