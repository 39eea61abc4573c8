/* SPDX-License-Identifier: MIT */
#include "record/nettime.h"

#include <math.h>

void cp_net_add_sum(struct cp_net_sum *to, const struct cp_net_sum *more)
{
	to->likely_ns = (int64_t)((uint64_t)to->likely_ns + (uint64_t)more->likely_ns);
	to->doubt += more->doubt;
	to->slant += more->slant;
	to->room += more->room;
}

struct cp_net_time cp_net_settle(const struct cp_net_sum *sum)
{
	double likely = sum->likely_ns > 0 ? (double)sum->likely_ns : 0;
	double doubt = fmin(2 * (sqrt(sum->doubt) + sum->slant), sum->room);
	struct cp_net_time time = { .at_most = doubt > likely / 10 };

	likely += time.at_most ? doubt : 0;
	time.ns = likely < 1.8e19 ? (uint64_t)likely : UINT64_MAX;
	return time;
}
