/* SPDX-License-Identifier: MIT
 *
 * What the calls of one function by one caller add up to: for the recorder that keeps
 * nothing else of them, and for tables made of events.
 */
#ifndef CP_RECORD_CALLSUM_H
#define CP_RECORD_CALLSUM_H

#include "base/spread.h"
#include "record/nettime.h"
#include "record/spans.h"

/* Begins as zeros. */
struct cp_call_sum {
	uint64_t calls;
	uint64_t inherited; /* by forked processes: besides, not counted in what follows */
	uint64_t unwound, tail_calls, open; /* of them: how they ended */
	struct cp_net_sum whole, self; /* self: not in traced calls that they made */
	uint64_t overhead_ns; /* what tracing added */
	uint64_t cpu_ns; /* as `whole`; where it was asked for */
	bool bounds; /* some of these times are */
	/* Durations of calls that are over: the least and the most; all of them, those
	 * that are known and those of which only a bound is. */
	struct cp_net_time least, most;
	struct cp_spread known, bound;
};

/* Adds a call that is over, or so many alike. `whole`: its time counts; that of a call inside
 * another one of its function is part of that one's. False without memory. */
bool cp_call_sum_add(struct cp_call_sum *to, const struct cp_span *span, bool whole,
		     uint64_t times);
/* The same for what others add up to. */
bool cp_call_sum_merge(struct cp_call_sum *to, const struct cp_call_sum *more, bool whole);
void cp_call_sum_deinit(struct cp_call_sum *sum);

/* Calls that are over. */
static inline uint64_t cp_call_sum_over(const struct cp_call_sum *sum)
{
	return sum->known.total + sum->bound.total;
}

/* The duration that this share of them does not exceed, to the width of a bucket; the
 * least and the most exactly. 0 without any. */
struct cp_net_time cp_call_sum_quantile(const struct cp_call_sum *sum, double share);

/* The nearest rank, from 0, of `share` among `count` in their order: at least that share
 * is not behind it. */
uint64_t cp_call_rank(uint64_t count, double share);

#endif
