/* SPDX-License-Identifier: MIT
 *
 * The windows of a function: for its entry and each exit, instructions that a jump
 * can take the place of. Pure: works on a file without a process.
 *
 *     entry   instructions from the first on (behind endbr64), 5 bytes or more
 *     exits   5 bytes or more that end with the `ret`, or with the jump to elsewhere;
 *             padding behind may be used, what is before is moved as far as needed
 *             jmp X, jcc X of 32 bits: the displacement is changed, nothing moves
 *     where 5 bytes can't be had, 2 for a hop to padding near by, or to a host: other
 *             instructions that move away for two jumps, their own and the hop's
 *     where not even that, a pun: one byte makes a jump of it whose displacement are
 *             the 4 bytes behind, which stay as they are, or have another window's jump
 *             in them: the next function's entry, another exit (space.h). Its target may
 *             be anywhere
 *
 * Nothing that may be jumped to is in the middle of a window, and no two windows
 * share a byte otherwise. Entry and exit of a small function may be in one window; where both
 * are at the same instruction (a function that is a single jump), that is one record.
 */
#ifndef CP_DETOUR_PLAN_H
#define CP_DETOUR_PLAN_H

#include "detour/window.h"
#include "probe/code.h"

enum cp_detour_why {
	CP_DETOUR_FAST, /* entry and every exit have a window */
	CP_DETOUR_WHY_SITES, /* the probe's plan has no sites for all of them */
	CP_DETOUR_WHY_COMPUTED, /* a jump may lead into any window */
	CP_DETOUR_WHY_ENTRY_SHORT, /* what there is has no room for a jump */
	CP_DETOUR_WHY_ENTRY_LEADS, /* something leads into where it would stand */
	CP_DETOUR_WHY_ENTRY_FIXED, /* an instruction that can't be moved */
	CP_DETOUR_WHY_EXIT_SHORT,
	CP_DETOUR_WHY_EXIT_LEADS,
	CP_DETOUR_WHY_EXIT_FIXED,
	CP_DETOUR_WHY_TAKEN, /* another function's window is there */
	CP_DETOUR_WHY_FAR, /* the code would be out of reach (space.h) */
	CP_DETOUR_WHYS,
};
/* For people: "fast", or why not. */
const char *cp_detour_why_text(enum cp_detour_why why);

struct cp_detour_plan {
	enum cp_detour_why why;
	uint64_t where; /* the site that it is about; 0: none */
	CP_VEC(struct cp_detour_window) windows; /* none unless FAST; by address */
};

/* Is the frame gone at `pc`, so that sp is where the return address is? That makes a
 * computed jump one to another function. */
struct cp_detour_frames {
	bool (*gone)(void *ctx, uint64_t pc);
	void *ctx;
};

struct cp_detour_planner {
	struct cp_detour_text *text; /* borrowed */
	const struct cp_probe_functions *functions; /* borrowed */
	struct cp_detour_frames frames; /* gone NULL: not known */
	struct cp_code code; /* scratch */
	uint8_t *known; /* by function: whether hosts may be in it; owned, NULL at first */
};
void cp_detour_planner_deinit(struct cp_detour_planner *planner);

/* The windows of a function with these sites (cp_probe_plan_function()); bytes of
 * those that it gets are taken in the text. Clears and refills *ret. */
CP_ERROR cp_detour_plan_function(struct cp_detour_planner *planner,
				 const struct cp_probe_function *function,
				 const struct cp_probe_plan *sites, struct cp_detour_plan *ret);
/* The bytes are free again. */
void cp_detour_plan_release(struct cp_detour_text *text, const struct cp_detour_plan *plan);

/* For windows anywhere in a function: makes leads of all that its computed jumps may lead to.
 * *known_ret: that is known. */
CP_ERROR cp_detour_plan_leads(struct cp_detour_planner *planner,
			      const struct cp_probe_function *function,
			      const struct cp_probe_plan *sites, bool *known_ret);
/* Bytes that the window replaces, not only those of instructions that move, are taken or
 * free again. */
void cp_detour_plan_take(struct cp_detour_text *text, const struct cp_detour_window *window,
			 bool taken);
/* Room for a jump is used as far as one with prefixes goes, no more. */
void cp_detour_plan_trim(struct cp_detour_window *window);
void cp_detour_plan_free(struct cp_detour_plan *plan);

#endif
