/* SPDX-License-Identifier: MIT
 *
 * What samples of the wall clock weigh.
 *
 * A thread runs, sleeps, or stands beside: it waits for a CPU, or for us who have
 * stopped it. How much of a thread's time was which of them is known exactly, but not
 * where it was meanwhile:
 *
 *     runs      schedstat's time on a CPU
 *     beside    schedstat's time of waiting for one, unless to wake up, and what stops took
 *     sleeps    what is left of the time that passed
 *
 * So each kind has an account of its own. A tick sees a thread in one of them, and that
 * sample gets what is on this account: the stacks say what the time of that kind is
 * divided by, and the sums are right whatever the ticks missed. Sleeps that are shorter than
 * a period are so told in proportion, as functions that run are.
 *
 *     runs    ──┐         ┌────────┐  ┌──┐      ┌────
 *     sleeps    └─────────┘        └──┘  └──────┘
 *     ticks  ▲     ▲    ▲    ▲    ▲    ▲     ▲    ▲
 *            r     s    -    r'   r    r     s    r'
 *
 * (-) A sleeper that has not run is not looked at: its last sample repeats once a second, and
 * when it is seen again. (r') What it slept since it was last seen asleep was
 * most likely the rest of that sleep, and is told before, as a repeat of that sample. Seen
 * asleep elsewhere, it is half the rest of one sleep and half the beginning of the other.
 * What was slept between two ticks that saw it run waits for the next sleeper.
 *
 * Of what a stop takes, we see the middle (known/own.c). Where a thread was given a CPU
 * once for each stop it has not slept: what is left of the time is what stops took unseen,
 * and the mean of that is taken off where it is not known. Time beside is small as a rule,
 * and the stack is that of who runs: it follows such a sample when it has come to a period.
 */
#include "tracer/captures/wall.h"

#include "base/clock.h"
#include "tracer/known/emit.h"
#include "tracer/known/proc.h"
#include "tracer/known/state.h"

#define UNSEEN_FADES 16

void wall_begin(struct thread *t, const struct cpu_use *use)
{
	t->wall = (struct wall){
		.ns = cp_now(),
		.ticks = t->process->wall_ticks,
		.use = *use,
		.stopped_ns = t->stopped_ns,
		.let_go = t->let_go,
	};
}

/* What `t` waited for CPUs since the last account, but for wakings: a sleeper that waits for
 * one has not run, so it is not looked at, and still stands where it slept. How often it
 * was put on a CPU is known, and how long it waited in all. */
static uint64_t preempted_of(const struct thread *t, const struct cpu_use *use, bool asleep)
{
	const struct wall *w = &t->wall;
	uint64_t wait = use->wait_ns - w->use.wait_ns, slices = use->slices - w->use.slices;
	uint64_t since_tick = use->wait_ns - t->seen.wait_ns;

	if (!w->slept)
		return wait;
	if (asleep)
		return 0;
	since_tick = since_tick < wait ? since_tick : wait;
	slices -= since_tick && slices;
	return slices ? wait - (wait - since_tick) / slices : wait;
}

/* Of the time that `t` did not run since the last account, what it stood beside. */
static uint64_t beside_of(struct tracer *tr, const struct thread *t, uint64_t off,
			  const struct cpu_use *use, bool asleep)
{
	const struct wall *w = &t->wall;
	uint64_t stops = t->let_go - w->let_go, slices = use->slices - w->use.slices;
	uint64_t beside = preempted_of(t, use, asleep) + t->stopped_ns - w->stopped_ns;

	if (!stops)
		return beside;
	if (asleep || w->slept || stops != slices)
		return beside + (uint64_t)((double)stops * tr->unseen_ns);
	if (off > beside)
		tr->unseen_ns +=
			((double)(off - beside) / (double)stops - tr->unseen_ns) / UNSEEN_FADES;
	return off;
}

/* Until `now`, when the thread had had `use`. */
static void account(struct tracer *tr, struct thread *t, uint64_t now, const struct cpu_use *use,
		    bool asleep)
{
	struct wall *w = &t->wall;
	uint64_t all = now > w->ns ? now - w->ns : 0;
	uint64_t run = use->run_ns - w->use.run_ns + w->owed_ns, off, beside;

	/* A CPU's clock is not quite this one. */
	w->owed_ns = run > all ? run - all : 0;
	off = all - (run - w->owed_ns);
	beside = beside_of(tr, t, off, use, asleep);
	beside = beside < off ? beside : off;
	w->beside_ns += beside;
	w->asleep_ns += off - beside;
	w->ns = now;
	w->use = *use;
	w->stopped_ns = t->stopped_ns;
	w->let_go = t->let_go;
}

