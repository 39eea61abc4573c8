/* SPDX-License-Identifier: MIT
 *
 * The clock, and whom it hits.
 *
 * At a tick only threads that run, or have run since the last one, are of
 * interest, and most have not. One look at the process's CPU clock tells how
 * much was used since the last tick. Threads that were running, or moved
 * lately, are looked at anyway ("active"): a running thread's times are as old
 * as the last scheduler tick, so they don't tell. If what the active ones used
 * explains the process's clock, nobody else is looked at: 1,000 idle threads
 * cost one system call a tick.
 *
 *   tick ─► active threads ─► do they explain the process's CPU clock?
 *                                  │ yes: done      │ no
 *                                  ▼                ▼
 *                                            everybody's schedstat; who
 *                                            moved becomes active
 *
 * Who runs is interrupted, all at once, and served as the stops arrive
 * (stops/stop.c). Nobody is waited for: a thread that was preempted stops when it is
 * scheduled again. By the wall clock, who blocked since the last tick is read
 * where it sleeps (capture.c).
 *
 * A program that works in step with the clock would be seen always in the same
 * place. So from one tick to the next it is a random time, half a period to one
 * and a half: then neither the place of a tick in the program's rhythm, nor how
 * long ago the last one was, depends on that rhythm. (One tick at a random point
 * of each period would not do: late ticks then follow longer gaps, and so weigh
 * more.)
 */
#include "tracer/captures/tick.h"

#include <sched.h>

#include "base/clock.h"
#include "tracer/captures/capture.h"
#include "tracer/captures/perf_state.h"
#include "tracer/captures/place.h"
#include "tracer/captures/sample.h"
#include "tracer/captures/wall.h"
#include "tracer/known/interrupt.h"
#include "tracer/known/proc.h"

/* Looks in vain after which an active thread is left alone. */
#define QUIET_LOOKS 32
/* Processes with more threads look at everybody only on the second
 * unexplained tick: the first is often a reading across a scheduler tick. */
#define MANY_THREADS 64
#define SCHEDULER_TICK_NS INT64_C(10000000) /* at most */
#define OTHERS_SHARE 10

static uint64_t next_random(struct tracer *tr)
{
	tr->random ^= tr->random << 13;
	tr->random ^= tr->random >> 7;
	tr->random ^= tr->random << 17;
	return tr->random;
}

static void plan(struct tracer *tr, uint64_t after_ns)
{
	uint64_t period_ns = tr->period_ns / place_rounds(tr);

	tr->next_tick_ns = after_ns + period_ns / 2 + next_random(tr) % period_ns;
}

void tick_wake(struct tracer *tr)
{
	if (tr->hz && tr->next_tick_ns == UINT64_MAX && !perf_rests(tr))
		plan(tr, cp_now());
}

/* Nobody needs ticks, so no CPU is better for us than another one. */
static void rest(struct tracer *tr)
{
	place_anywhere(tr);
	tr->next_tick_ns = UINT64_MAX;
}

void tick_start(struct tracer *tr, const struct cp_request *rq)
{
	if (tr->start_ns && tr->hz && !rq->hz)
		sample_pause(tr);
	if (tr->start_ns && !tr->hz && rq->hz)
		sample_resume(tr);
	tr->hz = rq->hz;
	tr->wall = rq->wall != 0;
	tr->capture = rq->flags & CP_CAPTURE_XSTATE;
	if (rq->stack_max && rq->stack_max <= CP_STACK_MAX)
		tr->stack_max = (uint32_t)cp_align8(rq->stack_max);
	if (!tr->hz)
		return;
	tr->period_ns = CP_NS_PER_S / tr->hz;
	tr->flush_ns = cp_now();
	tr->start_ns = cp_now();
	tr->ticks_done = 0;
	tr->random = tr->start_ns | 1;
	plan(tr, tr->start_ns);
	if (perf_rests(tr))
		rest(tr);
}

/* ---- the active threads ---- */

void tick_activate(struct thread *t, unsigned looks)
{
	struct process *p = t->process;

	if (looks > t->looks_left)
		t->looks_left = looks;
	if (t->active)
		return;
	t->active = cp_vec_push(&p->active, t);
	t->active_index = (uint32_t)p->active.count - 1;
}

void tick_deactivate(struct thread *t)
{
	struct process *p = t->process;
	struct thread *last;

	if (!t->active)
		return;
	last = p->active.items[--p->active.count];
	p->active.items[t->active_index] = last;
	last->active_index = t->active_index;
	t->active = false;
	t->looks_left = 0;
}

/* ---- looking ---- */

/* The thread runs or waits for a CPU: interrupts it, unless it was not running when the
 * clock ticked, or can't be interrupted where it was then. */
static void hit(struct tracer *tr, struct thread *t)
{
	t->hot = true;
	tr->hot_threads++;
	if (t->want || t->state != THREAD_RUNNING)
		return;
	if (!tr->wall && (t->resumed_ns >= tr->tick_ns || !place_may_run(tr, t)))
		return;
	if (!place_is_near(tr, t))
		return;
	place_interrupts(tr, t);
	interrupt_thread(tr, t, WANT_SAMPLE);
}

