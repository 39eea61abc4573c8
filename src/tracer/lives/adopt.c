/* SPDX-License-Identifier: MIT
 *
 * Tasks that come attached, by the options of who made them.
 */
#include "tracer/lives/adopt.h"

#include <sys/ptrace.h>

#include "tracer/known/interrupt.h"
#include "tracer/known/proc.h"
#include "tracer/lives/inherit.h"
#include "tracer/lives/newborn.h"
#include "tracer/lives/threads.h"
#include "tracer/memory/annotate.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/sites.h"
#include "tracer/memory/space.h"
#include "tracer/signals/sigmask.h"

/* A child that is not followed is freed of the breakpoints that came with its
 * parent's memory. If it shares that memory, nothing can be taken out, and it
 * has to stay: true. */
static bool must_stay(struct tracer *tr, pid_t pid, pid_t parent)
{
	struct space *space;
	bool shared;

	if (!(tr->trace_flags & CP_TRACE_PROBES))
		return false;
	space = inherit_space(tr, pid, parent);
	if (!space)
		return false;
	shared = space->users > 1;
	if (!shared) {
		if (space->handler)
			sigmask_give_back(pid);
		rings_forget(space->rings, pid);
		sites_clean(space, true);
		annotate_end(space);
	}
	space_release(space);
	return shared;
}

struct thread *adopt(struct tracer *tr, pid_t tid)
{
	struct proc_group group;
	struct thread *t;
	pid_t pid;

	if (!proc_group(tid, &group))
		return NULL;
	pid = group.pid;
	if (pid == tid && !(tr->trace_flags & CP_TRACE_FOLLOW) &&
	    !must_stay(tr, pid, group.parent)) {
		/* clone() without CLONE_THREAD reports like a thread. */
		ptrace(PTRACE_DETACH, tid, 0, 0);
		return NULL;
	}
	t = thread_add(tr, pid, tid, CP_BIRTH_FORKED, &group);
	if (!t)
		return NULL;
	ptrace(PTRACE_SETOPTIONS, tid, 0, interrupt_options(tr, pid == tid));
	sigmask_stand_in(t);
	rings_forget(t->process->space->rings, tid);
	if (pid == tid)
		newborn_complete(tr, t);
	return t;
}
