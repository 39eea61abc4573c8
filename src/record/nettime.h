/* SPDX-License-Identifier: MIT
 *
 * Times of calls less what tracing added. Of each call it is known to a tenth, or what is
 * shown is a bound: what is certainly cprof's is subtracted, and no more. A sum is that of
 * what is shown of its parts, so that no mean is below the least of what it is the mean of,
 * and no part above its whole; and it is a bound where its parts together may be less by
 * more than a tenth. (It was once that of the most likely times, as if what is wrong with them
 * came out even. On a busy machine it does not: it has a reason that all have in common.)
 * Whatever shows such a sum makes it here.
 */
#ifndef CP_RECORD_NETTIME_H
#define CP_RECORD_NETTIME_H

#include <stdbool.h>
#include <stdint.h>

struct cp_net_time {
	uint64_t ns;
	bool at_most; /* it may be less, by more than a tenth */
};

struct cp_net_sum {
	int64_t likely_ns;
	double room; /* from there to what is shown, and as far the other way */
};

/* Adds a time by the most likely one, and how much more or less it may be; as often as it
 * came. Recordings may lie: a sum that is too large wraps. */
static inline void cp_net_add(struct cp_net_sum *to, int64_t likely_ns, uint64_t room_ns,
			      uint64_t times)
{
	to->likely_ns = (int64_t)((uint64_t)to->likely_ns + (uint64_t)likely_ns * times);
	to->room += (double)room_ns * (double)times;
}

void cp_net_add_sum(struct cp_net_sum *to, const struct cp_net_sum *more);

struct cp_net_time cp_net_settle(const struct cp_net_sum *sum);

#endif
