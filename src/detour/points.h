/* SPDX-License-Identifier: MIT
 *
 * Windows of points anywhere in a function, for detours that count: where its blocks begin,
 * and its conditional jumps. Pure.
 *
 *     block    cmp  $3,%eax  ┐ one window: the block's point before `cmp`, the jump's on
 *              jle  X        ┘ its ways; of a longer block, one at each end
 *     next     ...             when nothing else leads here, it may be in that window, too
 *
 * A block without room for one, to which nothing leads but one way of a jump, is counted on
 * that, in the jump's window.
 *
 * Each point has a window or not, whatever others have: one without has a breakpoint, so
 * that must not be where another one's window replaces bytes.
 */
#ifndef CP_DETOUR_POINTS_H
#define CP_DETOUR_POINTS_H

#include "detour/plan.h"

struct cp_detour_point {
	uint64_t address; /* link-time */
	uint32_t number; /* the caller's; of a jump: of the way that it takes, and the next one */
	bool jump; /* a conditional one, counted on both ways */
	/* Of a block that is reached in no other way: CP_DETOUR_TAKEN or PASSED, by the jump at
	 * `from`; else ANY_WAY. */
	uint8_t way;
	uint64_t from;
};

struct cp_detour_windows {
	CP_VEC(struct cp_detour_window) items; /* as they were made */
};

/* Adds windows for points of a function, which are in ascending order; `sites` are those of
 * cp_probe_plan_function(). Bytes are taken in the text. */
CP_ERROR cp_detour_plan_points(struct cp_detour_planner *planner,
			       const struct cp_probe_function *function,
			       const struct cp_probe_plan *sites,
			       const struct cp_detour_point *points, size_t count,
			       struct cp_detour_windows *ret);

/* Does the window replace the byte at `address`, beside those of instructions that begin it
 * and are moved? */
bool cp_detour_window_replaces(const struct cp_detour_window *window, uint64_t address);
/* Counts of its points, in the numbers that `at` says. */
void cp_detour_of_points(const struct cp_detour_window *window,
			 uint32_t (*at)(void *ctx, uint32_t number), void *ctx,
			 struct cp_detour *ret);

#endif