/* Moves all of an account, or a part, to who is told of it. */
static uint64_t take(uint64_t *account, uint64_t most)
{
	uint64_t taken = *account < most ? *account : most;

	*account -= taken;
	return taken;
}

static uint32_t take_ticks(struct thread *t, uint32_t but)
{
	uint64_t ticks = t->process->wall_ticks - t->wall.ticks;

	ticks -= ticks < but ? ticks : but;
	t->wall.ticks += ticks;
	return (uint32_t)ticks;
}

/* `flags`: CP_SAMPLE_WAITED, or 0. */
static void repeat(struct tracer *tr, struct thread *t, uint16_t flags, uint64_t ts_ns,
		   uint32_t count, uint64_t weight_ns)
{
	struct cp_event_sample s = {
		.e = { .type = CP_EVENT_REPEAT,
		       .flags = flags,
		       .ts_ns = ts_ns,
		       .pid = t->process->pid,
		       .tid = t->tid },
		.slot = t->slot,
		.count = count,
		.weight_ns = weight_ns,
	};

	if (weight_ns)
		emit_event(tr, &s.e, sizeof(s));
}

void wall_stopped(struct tracer *tr, struct thread *t)
{
	struct wall *w = &t->wall;
	struct cpu_use use = w->use;
	uint64_t now, run;

	proc_cpu_use(tr, t, &use);
	now = cp_now();
	run = use.run_ns - w->use.run_ns;
	account(tr, t, now, &use, false);
	if (w->slept)
		repeat(tr, t, 0, now - run > now ? now : now - run, take_ticks(t, 1),
		       take(&w->asleep_ns, UINT64_MAX));
	w->slept = false;
}

void wall_asleep(struct tracer *tr, struct thread *t, const struct cpu_use *use)
{
	struct wall *w = &t->wall;
	uint64_t known = w->ns > t->process->explained_ns ? w->ns : t->process->explained_ns;
	uint64_t now = cp_now(), later;

	account(tr, t, now, use, true);
	later = now > known ? (now - known) / 2 : 0;
	if (w->slept && w->asleep_ns > later)
		repeat(tr, t, 0, now - later, take_ticks(t, 1),
		       take(&w->asleep_ns, w->asleep_ns - later));
	w->slept = false;
}

void wall_weigh(struct thread *t, struct cp_event_sample *s, bool running)
{
	struct wall *w = &t->wall;

	s->count = take_ticks(t, 0);
	if (s->e.flags & CP_SAMPLE_BLOCKED) {
		w->slept = true;
		s->weight_ns = take(&w->asleep_ns, UINT64_MAX);
	} else if (!running) {
		s->e.flags |= CP_SAMPLE_WAITED;
		s->weight_ns = take(&w->beside_ns, UINT64_MAX);
	}
}

void wall_published(struct tracer *tr, struct thread *t)
{
	struct wall *w = &t->wall;

	if (!w->slept && w->beside_ns >= tr->period_ns)
		repeat(tr, t, CP_SAMPLE_WAITED, w->ns, 0, take(&w->beside_ns, UINT64_MAX));
}

void wall_flush(struct tracer *tr, struct thread *t, uint64_t now)
{
	struct cpu_use use;

	if (!t->wall.slept || !proc_cpu_use(tr, t, &use))
		return;
	account(tr, t, now, &use, true);
	repeat(tr, t, 0, now, take_ticks(t, 0), take(&t->wall.asleep_ns, UINT64_MAX));
}

void wall_end(struct tracer *tr, struct thread *t, const struct cpu_use *use)
{
	struct wall *w = &t->wall;
	uint64_t now = cp_now();

	account(tr, t, now, use, true);
	/* Without a sample of its own there is nothing to repeat. */
	if (t->sampled) {
		repeat(tr, t, 0, now, take_ticks(t, 0), take(&w->asleep_ns, UINT64_MAX));
		repeat(tr, t, CP_SAMPLE_WAITED, now, take_ticks(t, 0),
		       take(&w->beside_ns, UINT64_MAX));
	}
	w->slept = false;
}
