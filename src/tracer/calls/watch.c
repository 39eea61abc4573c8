/* SPDX-License-Identifier: MIT
 *
 * Whoever is woken by an ignored signal that another thread takes does not stop.
 *
 * Traced, a process gets signals that it ignores. One to all of it wakes its first thread,
 * unless that blocks it, but any thread on its way back into the program takes it: who goes
 * on from a breakpoint is on that way from PTRACE_CONT on, until it has a CPU. The first
 * thread finds nothing then, and its call is over: -EINTR, and no stop tells of it.
 *
 *     first thread   epoll_wait ... woken, no CPU yet ......... no signal: -EINTR
 *     another        breakpoint ─► PTRACE_CONT, no CPU yet ─► takes it: its stop
 *
 * The other's stop does tell that it was so, too late for that call. From then on, or from the
 * first such signal that it took itself while others stop, the first thread stops at both ends
 * of its calls (PTRACE_SYSCALL), for some calls: where one is over without a signal, it is
 * made again there. So does another that tells of it (finish.c).
 *
 * A stop at the end of a call gives others the time to take what it ended for, so that thread
 * is served before all others (stops/stop.c), nobody goes on while it is on its way to a
 * handler's signal, and calls that start again by themselves (poll) have no such stop.
 *
 * A call has to end where a signal that the program handles, or stops at, was another
 * thread's meanwhile: it may have been for that, and whoever waits for a handler's doings
 * relies on it.
 */
#include "tracer/calls/watch.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "tracer/calls/restart.h"
#include "tracer/known/interrupt.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"

/* Calls that are watched for one signal: a call costs two stops. */
#define CALLS 32
#define LATE_NS (10 * CP_NS_PER_MS)
#define FEW_THREADS 64 /* that are looked at for one call */
#define BIT(signal) (UINT64_C(1) << ((signal)-1))
#define OF_INSTRUCTIONS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGTRAP))
#define STOPS (BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))

void watch_calls(struct thread *t, int signal)
{
	if (t->process->threads.count < 2 || signal >= 64 || BIT(signal) & STOPS)
		return;
	t->watch.calls = CALLS;
	t->watch.signal = signal;
}

void watch_end(struct thread *t)
{
	t->watch = (struct watch){ 0 };
}

/* Was the signal that a thread stops at sent to all of its process? Some that were are told
 * apart from those to one thread by nothing. */
static bool may_be_for_all(pid_t tid, int signal)
{
	siginfo_t si;

	if (signal < 64 && BIT(signal) & STOPS)
		return true;
	return !ptrace(PTRACE_GETSIGINFO, tid, 0, &si) && si.si_code != SI_TKILL &&
	       !(si.si_code > 0 && si.si_code != SI_KERNEL && signal < 64 &&
		 BIT(signal) & OF_INSTRUCTIONS);
}

/* Would it be of use to stop the thread, and do no harm? */
static bool may_stop(struct tracer *tr, struct thread *t)
{
	unsigned long long args[6];
	int64_t nr;

	switch (proc_call(tr, t, &nr, args)) {
	case PROC_RUNNING:
		return true;
	case PROC_BLOCKED:
		return nr >= 0 && restart_harm(nr, args) > 2 && restart_is_bearable(nr, args);
	case PROC_GONE:
		break;
	}
	return false;
}

/* Has another thread gone on from a stop of late, which it may do again? */
static bool others_stop(const struct thread *t)
{
	const struct process *p = t->process;
	uint64_t now = cp_now();
	size_t i;

	for (i = 0; i < p->threads.count && i < FEW_THREADS; i++)
		if (p->threads.items[i] != t && p->threads.items[i]->resumed_ns + LATE_NS > now)
			return true;
	return false;
}

/* Would it have been the first thread's, as far as is known? Only kill()'s is not sent to one
 * thread for certain. */
static bool has_strayed(const struct thread *first, const struct thread *t, int signal)
{
	siginfo_t si;

	return !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) && si.si_code == SI_USER &&
	       proc_catches(t->tid, signal) && !proc_has_ended(first->tid) &&
	       !(proc_blocked(first->tid) >> (signal - 1) & 1);
}

void watch_signal(struct tracer *tr, struct thread *t, int signal)
{
	struct process *p = t->process;
	struct thread *first = thread_find(tr, p->pid);
	bool watched;

	if (!first || p->threads.count < 2 || (first == t && !others_stop(t)) ||
	    !may_be_for_all(t->tid, signal))
		return;
	if (first == t) {
		if (proc_ignores(t->tid, signal))
			watch_calls(t, signal);
		return;
	}
	if (!proc_ignores(t->tid, signal)) {
		p->acted_ns = cp_now();
		tr->link->shared->stats.strayed += has_strayed(first, t, signal);
		return;
	}
	p->ignored_ns = cp_now();
	watched = first->watch.calls > 0;
	watch_calls(first, signal);
	if (!watched && !tr->ending && first->state == THREAD_RUNNING && may_stop(tr, first))
		interrupt_thread(tr, first, WANT_WATCH);
}

/* A thread whose stop nobody has looked at yet. */
static bool is_acting(const struct thread *t)
{
	siginfo_t si = { 0 };

	return !waitid(P_PID, (id_t)t->tid, &si, WSTOPPED | WNOWAIT | WNOHANG | __WALL) &&
	       si.si_pid && si.si_code == CLD_TRAPPED && si.si_status != SIGTRAP &&
	       si.si_status < 64 && may_be_for_all(t->tid, si.si_status) &&
	       !proc_ignores(t->tid, si.si_status);
}

/* Did another thread get a signal that may have ended the call of this one? */
static bool others_act(const struct thread *t)
{
	const struct process *p = t->process;
	size_t i;

	if (p->acted_ns >= t->watch.since_ns)
		return true;
	if (p->threads.count > FEW_THREADS)
		return false;
	for (i = 0; i < p->threads.count; i++)
		if (p->threads.items[i] != t && is_acting(p->threads.items[i]))
			return true;
	return false;
}

/* A transfer may always have been short. */
static bool may_be_over(const struct thread *t, int64_t result)
{
	return result == -EINTR ||
	       (result > 0 && t->process->ignored_ns >= t->watch.since_ns && t->watch.since_ns);
}

/* A call that starts again by itself is not looked at once more: a stop at its end would give
 * others the time to take a signal that it ends for. */
static bool is_safe(const struct __ptrace_syscall_info *info)
{
	unsigned long long args[6];
	size_t i;

	for (i = 0; i < 6; i++)
		args[i] = info->entry.args[i];
	return restart_harm((int64_t)info->entry.nr, args) <= 2;
}

bool watch_border(struct tracer *tr, struct thread *t)
{
	struct __ptrace_syscall_info info;
	bool gets = false;
	long size = ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof(info), &info);

	if (size <= 0)
		watch_end(t);
	else if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		t->restart.pending = false;
		t->watch.since_ns = cp_now();
		t->watch.passes = is_safe(&info);
		tr->watched = t->watch.passes ? 0 : t->tid;
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
		tr->watched = 0;
		gets = info.exit.rval < 0 && proc_will_get_any(t->tid);
		if (!gets && may_be_over(t, info.exit.rval) && !others_act(t))
			restart_woken(tr, t);
		t->watch.since_ns = 0;
		t->watch.calls--;
	}
	/* Any stop ends an interrupt that is under way. */
	if (t->want || t->exec_stop)
		ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	return gets;
}
