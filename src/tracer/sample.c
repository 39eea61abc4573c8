/* SPDX-License-Identifier: MIT
 *
 * The clock, and whom it hits.
 *
 * At a tick of the CPU clock only threads that run are of interest, and most
 * don't. One look at the process's CPU clock tells whether anything ran since
 * the last tick; threads seen running at the last tick ("hot") are looked at
 * anyway, because a running thread's times are as old as the last scheduler
 * tick. If the hot ones explain what the process used, nobody else is looked
 * at. So 1,000 idle threads cost one system call a tick.
 *
 *   tick ─► process clock moved? ─ no ─► hot threads only
 *                │ yes
 *                └─► hot threads; unexplained rest? ─► everybody's schedstat
 *
 * Who runs is interrupted, all at once, and served as the stops arrive
 * (wait.c). Nobody is waited for: a thread that was preempted stops when it is
 * scheduled again, and its sample then is as good.
 *
 * A sample weighs the CPU time that its thread used since its last one, so
 * the weights add up to what the program used, whatever the ticks missed. A
 * thread that exits leaves a rest; the rests go to the next thread of the
 * process (or of another process, when it is gone) that is hit for the first
 * time, because threads too short to be hit are represented by those that were.
 *
 * Ticks are moved about their grid at random by up to a quarter of a period:
 * a program that works in step with the clock would otherwise be seen always
 * in the same place.
 *
 * The wall clock counts every thread. Those that run are interrupted, those
 * that blocked since the last tick are read where they sleep (capture.c), and
 * those that have not run at all since then repeat their last sample: that is
 * counted, and written when they move, exit, or once a second.
 */
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "tracer/state.h"

#define SNAPSHOT_NS (2 * CP_NS_PER_S)
/* Processes with more threads look at everybody only on the second
 * unexplained tick: the first is often a reading across a scheduler tick. */
#define MANY_THREADS 64
#define WAKE_SLACK_NS UINT64_C(20000)

static uint64_t next_random(struct tracer *tr)
{
	tr->random ^= tr->random << 13;
	tr->random ^= tr->random >> 7;
	tr->random ^= tr->random << 17;
	return tr->random;
}

static void plan_tick(struct tracer *tr)
{
	uint64_t quarter = tr->period_ns / 4;

	tr->next_tick_ns = tr->grid_ns - quarter + next_random(tr) % (2 * quarter + 1);
}

void sample_start(struct tracer *tr, const struct cp_request *rq)
{
	tr->hz = rq->hz;
	tr->wall = rq->wall != 0;
	tr->capture = rq->flags & CP_CAPTURE_XSTATE;
	if (rq->stack_max && rq->stack_max <= CP_STACK_MAX)
		tr->stack_max = (uint32_t)cp_align8(rq->stack_max);
	if (!tr->hz)
		return;
	tr->period_ns = CP_NS_PER_S / tr->hz;
	tr->flush_ns = cp_now();
	tr->grid_ns = cp_now() + tr->period_ns;
	tr->random = tr->grid_ns | 1;
	plan_tick(tr);
}

/* ---- weights ---- */

/* Was the thread on a CPU when the clock ticked? schedstat adds the time that
 * it waited for one when it gets it, and to stop it must get one. If it began
 * to wait only after we woke for the tick (often because we woke: on its own
 * CPU), it was. What waits is where something else put it, and would be seen
 * there too often: after its slice, or where we let it go ourselves. */
static bool was_on_cpu(const struct tracer *tr, const struct thread *t, const struct cpu_use *now,
		       uint64_t stopped_ns)
{
	return now->wait_ns - t->seen.wait_ns <= stopped_ns - tr->tick_ns + WAKE_SLACK_NS;
}

static bool weigh_cpu(struct tracer *tr, struct thread *t, struct cp_event_sample *s)
{
	struct process *p = t->process;
	struct cpu_use now = t->seen;

	proc_cpu_use(tr, t, &now);
	if (!was_on_cpu(tr, t, &now, s->e.ts_ns))
		return false;
	s->count = 1;
	s->weight_ns = now.run_ns > t->run_given ? now.run_ns - t->run_given : 0;
	t->run_given += s->weight_ns;
	if (!t->pooled) {
		s->weight_ns += p->exit_pool + tr->exit_pool;
		p->exit_pool = tr->exit_pool = 0;
		t->pooled = true;
	}
	return true;
}

