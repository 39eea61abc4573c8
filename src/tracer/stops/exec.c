/* SPDX-License-Identifier: MIT
 *
 * A program takes the place of another one.
 */
#include "tracer/stops/exec.h"

#include <string.h>
#include <sys/ptrace.h>

#include "tracer/calls/watch.h"
#include "tracer/captures/perf_state.h"
#include "tracer/captures/perf_take.h"
#include "tracer/captures/wall.h"
#include "tracer/known/await.h"
#include "tracer/known/emit.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/lives/inherit.h"
#include "tracer/lives/threads.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/space.h"
#include "tracer/signals/sigmask.h"
#include "tracer/signals/trap.h"
#include "tracer/stops/held.h"

void exec_announce(struct tracer *tr, struct thread *leader)
{
	emit(tr, CP_EVENT_EXEC, leader->tid, leader->tid);
	rings_take_back(leader, tr->link->shared->head);
	cp_ring_kick(tr->link, true);
}

/* A guest has memory of its own now. */
static void leave_guest(struct tracer *tr, struct thread *leader)
{
	ptrace(PTRACE_DETACH, leader->tid, 0, 0L);
	thread_remove(tr, leader, -1);
}

bool exec_done(struct tracer *tr, struct thread *t)
{
	struct process *p = t->process;
	struct thread *leader = thread_find(tr, p->pid);

	/* Reported for the leader's id, whichever thread did it; the others
	 * are gone, and the one that did it has the leader's id now. Until the
	 * event is consumed, the kernel takes ptrace calls with that id for
	 * meant for the old leader and refuses them (ptrace_attach's
	 * looks_like_a_spurious_pid()). An event carries no signal to lose. */
	await_consume(p->pid);
	if (!leader)
		return true;
	perf_take(tr); /* of the old program */
	perf_born(tr);
	process_exec(tr, p);
	if (p->launching) { /* until now it was us */
		p->launching = false;
		proc_cpu_use(tr, leader, &leader->seen);
		leader->run_base = leader->run_given = leader->seen.run_ns;
		leader->perf.looked_ns = leader->perf.run_ns = leader->run_base;
		wall_begin(leader, &leader->seen);
	}
	leader->restart.pending = false;
	watch_end(leader);
	leader->entered = leader->open_count = 0;
	starve_forget(leader);
	memset(leader->again, 0, sizeof(leader->again));
	if (p->space->handler)
		sigmask_give_back_to(leader);
	leader->given_back = false;
	inherit_nothing(p);
	slot_forget(tr, leader->slot);
	if (((!p->guest && tr->trace_flags & CP_TRACE_PROBES) || p->space->ignored) &&
	    !ptrace(PTRACE_INTERRUPT, p->pid, 0, 0)) {
		leader->exec_stop = true;
		return true;
	}
	if (p->guest) {
		leave_guest(tr, leader);
		return false;
	}
	exec_announce(tr, leader);
	return true;
}

enum exec_next exec_begin(struct tracer *tr, struct thread *t)
{
	t->exec_stop = false;
	if (t->process->space->ignored)
		trap_ignore(tr, t);
	if (t->process->guest) {
		leave_guest(tr, t);
		return EXEC_GONE;
	}
	t->user_stop = held_until(tr, t, tr->link->shared->head, HELD_READ_NS);
	t->process->space->fresh = t->user_stop;
	return t->user_stop ? EXEC_HELD : EXEC_GOES;
}
