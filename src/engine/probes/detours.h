/* SPDX-License-Identifier: MIT
 *
 * Detours in a process: code near its images. Private to src/engine.
 */
#ifndef CP_ENGINE_PROBES_DETOURS_H
#define CP_ENGINE_PROBES_DETOURS_H

#include "base/vec.h"
#include "engine/probes/rings.h"
#include "engine/probes/sites.h"

/* Where something of a detour stands in an image. */
struct engine_detour_site {
	uint64_t address; /* run-time */
	uint64_t to; /* where a thread goes on that comes to it; 0: nobody does */
	uint32_t flags; /* CP_SITE_WINDOW, _LANDING, _HOP, _RING */
	uint32_t traced; /* its function */
	uint8_t size; /* of the instruction there */
	bool branches; /* it is a conditional jump, and `to` is for who jumps */
	struct cp_window window; /* of WINDOW, HOP */
};

struct engine_detour_sites {
	CP_VEC(struct engine_detour_site) items; /* those of a function one after the other */
};

/* Puts the code of detours for those functions of `numbers` that suit near the image, where
 * nothing leads to it yet, and gives up those for which that can't be, or that are not
 * alone in their windows: `all` are the functions that are traced there, `own` sites of
 * families' own. An errno: none of `numbers` has any; EAGAIN: they may have some later, if
 * they are not given up. */
int engine_detours_make(cprof_image *image, const struct engine_numbers *numbers,
			const struct engine_numbers *all, const struct engine_numbers *own,
			struct engine_detour_sites *ret);
/* They have breakpoints, here and in all processes to come. */
void engine_detours_give_up(const cprof_session *s, const struct engine_numbers *numbers);
/* Has the function a detour in the image? */
bool engine_detours_has(const cprof_image *image, uint32_t number);
/* The image of the process that has it, or had it last; NULL: none. */
cprof_image *engine_detours_image(const cprof_process *p, uint32_t number);
/* The same sites once more, of a function whose detours were taken out since: what they lead
 * to is still there. False: it has none. */
bool engine_detours_again(const cprof_image *image, uint32_t number,
			  struct engine_detour_sites *ret);
/* What was made could not be placed, or is gone with the image. */
void engine_detours_unmake(cprof_image *image);
/* An image has the detours that the other one has, in a process that was forked. */
void engine_detours_copy(cprof_image *image, const cprof_image *from);
/* The function whose jump is at a link-time address of the image, or ENGINE_NO_FUNCTION. */
uint32_t engine_detours_at(const cprof_image *image, uint64_t address);
/* Takes the function's detours out, in all processes: it has breakpoints from now on,
 * which the caller places in `image`; elsewhere they are still to be. */
void engine_detours_yield(const cprof_image *image, uint32_t number);

#endif
