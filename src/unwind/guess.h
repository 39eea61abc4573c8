/* SPDX-License-Identifier: MIT
 *
 * Callers where the rules end: see guess.c.
 */
#ifndef CP_UNWIND_GUESS_H
#define CP_UNWIND_GUESS_H

#include "unwind/apply.h"

/* The caller of a frame that no rule exists for. */
bool cp_guess_caller(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret);
/* The caller of a frame whose rule needs `reg`, which is not known. */
bool cp_guess_register(const struct cp_walk *walk, struct cp_walk_at *at, unsigned reg,
		       struct cp_walk_step *ret);
/* The caller by the frame pointer alone. */
bool cp_guess_by_fp(const struct cp_walk *walk, struct cp_walk_at *at, struct cp_walk_step *ret);

#endif
