/* SPDX-License-Identifier: MIT
 *
 * What a sample weighs, and how often it counts.
 *
 * By the CPU clock a sample weighs the CPU time that its thread used since its
 * last one, so the weights add up to what the program used, whatever the ticks
 * missed. A thread that exits leaves a rest; the rests go to the next thread of
 * the process (or of another process of the same program, when it is gone) that
 * is hit for the first time, because threads too short to be hit are represented
 * by those that were. What nobody of the program is hit for is in no sample.
 *
 * By the wall clock the same holds for a sample of a thread that runs; what the others
 * weigh, and that who sleeps is counted without a look, is in wall.c.
 */
#include "tracer/captures/sample.h"

#include <time.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "tracer/captures/perf_state.h"
#include "tracer/captures/place.h"
#include "tracer/captures/wall.h"
#include "tracer/known/proc.h"

/* Was the thread on a CPU when the clock ticked? schedstat adds the time that
 * it waited for one when it gets it, and to stop it must get one. If it began
 * to wait only at the tick or later (often because of the tick, on whose CPU we
 * were woken), it was. What has waited for longer is where something else put
 * it, and would be seen there too often: after its slice, or where we let it go
 * ourselves. */
static bool was_on_cpu(const struct thread *t, const struct cpu_use *now, uint64_t stopped_ns)
{
	return now->wait_ns - t->place.asked.wait_ns <= stopped_ns - t->place.tick_ns;
}

/* Samples were taken, and are not. */
static bool is_paused(const struct tracer *tr)
{
	return !tr->hz && tr->start_ns;
}

/* What exited threads left, for one that is hit for the first time. */
static uint64_t take_pool(struct tracer *tr, struct thread *t)
{
	struct process *p = t->process;
	const uint64_t *gone;
	uint64_t pool;

	if (t->pooled)
		return 0;
	gone = cp_map_get(&tr->exit_pools, p->program);
	pool = p->exit_pool + (gone ? *gone : 0);
	if (gone)
		cp_map_remove(&tr->exit_pools, p->program);
	p->exit_pool = 0;
	t->pooled = true;
	return pool;
}

void sample_program_end(struct tracer *tr, struct process *p)
{
	const uint64_t *gone = cp_map_get(&tr->exit_pools, p->program);

	if (p->exit_pool &&
	    cp_map_put(&tr->exit_pools, p->program, p->exit_pool + (gone ? *gone : 0)))
		p->exit_pool = 0;
	tr->lost_pool += p->exit_pool;
	p->exit_pool = 0;
}

/* Where CPU time of a thread goes that no sample will stand for. */
static uint64_t *pool_of(struct tracer *tr, const struct thread *t)
{
	return is_paused(tr)		? &tr->paused_pool
	       : perf_leaves_out(tr, t) ? &tr->lost_pool
					: &t->process->exit_pool;
}

void sample_exec(struct tracer *tr, struct thread *t)
{
	struct cpu_use use = t->seen;

	if (t->process->launching || !proc_cpu_use(tr, t, &use))
		return;
	if (tr->hz && tr->wall)
		wall_end(tr, t, &use);
	if (use.run_ns > t->run_given)
		*pool_of(tr, t) += use.run_ns - t->run_given;
	t->run_given = use.run_ns > t->run_given ? use.run_ns : t->run_given;
	t->pooled = false;
}

/* Without what samples of threads that have ended stood for too much. */
static uint64_t settle(struct tracer *tr, uint64_t weight)
{
	uint64_t less = tr->excess_ns < weight / 2 ? tr->excess_ns : weight / 2;

	tr->excess_ns -= less;
	return weight - less;
}

uint64_t sample_give(struct tracer *tr, struct thread *t, uint64_t periods_ns, bool only)
{
	struct cpu_use now = t->seen;
	uint64_t weight = periods_ns;

	if (!only && proc_cpu_use(tr, t, &now)) {
		weight = now.run_ns > t->run_given ? now.run_ns - t->run_given : 0;
		if (weight < periods_ns / 2)
			weight = periods_ns / 2;
	}
	t->run_given += weight;
	return settle(tr, weight + take_pool(tr, t));
}

