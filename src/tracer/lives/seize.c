/* SPDX-License-Identifier: MIT
 *
 * Taking hold of threads: PTRACE_SEIZE stops nobody, so attaching disturbs
 * nothing. Threads that are born meanwhile to seized ones come attached; those
 * born to not yet seized ones are found by reading the task directory until a
 * pass finds nobody new.
 */
#include "tracer/lives/seize.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tracer/calls/finish.h"
#include "tracer/known/interrupt.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/lives/threads.h"
#include "tracer/signals/trap.h"

/* A PTRACE_SEIZE takes no longer, unless it waits for an exec. */
#define FDS_LEAST 128 /* for threads, and as many for processes */
#define SEIZE_NS (10 * CP_NS_PER_MS)
/* An exec takes milliseconds at most. */
#define EXEC_TRIES 100
#define EXEC_NAP_NS CP_NS_PER_MS

/* ---- an exec in the middle ---- */

/* PTRACE_SEIZE waits for an exec that has begun, the exec for the other threads
 * to be gone, and those that we have already seized for us: the leader at its
 * exit stop, and each to be reaped. So while PTRACE_SEIZE takes long, a timer's signal
 * looks after them, in its handler because there is no other way back. */
static void let_exec_go_on(int sig, siginfo_t *si, void *context)
{
	const int any = WEXITED | WSTOPPED | WNOHANG | __WALL;
	struct tracer *tr = si->si_value.sival_ptr;
	int saved = errno;
	uint64_t tid, value;
	size_t cursor = 0;

	(void)sig;
	(void)context;
	if (si->si_code != SI_TIMER)
		return;
	while (tr->seizing && cp_map_next(&tr->by_tid, &cursor, &tid, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;
		siginfo_t info = { .si_pid = 0 };

		if (t->reaped || waitid(P_PID, (id_t)tid, &info, any | WNOWAIT) || !info.si_pid)
			continue;
		if (info.si_code != CLD_TRAPPED)
			t->reaped = waitpid((pid_t)tid, &t->exit_status, WNOHANG | __WALL) > 0;
		else if (info.si_status >> 8 == PTRACE_EVENT_EXIT)
			ptrace(PTRACE_CONT, (pid_t)tid, 0, 0);
	}
	errno = saved;
}

static void forget_reaped(struct tracer *tr)
{
	uint64_t tid, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &tid, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (!t->reaped)
			continue;
		thread_remove(tr, t, t->exit_status);
		cursor = 0;
	}
}

/* errno or 0. */
static int watch(struct tracer *tr, timer_t *timer_ret)
{
	const struct sigaction action = { .sa_sigaction = let_exec_go_on, .sa_flags = SA_SIGINFO };
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGALRM,
		.sigev_value = { .sival_ptr = tr },
	};
	sigset_t alarm;

	if (timer_create(CLOCK_MONOTONIC, &event, timer_ret))
		return errno;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigaction(SIGALRM, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	return 0;
}

static void unwatch(timer_t timer)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	timer_delete(timer);
	sigaction(SIGALRM, &ignore, NULL);
}

static int seize(struct tracer *tr, pid_t tid, bool leader)
{
	return ptrace(PTRACE_SEIZE, tid, 0, interrupt_options(tr, leader)) ? errno : 0;
}

static int seize_watched(struct tracer *tr, timer_t timer, pid_t tid, bool leader)
{
	const struct timespec period = cp_timespec(SEIZE_NS);
	const struct itimerspec soon = { period, period }, never = { 0 };
	int err;

	tr->seizing = true;
	timer_settime(timer, 0, &soon, NULL);
	err = seize(tr, tid, leader);
	tr->seizing = false;
	timer_settime(timer, 0, &never, NULL);
	return err;
}

/* ---- taking hold ---- */

/* With fewer a process could come that cprof can't look into, which would be its end: its
 * parent's breakpoints are in it, too. */
static bool has_descriptors(const struct tracer *tr)
{
	return tr->attached || tr->fds_left >= FDS_LEAST;
}

void seize_launch(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	tr->trace_flags = rq->flags;
	ret->errnum = has_descriptors(tr) ? seize(tr, rq->pid, true) : EMFILE;
	if (ret->errnum) {
		ret->tracer = proc_tracer_of(rq->pid);
		return;
	}
	if (!thread_add(tr, rq->pid, rq->pid, CP_BIRTH_LAUNCHED, NULL))
		ret->errnum = ENOMEM;
	tr->descendants = !tr->attached || tr->descendants;
	tr->attached = true;
}

/* One pass over the task directory. Returns how many threads were new. */
static unsigned seize_pass(struct tracer *tr, timer_t timer, pid_t pid, DIR *dir, int *error)
{
	unsigned fresh = 0;
	struct dirent *e;
	int err;

	rewinddir(dir);
	while ((e = readdir(dir))) {
		pid_t tid = atoi(e->d_name);

		if (tid <= 0 || thread_find(tr, tid))
			continue;
		err = seize_watched(tr, timer, tid, tid == pid);
		if (!err) {
			fresh++;
			if (!thread_add(tr, pid, tid, CP_BIRTH_ATTACHED, NULL))
				*error = ENOMEM;
		} else if (err != ESRCH && proc_tracer_of(tid) != getpid()) {
			/* Refused, unless it is dead or came attached. */
			*error = err;
		}
	}
	return fresh;
}

/* All threads there are; an errno where one refused. */
static int seize_all(struct tracer *tr, pid_t pid)
{
	char path[64];
	timer_t timer;
	int error;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? ESRCH : errno;
	error = watch(tr, &timer);
	if (!error) {
		while (seize_pass(tr, timer, pid, dir, &error))
			;
		unwatch(timer);
	}
	forget_reaped(tr);
	closedir(dir);
	return error;
}

/* Is nobody there who traces the process, and stays? A profiler that was killed may have it
 * until it is dead. */
static bool nobody_stays(pid_t pid)
{
	pid_t tracer = proc_tracer_of(pid);

	return !tracer || proc_why(tracer, EPERM) == ESRCH;
}

void seize_attach(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	const struct timespec nap = cp_timespec(EXEC_NAP_NS);
	int tries = EXEC_TRIES, error;
	struct process *p;

	tr->trace_flags = rq->flags;
	if (!has_descriptors(tr)) {
		ret->errnum = EMFILE;
		return;
	}
	/* While a thread that is not the leader executes a program, the leader
	 * is a zombie, which refuses; then the thread takes its place. */
	while ((error = seize_all(tr, rq->pid)) == EPERM && !process_find(tr, rq->pid) &&
	       nobody_stays(rq->pid) && --tries)
		nanosleep(&nap, NULL);
	p = process_find(tr, rq->pid);
	ret->threads = p ? (uint32_t)p->threads.count : 0;
	if (!ret->threads) {
		ret->errnum = error ? error : ESRCH;
		ret->tracer = proc_tracer_of(rq->pid);
		return;
	}
	finish_adopt(p->space);
	tr->descendants = false;
	tr->attached = true;
	trap_take_out_left(tr, p->space);
}
