/* SPDX-License-Identifier: MIT */
#include "record/callsum.h"

static inline bool add_duration(struct cp_call_sum *to, const struct cp_span *span, uint64_t times)
{
	struct cp_net_time one = { .ns = span->net_ns, .at_most = span->uncertain_ns != 0 };
	bool first = !cp_call_sum_over(to);

	if (first || one.ns < to->least.ns)
		to->least = one;
	if (first || one.ns > to->most.ns)
		to->most = one;
	return cp_spread_add(one.at_most ? &to->bound : &to->known, cp_spread_bucket(one.ns),
			     times);
}

bool cp_call_sum_add(struct cp_call_sum *to, const struct cp_span *span, bool whole, uint64_t times)
{
	to->bounds |= span->uncertain_ns != 0;
	if (span->inherited) { /* it was counted where it was entered */
		to->inherited += times;
	} else {
		to->calls += times;
		if (span->end == CP_SPAN_UNWOUND || span->end == CP_SPAN_ENDED)
			to->unwound += times;
		else if (span->end == CP_SPAN_TAIL_CALLED)
			to->tail_calls += times;
		else if (span->end >= CP_SPAN_LOST)
			to->open += times;
	}
	cp_span_add_self(&to->self, span, times);
	to->overhead_ns += span->overhead_ns * times;
	if (whole) {
		cp_span_add_whole(&to->whole, span, times);
		to->cpu_ns += span->cpu_ns * times;
	}
	return span->inherited || span->end >= CP_SPAN_LOST || add_duration(to, span, times);
}

bool cp_call_sum_merge(struct cp_call_sum *to, const struct cp_call_sum *more, bool whole)
{
	bool first = !cp_call_sum_over(to);

	to->bounds |= more->bounds;
	to->calls += more->calls;
	to->inherited += more->inherited;
	to->unwound += more->unwound;
	to->tail_calls += more->tail_calls;
	to->open += more->open;
	cp_net_add_sum(&to->self, &more->self);
	to->overhead_ns += more->overhead_ns;
	if (whole) {
		cp_net_add_sum(&to->whole, &more->whole);
		to->cpu_ns += more->cpu_ns;
	}
	if (!cp_call_sum_over(more))
		return true;
	if (first || more->least.ns < to->least.ns)
		to->least = more->least;
	if (first || more->most.ns > to->most.ns)
		to->most = more->most;
	return cp_spread_merge(&to->known, &more->known) &&
	       cp_spread_merge(&to->bound, &more->bound);
}

void cp_call_sum_deinit(struct cp_call_sum *sum)
{
	cp_spread_free(&sum->known);
	cp_spread_free(&sum->bound);
}

uint64_t cp_call_rank(uint64_t count, double share)
{
	uint64_t rank = (uint64_t)(share * (double)count);

	rank += (double)rank < share * (double)count;
	return rank ? rank - 1 : 0;
}

/* The middle of a bucket, or of what is in it: the end, if some of it are bounds. */
static struct cp_net_time in_bucket(const struct cp_call_sum *sum, uint32_t bucket)
{
	uint64_t low = cp_spread_low(bucket), high = cp_spread_high(bucket);
	struct cp_net_time time = { .at_most = cp_spread_count(&sum->bound, bucket) != 0 };

	low = low < sum->least.ns ? sum->least.ns : low;
	high = high > sum->most.ns ? sum->most.ns : high;
	time.ns = time.at_most ? high : low + (high - low) / 2;
	return time;
}

struct cp_net_time cp_call_sum_quantile(const struct cp_call_sum *sum, double share)
{
	uint64_t count = cp_call_sum_over(sum), rank = cp_call_rank(count, share), seen = 0;
	uint32_t bucket;

	if (!count)
		return (struct cp_net_time){ 0 };
	if (!rank)
		return sum->least;
	for (bucket = 0; rank + 1 < count && bucket < CP_SPREAD_BUCKETS; bucket++) {
		seen += cp_spread_count(&sum->known, bucket) + cp_spread_count(&sum->bound, bucket);
		if (seen > rank)
			return in_bucket(sum, bucket);
	}
	return sum->most;
}
