/* SPDX-License-Identifier: MIT
 *
 * Taking hold of threads: PTRACE_SEIZE stops nobody, so attaching disturbs
 * nothing. Threads that are born meanwhile to seized ones come attached; those
 * born to not yet seized ones are found by reading the task directory until a
 * pass finds nobody new.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tracer/state.h"

/* An exec takes milliseconds at most. */
#define EXEC_TRIES 100
#define EXEC_NAP_NS CP_NS_PER_MS

/* Exits are awaited at a thread group's leader only: at its exit stop the
 * memory of the process can still be read. */
long seize_options(const struct tracer *tr, bool leader)
{
	long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;

	/* A child that is not followed has to be freed of breakpoints. */
	if (tr->trace_flags & (CP_TRACE_FOLLOW | CP_TRACE_PROBES))
		options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	return leader ? options | PTRACE_O_TRACEEXIT : options;
}

static int seize(struct tracer *tr, pid_t tid, bool leader)
{
	return ptrace(PTRACE_SEIZE, tid, 0, seize_options(tr, leader)) ? errno : 0;
}

void seize_launch(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	tr->trace_flags = rq->flags;
	ret->errnum = seize(tr, rq->pid, true);
	if (ret->errnum)
		return;
	if (!thread_add(tr, rq->pid, rq->pid, CP_BIRTH_LAUNCHED, 0))
		ret->errnum = ENOMEM;
	tr->attached = true;
}

/* One pass over the task directory. Returns how many threads were new. */
static unsigned seize_pass(struct tracer *tr, pid_t pid, DIR *dir, int *error)
{
	unsigned fresh = 0;
	struct dirent *e;
	int err;

	rewinddir(dir);
	while ((e = readdir(dir))) {
		pid_t tid = atoi(e->d_name);

		if (tid <= 0 || thread_find(tr, tid))
			continue;
		err = seize(tr, tid, tid == pid);
		if (!err) {
			fresh++;
			if (!thread_add(tr, pid, tid, CP_BIRTH_ATTACHED, 0))
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
	int error = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? ESRCH : errno;
	while (seize_pass(tr, pid, dir, &error))
		;
	closedir(dir);
	return error;
}

void seize_attach(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	const struct timespec nap = cp_timespec(EXEC_NAP_NS);
	int tries = EXEC_TRIES, error;
	struct process *p;

	tr->trace_flags = rq->flags;
	/* While a thread that is not the leader executes a program, the leader
	 * is a zombie, which refuses; then the thread takes its place. */
	while ((error = seize_all(tr, rq->pid)) == EPERM && !process_find(tr, rq->pid) &&
	       !proc_tracer_of(rq->pid) && --tries)
		nanosleep(&nap, NULL);
	p = process_find(tr, rq->pid);
	ret->threads = p ? (uint32_t)p->threads.count : 0;
	if (!ret->threads) {
		ret->errnum = error ? error : ESRCH;
		ret->tracer = proc_tracer_of(rq->pid);
		return;
	}
	tr->attached = true;
}
