/* SPDX-License-Identifier: MIT
 *
 * Samples without stops: what is known of them.
 */
#include "tracer/captures/perf_state.h"

#include "base/clock.h"
#include "tracer/known/state.h"

#define PERIODS_OPEN 3 /* on each CPU, a thread has one that is not over */
#define SHARE 10 /* a tenth */
/* A program that began lately may be over soon, and what its samples refer to gone. */
#define YOUNG_NS (100 * CP_NS_PER_MS)

bool perf_has(const struct tracer *tr, const struct thread *t)
{
	return tr->perf && (tr->perf->event || (!tr->perf->stops && !t->perf.stops));
}

bool perf_leaves_out(const struct tracer *tr, const struct thread *t)
{
	return perf_has(tr, t) && !tr->perf->event && tr->perf->user_only;
}

bool perf_misses(const struct perf *perf, uint64_t used_ns, uint64_t sampled_ns)
{
	return used_ns > sampled_ns + used_ns / SHARE + PERIODS_OPEN * perf->period_ns;
}

bool perf_rests(const struct tracer *tr)
{
	return tr->perf && tr->perf->on && !tr->perf->ticks;
}

void perf_ended(struct tracer *tr, const struct thread *t, uint64_t cpu_ns)
{
	struct perf *perf = tr->perf;
	uint64_t all = t->run_base + cpu_ns;

	if (!perf || perf->event)
		return;
	perf->used_ns += all > t->perf.looked_ns ? all - t->perf.looked_ns : 0;
	perf->ended_ns += all > t->perf.run_ns ? all - t->perf.run_ns : 0;
	perf->ended_sampled_ns += t->perf.sampled_ns;
	if (!perf->stops && perf_misses(perf, perf->ended_ns, perf->ended_sampled_ns))
		perf->judge_ns = perf->due_ns = 0; /* a short program may be over in a second */
}

void perf_born(struct tracer *tr)
{
	if (!tr->perf || !tr->perf->on)
		return;
	tr->perf->young_until_ns = cp_now() + YOUNG_NS;
	tr->perf->due_ns = 0;
}
