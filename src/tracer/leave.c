/* SPDX-License-Identifier: MIT
 *
 * The tracer leaves.
 *
 *     breakpoints and handler out ─► everybody who runs is stopped once ─► areas are
 *     empty ─► the tracer's exit lets all go, and nobody is stopped for it
 */
#include "tracer/leave.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "tracer/calls/ask.h"
#include "tracer/captures/perf.h"
#include "tracer/captures/sample.h"
#include "tracer/captures/tick.h"
#include "tracer/hits/calibrate.h"
#include "tracer/idle.h"
#include "tracer/known/emit.h"
#include "tracer/known/interrupt.h"
#include "tracer/known/proc.h"
#include "tracer/lives/threads.h"
#include "tracer/memory/annotate.h"
#include "tracer/memory/area.h"
#include "tracer/memory/detours.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/sites.h"
#include "tracer/memory/space.h"
#include "tracer/signals/sigmask.h"
#include "tracer/signals/trap.h"
#include "tracer/stops/gather.h"
#include "tracer/stops/held.h"
#include "tracer/stops/hot.h"
#include "tracer/stops/snapshot.h"

/* Preempted threads are waited for so long before leaving. */
#define LEAVE_NS (2 * CP_NS_PER_S)
#define LEAVE_TRIES 4

/* Takes out all breakpoints and our handler, where possible while a thread of
 * the process stands still: one that is alone sees nothing half done. Ignoring
 * SIGTRAP forgets what other threads have hit, so that waits until they were
 * seen, `passed`. False: there was none that it can be tried with. */
static bool leave_known(struct tracer *tr, bool passed)
{
	uint64_t key, value;
	size_t cursor = 0;
	CP_VEC(struct space *) spaces = { 0 };
	size_t i, count;

	/* Processes may go while this runs: the spaces are kept. */
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value)) {
		const struct process *p = (const struct process *)(uintptr_t)value;
		struct space *space = p->space;
		bool later =
			!passed && p->threads.count > 1 && space->own.handler == (uintptr_t)SIG_IGN;

		annotate_end(space);
		if (!space->handler || space->leaving >= LEAVE_TRIES || space->kept)
			continue;
		if (later)
			sites_clean_traps(space);
		if (later || !cp_vec_push(&spaces, space))
			continue;
		space->users++;
		space->kept = true;
	}
	count = spaces.count;
	for (i = 0; i < count; i++) {
		if (trap_remove(tr, spaces.items[i]))
			spaces.items[i]->leaving = LEAVE_TRIES;
		else
			spaces.items[i]->leaving++;
		spaces.items[i]->kept = false;
		space_release(spaces.items[i]);
	}
	cp_vec_free(&spaces);
	return count > 0;
}

/* Children that are born meanwhile have breakpoints, too. */
static void leave_spaces(struct tracer *tr, bool passed)
{
	do
		gather_newborns(tr);
	while (leave_known(tr, passed));
}

/* New programs have not yet come to their first stop. */
static bool any_exec_stop(const struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		if (((const struct thread *)(uintptr_t)value)->exec_stop)
			return true;
	}
	return false;
}

/* Blocked in a system call of the program's, not in one that a slot or a detour makes. */
static bool is_elsewhere(struct tracer *tr, struct thread *t)
{
	unsigned long long args[6];
	uint64_t pc, sp;
	int64_t nr;

	return proc_call(tr, t, &nr, args) == PROC_BLOCKED && nr >= 0 &&
	       proc_where(tr, t, &pc, &sp) == PROC_BLOCKED && !space_area(t->process->space, pc) &&
	       !detours_in_chunks(t->process->space, pc, 1);
}

/* Does the thread block the stand-in of SIGTRAP (signals/sigmask.c), and may it be stopped to
 * block that itself again? */
static bool is_to_be_told(struct tracer *tr, struct thread *t)
{
	return sigmask_is_to_give_back(t) && ask_may_stop(tr, t);
}

/* Each thread that runs is stopped once: one that was on its way from a
 * breakpoint to its stop is known to have arrived, and is in no slot any more.
 * Who is blocked in a system call is not on its way. */
static void leave_pass(struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (!t->process->space->table->sites.count || t->clear)
			continue;
		if (is_elsewhere(tr, t) && !is_to_be_told(tr, t))
			t->clear = !t->process->space->armed;
		else
			interrupt_thread(tr, t, WANT_PASS);
	}
}

/* Areas of which it is known that nobody is in them may be used again at once. */
static void leave_areas(const struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		const struct thread *t = (const struct thread *)(uintptr_t)value;

		t->process->space->occupied |= !t->clear;
	}
	cursor = 0;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value)) {
		const struct space *space = ((const struct process *)(uintptr_t)value)->space;

		rings_close(space->rings, tr->link->shared->tail);
		area_forget(space);
	}
}

void leave(struct tracer *tr)
{
	uint64_t deadline = cp_now() + LEAVE_NS;

	tr->ending = true;
	perf_close(tr);
	hot_end(tr);
	snapshot_unpark(tr);
	calibrate_end(tr);
	leave_spaces(tr, false);
	leave_pass(tr);
	tr->hz = tr->wall ? tr->hz : 0;
	for (;;) {
		gather(tr);
		held_release(tr);
		interrupt_forget(tr);
		leave_spaces(tr, !tr->wanted.count);
		if (!tr->wanted.count) /* those who were let go from a hit since */
			leave_pass(tr);
		if ((!tr->wanted.count && !any_exec_stop(tr)) || cp_now() > deadline)
			break;
		idle_until_anything(tr);
	}
	leave_areas(tr);
	if (tr->hz)
		sample_pause(tr);
	sample_totals(tr);
	threads_tell_end(tr);
	emit(tr, CP_EVENT_LEFT, 0, 0);
	cp_ring_kick(tr->link, true);
}

static void *keep_memory(void *tracer)
{
	pthread_join(*(pthread_t *)tracer, NULL);
	_exit(0);
}

/* The kernel lets everybody go as this thread exits, and until then nobody
 * serves stops: a signal that the program ignores, and that wakes it only
 * because it is traced, would end its system call with EINTR. So whatever takes
 * time has been done before; who has stopped meanwhile is served; and nothing
 * comes in between, where we are allowed to ask for that. What takes longest in
 * an exit is to take down memory and files: that is left to a second thread. */
void leave_at_last(struct tracer *tr)
{
	const struct sched_param first = { .sched_priority = 1 };
	pthread_t self = pthread_self(), second;
	bool alone;

	threads_close(tr);
	alone = pthread_create(&second, NULL, keep_memory, &self) != 0;
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		sched_yield(); /* a whole slice, then */
	do
		gather(tr);
	while (tr->reports);
	for (;;)
		syscall(alone ? SYS_exit_group : SYS_exit, 0);
}
