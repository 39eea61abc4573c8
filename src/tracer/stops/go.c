/* SPDX-License-Identifier: MIT
 *
 * A stop ends: how the thread goes on, and what the stop took.
 */
#include "tracer/stops/go.h"

#include <signal.h>
#include <sys/ptrace.h>

#include "base/clock.h"
#include "tracer/calls/restart.h"
#include "tracer/captures/capture.h"
#include "tracer/known/proc.h"
#include "tracer/memory/space.h"
#include "tracer/memory/unslot.h"
#include "tracer/signals/trap.h"

void go_on(struct thread *t, int signal)
{
	t->state = THREAD_RUNNING;
	t->user_stop = false;
	t->kept_ns = 0;
	t->let_go++;
	t->process->space->fresh = false;
	t->resumed_ns = cp_now();
	if (t->watch.calls && !t->watch.passes)
		ptrace(PTRACE_SYSCALL, t->tid, 0, (long)signal);
	else
		ptrace(PTRACE_CONT, t->tid, 0, (long)signal);
	t->watch.passes = false;
}

void go_listen(struct thread *t)
{
	t->state = THREAD_LISTENING;
	ptrace(PTRACE_LISTEN, t->tid, 0, 0);
}

/* The signal that the program gets: SIGTRAP has ours as its handler. */
static int own_signal(struct thread *t, int signal)
{
	siginfo_t si;

	if (!t->process->space->handler)
		return signal;
	trap_look(t); /* its handler may run with SIGTRAP blocked */
	if (signal != SIGTRAP)
		return signal;
	/* Where our handler is gone, the signal is the program's end (arch/x86_64/handler.c). */
	if (space_ignores_trap(t->process->space) && !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) &&
	    si.si_code <= 0 && proc_catches(t->tid, SIGTRAP))
		return 0;
	trap_delivered(t);
	return signal;
}

/* A signal of the program's own. In a slot, whoever goes on as if nothing had been
 * stays there: it would come to its breakpoint again. */
void go_with(struct tracer *tr, struct thread *t, int signal)
{
	t->entered = 0;
	if (signal == SIGTRAP && trap_is_blocked(tr, t)) {
		restart_repair(tr, t, NULL);
		go_on(t, 0);
		return;
	}
	unslot_thread(t);
	starve_signal(t, signal, cp_now());
	restart_signal(tr, t, signal);
	go_on(t, own_signal(t, signal));
}

void go_resume(struct tracer *tr, struct thread *t)
{
	int signal = t->signal;

	t->signal = 0;
	if (signal)
		go_with(tr, t, signal);
	else
		go_on(t, 0);
}

/* ---- what it took ---- */

uint64_t go_count_kept(struct tracer *tr, struct thread *t, uint64_t now)
{
	uint64_t ns = t->kept_ns && now > t->kept_ns ? now - t->kept_ns : 0;

	if (t->waits)
		tr->link->shared->stats.full_ns += ns;
	t->waits = false;
	t->kept_ns = 0;
	t->stopped_ns += ns;
	tr->link->shared->stats.stopped_ns += ns;
	return ns;
}

void go_count(struct tracer *tr, struct thread *t, uint64_t ns)
{
	struct cp_link_stats *stats = &tr->link->shared->stats;

	t->stops++;
	t->stopped_ns += ns;
	stats->stops++;
	stats->stopped_ns += ns;
	stats->hold[cp_histogram_bucket(ns)]++;
}

void go_finish(struct tracer *tr, struct thread *t, struct cp_event_sample *sample, unsigned want,
	       uint64_t seen)
{
	if (!want)
		return;
	go_count(tr, t, cp_now() - seen);
	if (sample)
		capture_finish(tr, t, sample, want);
}
