/* SPDX-License-Identifier: MIT
 *
 * Which functions of a recording a replay shows; which of their calls says the profile.
 */
#ifndef CP_REPORT_REPLAY_CHOSEN_H
#define CP_REPORT_REPLAY_CHOSEN_H

#include "report/profile/profile.h"

struct cp_replay_options {
	/* Chooses the functions that are shown; NULL: all. */
	bool (*wanted)(void *ctx, const struct cp_profile *p, const struct cp_function *f);
	void *wanted_ctx;
	const struct cp_fields *fields; /* before each line; NULL: its time and thread */
	bool flat; /* a line for each event, not indented */
	bool by_thread; /* each thread in a column of its own */
};

struct cp_span;
struct cp_fields; /* fields.h */

/* The choice of calls that are shown. */
struct cp_chosen {
	const struct cp_profile *profile;
	const struct cp_replay_options *options;
	size_t count; /* of `functions` */
	uint8_t *functions; /* 0: not asked yet, 1: no, 2: yes */
};
CP_ERROR cp_chosen_init(struct cp_chosen *c, const struct cp_profile *p,
			const struct cp_replay_options *o);
/* The profile may have more functions than before. */
CP_ERROR cp_chosen_grow(struct cp_chosen *c);
void cp_chosen_deinit(struct cp_chosen *c);
bool cp_chosen_function(struct cp_chosen *c, uint32_t function);
bool cp_chosen_span(struct cp_chosen *c, const struct cp_span *span);

#endif