bool sample_weigh(struct tracer *tr, struct thread *t, struct cp_event_sample *s)
{
	uint64_t now = s->e.ts_ns;

	if (!tr->wall)
		return weigh_cpu(tr, t, s);
	s->weight_ns = now > t->wall_ns ? now - t->wall_ns : 0;
	s->count = (uint32_t)(t->process->wall_ticks - t->wall_ticks);
	t->wall_ns = now;
	t->wall_ticks = t->process->wall_ticks;
	return true;
}

void sample_thread_exit(struct tracer *tr, struct thread *t, uint64_t cpu_ns)
{
	uint64_t given = t->run_given - t->run_base;

	if (tr->hz && tr->wall)
		sample_flush_thread(tr, t, cp_now());
	tr->link->shared->stats.cpu_ns += cpu_ns;
	if (cpu_ns > given)
		t->process->exit_pool += cpu_ns - given;
}

/* Adds up what no sample carries, when everything ends. */
void sample_totals(struct tracer *tr)
{
	struct cp_link_stats *stats = &tr->link->shared->stats;
	uint64_t key, value, rest = tr->exit_pool;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		struct cpu_use use = t->seen;

		proc_cpu_use(tr, t, &use);
		stats->cpu_ns += use.run_ns > t->run_base ? use.run_ns - t->run_base : 0;
		rest += use.run_ns > t->run_given ? use.run_ns - t->run_given : 0;
	}
	cursor = 0;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value))
		rest += ((struct process *)(uintptr_t)value)->exit_pool;
	stats->unsampled_ns = rest;
	stats->tracer_cpu_ns = cp_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- wall clock: repeats ---- */

static void emit_repeat(struct tracer *tr, struct thread *t, uint32_t count, uint64_t weight,
			uint64_t now)
{
	struct cp_event_sample s = {
		.e = { .type = CP_EVENT_REPEAT,
		       .ts_ns = now,
		       .pid = t->process->pid,
		       .tid = t->tid },
		.slot = t->slot,
		.count = count,
		.weight_ns = weight,
	};

	emit_event(tr, &s.e, sizeof(s));
}

void sample_flush_thread(struct tracer *tr, struct thread *t, uint64_t now)
{
	uint32_t count = (uint32_t)(t->process->wall_ticks - t->wall_ticks);

	/* Without a sample of its own there is nothing to repeat. */
	if (!count || !t->sampled || now <= t->wall_ns)
		return;
	emit_repeat(tr, t, count, now - t->wall_ns, now);
	t->wall_ns = now;
	t->wall_ticks = t->process->wall_ticks;
}

void sample_flush(struct tracer *tr, uint64_t now)
{
	uint64_t key, value;
	size_t cursor = 0;

	if (!tr->wall)
		return;
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (!t->want && !t->hot)
			sample_flush_thread(tr, t, now);
	}
	tr->flush_ns = now;
}

/* ---- ticks ---- */

/* Looks at a thread that may run; interrupts it when it does. One that we let
 * go in this very round was not running when the clock ticked. */
static void look(struct tracer *tr, struct thread *t, const struct cpu_use *use)
{
	uint64_t pc, sp;

	t->seen = *use;
	t->hot = t->want || proc_where(tr, t, &pc, &sp) == PROC_RUNNING;
	if (!t->hot)
		return;
	tr->hot_threads++;
	if (!t->want && t->resumed_ns < tr->woke_ns)
		thread_interrupt(tr, t, WANT_SAMPLE);
}

/* Looks at the threads that are hot, or at those that are not and moved.
 * Returns the CPU time that they used since the last look. */
static uint64_t look_at(struct tracer *tr, struct process *p, bool hot)
{
	uint64_t used = 0;
	size_t i;

	for (i = 0; i < p->threads.count; i++) {
		struct thread *t = p->threads.items[i];
		struct cpu_use use = t->seen;

		if (t->hot != hot || t->state != THREAD_RUNNING)
			continue;
		proc_cpu_use(tr, t, &use);
		if (!hot && !has_run(&t->seen, &use))
			continue;
		used += use.run_ns - t->seen.run_ns;
		look(tr, t, &use);
	}
	return used;
}