/* Did it stop on its way out of a system call? */
static bool is_in_call(const struct cp_event_sample *s)
{
	struct cp_syscall_state at;

	if (!s->regs_size)
		return false;
	cp_arch_syscall_state(s + 1, &at);
	return at.nr >= 0;
}

bool sample_weigh(struct tracer *tr, struct thread *t, struct cp_event_sample *s)
{
	struct cpu_use now = tr->wall ? t->wall.use : t->seen;
	bool running;

	if (!tr->wall)
		proc_cpu_use(tr, t, &now);
	if (!(s->e.flags & CP_SAMPLE_BLOCKED) && !place_counts(tr, t, &now, is_in_call(s)))
		return false;
	running = !(s->e.flags & CP_SAMPLE_BLOCKED) && was_on_cpu(t, &now, s->e.ts_ns);
	place_stopped(t, &now, !running);
	s->count = 1;
	if (tr->wall)
		wall_weigh(t, s, running);
	if (!running)
		return tr->wall;
	s->weight_ns = now.run_ns > t->run_given ? now.run_ns - t->run_given : 0;
	t->run_given += s->weight_ns;
	s->weight_ns += take_pool(tr, t);
	return true;
}

void sample_thread_exit(struct tracer *tr, struct thread *t, uint64_t cpu_ns)
{
	struct cp_link_stats *stats = &tr->link->shared->stats;
	uint64_t given = t->run_given - t->run_base;
	struct cpu_use use = t->wall.use;

	use.run_ns = t->run_base + cpu_ns > use.run_ns ? t->run_base + cpu_ns : use.run_ns;
	if (tr->hz && tr->wall)
		wall_end(tr, t, &use);
	tr->ended_cpu_ns += cpu_ns;
	if (stats->cpu_ns < tr->ended_cpu_ns) /* should nobody add up the rest */
		stats->cpu_ns = tr->ended_cpu_ns;
	perf_ended(tr, t, cpu_ns);
	if (cpu_ns <= given) {
		tr->excess_ns += given - cpu_ns;
		return;
	}
	*pool_of(tr, t) += cpu_ns - given;
}

/* Adds up what was used, and what no sample carries. */
void sample_totals(struct tracer *tr)
{
	struct cp_link_stats *stats = &tr->link->shared->stats;
	uint64_t key, value, rest = tr->lost_pool, used = tr->ended_cpu_ns, left = 0;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		struct cpu_use use = t->seen;

		proc_cpu_use(tr, t, &use);
		used += use.run_ns > t->run_base ? use.run_ns - t->run_base : 0;
		left += use.run_ns > t->run_given ? use.run_ns - t->run_given : 0;
	}
	cursor = 0;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value))
		rest += ((struct process *)(uintptr_t)value)->exit_pool;
	cursor = 0;
	while (cp_map_next(&tr->exit_pools, &cursor, &key, &value))
		rest += value;
	stats->cpu_ns = used;
	stats->paused_ns = tr->paused_pool + (is_paused(tr) ? left : 0);
	stats->unsampled_ns = rest + left + tr->paused_pool;
	stats->tracer_cpu_ns = cp_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- the wall clock ---- */

void sample_close(struct tracer *tr, struct thread *t)
{
	struct cpu_use use = t->wall.use;

	if (!tr->wall)
		return;
	proc_cpu_use(tr, t, &use);
	wall_end(tr, t, &use);
}

/* ---- pauses ---- */

void sample_pause(struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value))
		sample_close(tr, (struct thread *)(uintptr_t)value);
}

void sample_resume(struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;
		struct cpu_use use = t->seen;
		bool known = proc_cpu_use(tr, t, &use);

		wall_begin(t, &use);
		t->sampled = false;
		if (!known || use.run_ns <= t->run_given)
			continue;
		tr->paused_pool += use.run_ns - t->run_given;
		t->run_given = use.run_ns;
		t->perf.looked_ns = t->perf.run_ns = use.run_ns;
		t->perf.sampled_ns = 0;
	}
}
