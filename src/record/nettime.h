/* SPDX-License-Identifier: MIT
 *
 * Times of calls less what tracing added, which is known of many where it is of none:
 * too much is subtracted from one call and too little from the next. So the most likely
 * times are added up, with how uncertain they are, and only the sum is judged: it is
 * good to a tenth, or printed as a bound. Whatever shows such a sum makes it here.
 */
#ifndef CP_RECORD_NETTIME_H
#define CP_RECORD_NETTIME_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct cp_net_time {
	uint64_t ns;
	bool at_most; /* it may be less, by more than a tenth */
};

struct cp_net_sum {
	int64_t likely_ns;
	double doubt; /* a variance */
	double slant; /* what all may have in common */
	double room; /* what each may have by itself; the sum of bounds is one */
};

/* Adds a time by the most likely one, as often as it came; `doubt` is a variance, `root` its
 * square root. Recordings may lie: a sum that is too large wraps. */
static inline void cp_net_add_rooted(struct cp_net_sum *to, int64_t likely_ns, double doubt,
				     double root, uint64_t times)
{
	to->likely_ns = (int64_t)((uint64_t)to->likely_ns + (uint64_t)likely_ns * times);
	if (doubt == 0)
		return;
	to->doubt += doubt * (double)times;
	to->slant += root / 8 * (double)times;
	to->room += 2 * root * (double)times;
}

static inline void cp_net_add(struct cp_net_sum *to, int64_t likely_ns, double doubt,
			      uint64_t times)
{
	cp_net_add_rooted(to, likely_ns, doubt, doubt != 0 ? sqrt(doubt) : 0, times);
}

void cp_net_add_sum(struct cp_net_sum *to, const struct cp_net_sum *more);

struct cp_net_time cp_net_settle(const struct cp_net_sum *sum);

#endif
