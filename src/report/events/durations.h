/* SPDX-License-Identifier: MIT
 *
 * How long calls took, each of which is known: any of them by its rank. What differs has a
 * place, not each call.
 */
#ifndef CP_REPORT_DURATIONS_H
#define CP_REPORT_DURATIONS_H

#include "base/tally.h"
#include "base/vec.h"
#include "record/nettime.h"

/* Begins as zeros. */
struct cp_durations {
	uint64_t count;
	struct cp_tally known, bound; /* until cp_durations_sort() */
	CP_VEC(struct cp_duration) items; /* from then on; the least first */
};

struct cp_duration {
	struct cp_net_time time;
	uint64_t upto; /* so many are no longer */
};

/* One, or so many alike. False without memory, both; nothing is added after the second. */
bool cp_durations_add(struct cp_durations *d, struct cp_net_time one, uint64_t times);
bool cp_durations_sort(struct cp_durations *d);
/* The one with so many before it, which is less than `count`. Of some that are alike bounds
 * come first, for what they stand for is no longer than they are. */
struct cp_net_time cp_durations_at(const struct cp_durations *d, uint64_t rank);
void cp_durations_deinit(struct cp_durations *d);

#endif
