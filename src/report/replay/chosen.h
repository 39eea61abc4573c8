/* SPDX-License-Identifier: MIT
 *
 * Which calls of a recording a replay shows.
 */
#ifndef CP_REPORT_REPLAY_CHOSEN_H
#define CP_REPORT_REPLAY_CHOSEN_H

#include "report/profile/profile.h"

struct cp_replay_options {
	/* Chooses the functions that are shown; NULL: all. */
	bool (*wanted)(void *ctx, const struct cp_profile *p, const struct cp_function *f);
	void *wanted_ctx;
	uint64_t least_ns; /* shorter calls are not shown */
};

struct cp_record_call;
struct cp_span;

/* The choice of calls that are shown. */
struct cp_chosen {
	const struct cp_profile *profile;
	const struct cp_replay_options *options;
	uint8_t *functions; /* 0: not asked yet, 1: no, 2: yes */
	uint8_t *spans; /* a bit by id: long enough; NULL: all are */
	size_t bytes;
};
CP_ERROR cp_chosen_init(struct cp_chosen *c, const struct cp_profile *p,
			const struct cp_replay_options *o);
void cp_chosen_deinit(struct cp_chosen *c);
bool cp_chosen_function(struct cp_chosen *c, uint32_t function);
/* An event that is no call: with a least duration, only one that lasts so long. */
bool cp_chosen_moment(struct cp_chosen *c, uint32_t function, const struct cp_record_call *call);
bool cp_chosen_span(struct cp_chosen *c, const struct cp_span *span);

#endif