static void tick_cpu(struct tracer *tr, struct process *p)
{
	uint64_t cpu = proc_cpu_clock(p->pid);
	int64_t rest, before = p->unexplained;

	p->unexplained += (int64_t)(cpu - p->cpu_seen);
	p->cpu_seen = cpu;
	p->unexplained -= (int64_t)look_at(tr, p, true);
	rest = p->unexplained;
	if (!rest || (p->threads.count > MANY_THREADS && rest != before))
		return;
	look_at(tr, p, false);
	p->unexplained = 0;
}

static void wall_thread(struct tracer *tr, struct thread *t)
{
	struct cpu_use use;
	uint64_t pc, sp;

	if (t->want || t->state == THREAD_HELD)
		return;
	if (!t->hot && t->sampled && proc_cpu_use(tr, t, &use) && !has_run(&t->seen, &use))
		return; /* has not run: its last sample goes on */
	t->hot = proc_where(tr, t, &pc, &sp) == PROC_RUNNING;
	if (!t->hot) {
		if (capture_blocked(tr, t, WANT_SAMPLE))
			return;
		t->hot = true; /* began to run under our eyes */
	}
	tr->hot_threads++;
	thread_interrupt(tr, t, WANT_SAMPLE);
}

static void tick_wall(struct tracer *tr, struct process *p)
{
	uint64_t cpu = proc_cpu_clock(p->pid);
	bool moved = cpu != p->cpu_seen, hot = false;
	size_t i;

	p->wall_ticks += tr->ticks_due;
	p->cpu_seen = cpu;
	for (i = 0; i < p->threads.count && !moved && !hot; i++)
		hot = p->threads.items[i]->hot || !p->threads.items[i]->sampled;
	if (!moved && !hot)
		return;
	for (i = 0; i < p->threads.count; i++)
		wall_thread(tr, p->threads.items[i]);
}

/* While just one thread is busy, a stop is cheapest on its own CPU: waking
 * another one costs several times the stop itself. */
static void choose_cpu(struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;
	cpu_set_t set;
	int cpu = -1;

	if (tr->hot_cpu_age++ % 64)
		return;
	while (tr->hot_threads == 1 && cpu < 0 && cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		if (((struct thread *)(uintptr_t)value)->hot)
			cpu = proc_cpu_of((pid_t)key);
	}
	if (cpu < 0) {
		sched_setaffinity(0, sizeof(tr->cpus), &tr->cpus);
		return;
	}
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

void sample_tick(struct tracer *tr, uint64_t now)
{
	uint64_t key, value;
	size_t cursor = 0;

	tr->hot_threads = 0;
	tr->tick_ns = tr->woke_ns;
	/* Late by whole periods: one look stands for all of them. */
	tr->ticks_due = now > tr->grid_ns ? 1 + (now - tr->grid_ns) / tr->period_ns : 1;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value)) {
		struct process *p = (struct process *)(uintptr_t)value;

		if (tr->wall)
			tick_wall(tr, p);
		else
			tick_cpu(tr, p);
	}
	tr->link->shared->stats.ticks += tr->ticks_due;
	tr->link->shared->stats.ticks_missed += tr->ticks_due - 1;
	choose_cpu(tr);
	if (now - tr->flush_ns >= CP_NS_PER_S)
		sample_flush(tr, now);
	tr->grid_ns += tr->ticks_due * tr->period_ns;
	plan_tick(tr);
}

/* ---- snapshots ---- */

void snapshot_start(struct tracer *tr, const struct cp_request *rq)
{
	uint64_t key, value, pc, sp;
	size_t cursor = 0;

	tr->capture = rq->flags & CP_CAPTURE_XSTATE;
	tr->snapshot = true;
	tr->snapshot_deadline = cp_now() + SNAPSHOT_NS;
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;
		bool runs = proc_where(tr, t, &pc, &sp) == PROC_RUNNING;

		if (runs || rq->flags & CP_CAPTURE_STOP || !capture_blocked(tr, t, WANT_SNAPSHOT))
			thread_interrupt(tr, t, WANT_SNAPSHOT);
	}
}

void snapshot_check(struct tracer *tr, uint64_t now)
{
	size_t i;

	if (!tr->snapshot)
		return;
	for (i = 0; i < tr->wanted.count && now < tr->snapshot_deadline; i++) {
		const struct thread *t = thread_find(tr, tr->wanted.items[i]);

		if (t && t->want & WANT_SNAPSHOT)
			return;
	}
	tr->snapshot = false;
	emit(tr, CP_EVENT_SNAPSHOT_END, 0, 0);
	cp_ring_kick(tr->link, true);
}