/* Looks at a thread that moved, or was running. */
static void look(struct tracer *tr, struct thread *t)
{
	uint64_t pc, sp;

	t->hot = false;
	if (perf_has(tr, t))
		return;
	if (t->want || proc_where(tr, t, &pc, &sp) == PROC_RUNNING)
		hit(tr, t);
	else if (tr->wall && !capture_blocked(tr, t, WANT_SAMPLE))
		hit(tr, t); /* began to run under our eyes */
}

/* Returns the CPU time that the thread used since the last look. */
static uint64_t check(struct tracer *tr, struct thread *t)
{
	struct cpu_use use = t->seen;
	uint64_t used;

	proc_cpu_use(tr, t, &use);
	used = use.run_ns - t->seen.run_ns;
	t->place.moved = has_run(&t->seen, &use);
	place_look(tr, t, &use);
	t->seen = use;
	return used;
}

static bool is_news(const struct tracer *tr, const struct thread *t)
{
	return t->place.moved || (tr->wall && (!t->sampled || capture_has_new_link(tr, t)));
}

/* All are checked before anybody is interrupted: only then is it known who came after whom. */
static uint64_t look_at_active(struct tracer *tr, struct process *p)
{
	uint64_t used = 0;
	size_t i;

	for (i = p->active.count; i-- > 0;) {
		struct thread *t = p->active.items[i];

		if (t->state != THREAD_HELD)
			used += check(tr, t);
	}
	for (i = p->active.count; i-- > 0;) {
		struct thread *t = p->active.items[i];

		if (t->state == THREAD_HELD)
			continue;
		if (is_news(tr, t) || t->hot) {
			bool first = !t->sampled;

			look(tr, t);
			t->looks_left = first && !t->hot ? 1 : QUIET_LOOKS;
		} else if (!t->looks_left--) {
			tick_deactivate(t);
		}
	}
	return used;
}

static void look_at_others(struct tracer *tr, struct process *p)
{
	size_t i;

	for (i = 0; i < p->threads.count; i++) {
		struct thread *t = p->threads.items[i];

		if (t->active || t->state == THREAD_HELD)
			continue;
		check(tr, t);
		if (!is_news(tr, t))
			continue;
		tick_activate(t, QUIET_LOOKS);
		look(tr, t);
	}
}

/* The kernel adds a process's CPU clock up over its threads: 0.1 ms for 1,000
 * of them. While nothing at all runs, every second look has to do. */
static bool may_rest(const struct process *p)
{
	return p->threads.count > 4 * MANY_THREADS && p->quiet_ticks > QUIET_LOOKS &&
	       p->wall_ticks % 2;
}

/* More than what readings that are a scheduler tick old can explain: somebody
 * else runs. Where there are thousands, each runs rarely, and none is active for
 * long; looking at all must not cost more than a small part of a CPU. */
static bool certainly_others(const struct tracer *tr, const struct process *p)
{
	return p->unexplained > CPU_COUNT(&tr->cpus) * SCHEDULER_TICK_NS &&
	       cp_now() >= p->others_from_ns;
}

static void tick_process(struct tracer *tr, struct process *p)
{
	int64_t before = p->unexplained;
	uint64_t cpu, began, now;

	p->wall_ticks += tr->ticks_due;
	if (may_rest(p))
		return;
	cpu = proc_cpu_clock(p->pid);
	p->quiet_ticks = cpu == p->cpu_seen ? p->quiet_ticks + 1 : 0;
	p->unexplained += (int64_t)(cpu - p->cpu_seen);
	p->cpu_seen = cpu;
	p->unexplained -= (int64_t)look_at_active(tr, p);
	began = cp_now();
	if (!p->unexplained)
		p->explained_ns = began;
	if (!p->unexplained || (p->threads.count > MANY_THREADS && p->unexplained != before &&
				!certainly_others(tr, p)))
		return;
	look_at_others(tr, p);
	now = cp_now();
	p->others_from_ns = now + (now - began) * OTHERS_SHARE;
	p->explained_ns = now;
	p->unexplained = 0;
}

void tick_flush(struct tracer *tr, uint64_t now)
{
	uint64_t key, value;
	size_t cursor = 0;

	if (!tr->wall)
		return;
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (!t->want && !t->hot)
			wall_flush(tr, t, now);
		if (capture_has_new_link(tr, t))
			tick_activate(t, 1); /* it sleeps on a stack that now has a second piece */
	}
	tr->flush_ns = now;
}

void tick(struct tracer *tr, uint64_t now)
{
	uint64_t key, value, late;
	size_t cursor = 0;

	tr->hot_threads = 0;
	place_tick(tr);
	tr->tick_ns = tr->next_tick_ns;
	/* The wall clock counts the periods that have passed. */
	tr->ticks_due = (now - tr->start_ns) / tr->period_ns - tr->ticks_done;
	tr->ticks_done += tr->ticks_due;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value)) {
		struct process *p = (struct process *)(uintptr_t)value;

		tick_process(tr, p);
	}
	tr->link->shared->stats.ticks++;
	if (!tr->hot)
		place_choose(tr);
	/* Who looks once a second has all of it at the second's end. */
	if (now / CP_NS_PER_S != tr->flush_ns / CP_NS_PER_S)
		tick_flush(tr, now);
	late = now - tr->next_tick_ns;
	tr->link->shared->stats.ticks_missed += late / tr->period_ns;
	plan(tr, late < tr->period_ns ? tr->next_tick_ns : now);
	if (perf_rests(tr))
		rest(tr);
}
