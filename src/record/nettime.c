/* SPDX-License-Identifier: MIT */
#include "record/nettime.h"

void cp_net_add_sum(struct cp_net_sum *to, const struct cp_net_sum *more)
{
	to->likely_ns = (int64_t)((uint64_t)to->likely_ns + (uint64_t)more->likely_ns);
	to->room += more->room;
}

struct cp_net_time cp_net_settle(const struct cp_net_sum *sum)
{
	double most = (double)sum->likely_ns + sum->room;
	double likely = sum->likely_ns > 0 ? (double)sum->likely_ns : 0;
	struct cp_net_time time = { .at_most = 2 * sum->room > likely / 10 };

	if (most > 0)
		time.ns = most < 1.8e19 ? (uint64_t)most : UINT64_MAX;
	return time;
}
