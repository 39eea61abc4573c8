/* SPDX-License-Identifier: MIT
 *
 * Which single calls of a recording count (struct cp_call_choice), found out once, in a
 * walk through all of them, before anything else is made of the profile.
 *
 *     --under=b   --not-under=b   --paths-to=c   --levels=2
 *     .           a               a              a
 *       b         .               . b            . b
 *         c       .               .   c          .   .
 *       d         . d             .   .          . d
 *
 * A function that a call ends by tail calling is called by it. Whether a call leads to
 * another is known when it is over, and how long it was as well; so there is a bit for
 * each call, which later walks (spans.h) ask for.
 */
#ifndef CP_REPORT_CHOICE_H
#define CP_REPORT_CHOICE_H

#include "report/profile/profile.h"

struct cp_choice {
	uint8_t *calls; /* a bit by id */
	uint64_t last_id;
	uint64_t least_ns; /* events that are no calls have to last as long, too */
	bool has_outside; /* what happens outside of all calls counts */
	bool met_under, met_not_under, met_paths_to; /* there are calls of such functions */
	/* The event of memory that a walk tells right now counts. */
	bool moment_counts;
};

/* What the filter of `p` says; *ret is NULL where all calls count. An error where the
 * recording has no single calls that could be chosen. `p` has its locations. */
CP_ERROR cp_choice_create(const struct cp_profile *p, struct cp_choice **ret);
void cp_choice_destroy(struct cp_choice *c);

static inline bool cp_choice_has(const struct cp_choice *c, uint64_t id)
{
	return id <= c->last_id && c->calls[id / 8] >> id % 8 & 1;
}

#endif
