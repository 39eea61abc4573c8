/* SPDX-License-Identifier: MIT
 *
 * One step of a walk, from a frame to its caller, by what is certain: rules of
 * call frame information and the kernel's signal frames.
 */
#ifndef CP_UNWIND_STEP_H
#define CP_UNWIND_STEP_H

#include "unwind/apply.h"

/* Moves `at` to its caller, or says in `ret` why there is none, and what is
 * lacking. */
bool cp_step_certain(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret);

/* The registers that the kernel saved for the signal's return. */
bool cp_step_leave_sigframe(const struct cp_walk *walk, struct cp_walk_at *at,
			    struct cp_walk_step *ret);

/* Ends a step that moved `at` by whatever means. False: not up the stack. */
bool cp_step_finish(const struct cp_walk *walk, struct cp_walk_at *at, uint64_t old_pc,
		    uint64_t old_sp, struct cp_walk_step *ret);

/* True for the code that a signal handler returns to. */
bool cp_step_at_trampoline(const struct cp_walk *walk, uint64_t pc, bool exact);

static inline bool cp_step_end(struct cp_walk_step *ret, enum cp_unwind_end why)
{
	ret->end = why;
	return false;
}

#endif
