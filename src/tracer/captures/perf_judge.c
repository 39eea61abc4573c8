/* SPDX-License-Identifier: MIT
 *
 * Who is not sampled so as he should be goes by stops.
 *
 * A sample is due whenever a thread has been on a CPU for a period, so the periods add up
 * to what schedstat says. They don't where the kernel may not be looked at and the
 * thread spends its time there, where an event ended (with a program that became
 * another user's, say) or never was (a birth at the moment of attaching), where records
 * were lost, and where threads live for less than a period: each begins a new one.
 * A thread that misses more than a tenth is sampled by stops until it does not any
 * more; where those that ended miss half as much, all are from then on.
 */
#include "tracer/captures/perf_judge.h"

#include "base/clock.h"
#include "tracer/captures/perf_state.h"
#include "tracer/captures/tick.h"
#include "tracer/known/proc.h"
#include "tracer/known/state.h"

#define PERIODS 20 /* fewer say nothing */
/* At the beginning, as soon as there may be so many; then once a second. */
#define SOON_NS (2 * CP_NS_PER_S)
#define EXTRA_NS (10 * CP_NS_PER_MS)
#define SHARE 10 /* a tenth */
#define FADES 8 /* what was at a judgement before counts an eighth less */
#define SHARE_ENDED 20 /* a twentieth: once threads are that short, the program makes them so */

void perf_use_stops(struct tracer *tr, struct thread *t)
{
	if (!t->perf.stops)
		tr->link->shared->stats.perf_left++;
	t->perf.stops = true;
	tr->perf->ticks = true;
	tick_activate(t, 1);
	tick_wake(tr);
}

static void judge_thread(struct tracer *tr, struct thread *t)
{
	struct perf *perf = tr->perf;
	struct cpu_use use = t->seen;
	uint64_t used, missed;

	if (!proc_cpu_use(tr, t, &use))
		return;
	perf->used_ns += use.run_ns - t->perf.looked_ns;
	t->perf.looked_ns = use.run_ns;
	used = use.run_ns - t->perf.run_ns;
	if (used < PERIODS * perf->period_ns)
		return;
	t->perf.run_ns = use.run_ns;
	missed = used > t->perf.sampled_ns ? used - t->perf.sampled_ns : 0;
	if (perf_misses(perf, used, t->perf.sampled_ns)) {
		if (perf_leaves_out(tr, t)) { /* no later sample shall stand for that */
			tr->lost_pool += missed;
			t->run_given += missed;
		}
		perf_use_stops(tr, t);
	} else {
		t->perf.stops = t->perf.cut;
	}
	t->perf.cut = false;
	t->perf.sampled_ns = 0;
}

void perf_judge(struct tracer *tr, uint64_t now)
{
	struct perf *perf = tr->perf;
	uint64_t key, value;
	size_t cursor = 0;

	perf->judge_ns =
		now + (now < perf->begun_ns + SOON_NS ? PERIODS * perf->period_ns + EXTRA_NS
						      : CP_NS_PER_S);
	perf->ticks = false;
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (t->process->guest)
			continue;
		judge_thread(tr, t);
		perf->ticks |= t->perf.stops;
	}
	perf->stops |= perf_misses(perf, perf->ended_ns, perf->ended_sampled_ns) &&
		       (perf->ended_ns - perf->ended_sampled_ns) * SHARE_ENDED > perf->used_ns;
	perf->ticks |= perf->stops;
	/* A little each time is as much in the end. */
	perf->used_ns -= perf->used_ns / FADES;
	perf->ended_ns -= perf->ended_ns / FADES;
	perf->ended_sampled_ns -= perf->ended_sampled_ns / FADES;
	tick_wake(tr);
}
