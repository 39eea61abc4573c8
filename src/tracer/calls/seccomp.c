/* SPDX-License-Identifier: MIT
 *
 * Filters of system calls: whether a thread can make calls that it never makes
 * itself, without harm.
 */
#include "tracer/calls/seccomp.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/known/interrupt.h"
#include "tracer/known/proc.h"
#include "tracer/known/state.h"
#include "tracer/memory/space.h"

/* Does to ourselves what is done to the program. If a filter kills for it, let
 * it be us. */
static bool try_calls(void)
{
	struct sigaction action;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page != MAP_FAILED && !mprotect(page, 4096, PROT_READ | PROT_WRITE) &&
	       !sigaction(SIGTRAP, NULL, &action) && !munmap(page, 4096) &&
	       !syscall(SYS_tkill, syscall(SYS_gettid), 0);
}

/* Filters are inherited, can be added and never taken away: a descendant of the
 * process that we are from too, with as many as we have, has ours and no other.
 * So it is in containers, whose runtime filters all that runs there. */
static bool has_ours(struct tracer *tr, const struct proc_filters *f)
{
	struct proc_filters own;

	if (!tr->descendants || f->mode != SECCOMP_MODE_FILTER || !f->count)
		return false;
	own = proc_filters_of(getpid());
	if (own.mode != f->mode || own.count != f->count)
		return false;
	if (!tr->tried_calls)
		tr->tried_calls = try_calls() ? 1 : -1;
	return tr->tried_calls > 0;
}

bool seccomp_lets(struct tracer *tr, const struct thread *t)
{
	struct proc_filters f = proc_filters_of(t->tid);

	return !f.mode || has_ours(tr, &f);
}

/* A filter may kill the program for a call that it never makes itself. One that
 * we live under lets us know. Another one is suspended where that is permitted;
 * else the thread is left alone. */
bool seccomp_pass(struct tracer *tr, const struct thread *t, bool *suspended_ret)
{
	struct space *space = t->process->space;
	struct proc_filters f;

	*suspended_ret = false;
	if (space->fresh && space->unfiltered)
		return true;
	f = proc_filters_of(t->tid);
	space->unfiltered = !f.mode || has_ours(tr, &f);
	space->ignored_first = f.ignored;
	if (space->unfiltered)
		return true;
	*suspended_ret = !ptrace(PTRACE_SETOPTIONS, t->tid, 0,
				 interrupt_options(tr, t->tid == t->process->pid) |
					 PTRACE_O_SUSPEND_SECCOMP);
	return *suspended_ret;
}
