/* SPDX-License-Identifier: MIT
 *
 * One window in the making.
 */
#ifndef CP_DETOUR_WINDOW_H
#define CP_DETOUR_WINDOW_H

#include "detour/plan.h"

enum cp_window_end {
	CP_WINDOW_OK,
	CP_WINDOW_SHORT,
	CP_WINDOW_LEADS,
	CP_WINDOW_FIXED,
	CP_WINDOW_TAKEN
};

/* No window has any of these bytes yet. */
bool cp_window_is_free(const struct cp_detour_text *text, uint64_t at, size_t size);

/* From `address` on, of `want` bytes or more. */
enum cp_window_end cp_window_forward(const struct cp_detour_text *text, uint64_t address,
				     size_t want, struct cp_detour_window *ret);
/* Up to the instruction at `last`, which leaves the function. */
enum cp_window_end cp_window_backward(const struct cp_detour_text *text, uint64_t last, size_t want,
				      struct cp_detour_window *ret);
/* From `address` up to the instruction at `last`. */
enum cp_window_end cp_window_over(const struct cp_detour_text *text, uint64_t address,
				  uint64_t last, size_t want, struct cp_detour_window *ret);
/* Padding for the jump that a hop leads to. */
bool cp_window_find_hop(const struct cp_detour_text *text, struct cp_detour_window *window);

/* The one instruction at `address`, of which a jump is made by its first byte. */
bool cp_window_pun(const struct cp_detour_text *text, uint64_t address,
		   struct cp_detour_window *ret);

#endif
