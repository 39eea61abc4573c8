/* SPDX-License-Identifier: MIT
 *
 * Who is asked for system calls: a held thread; one that runs; else one in a call that
 * starts again by itself. One in a call with a time limit, which would start again
 * too (restart.c), comes last.
 */
#include "tracer/calls/ask.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <time.h>

#include "base/clock.h"
#include "tracer/calls/guard.h"
#include "tracer/calls/inject.h"
#include "tracer/calls/restart.h"
#include "tracer/calls/seccomp.h"
#include "tracer/known/await.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/known/regs.h"

#define STOP_NS (CP_NS_PER_S / 4) /* for one thread to stop */
#define CANDIDATES 8

/* The less, the better to be asked; -1: not at all. */
static int harm(struct tracer *tr, struct thread *t)
{
	unsigned long long args[6];
	int64_t nr;

	switch (proc_call(tr, t, &nr, args)) {
	case PROC_RUNNING:
		return 1;
	case PROC_BLOCKED:
		return nr < 0 ? 7 : restart_harm(nr, args);
	case PROC_GONE:
		break;
	}
	return -1;
}

/* The thread that a process began with has a stack that is large enough to be led back to
 * (guard.c), which may be true of no other one: it is one of them, if not the best. */
static void add_leader(struct tracer *tr, const struct space *space, struct thread **ret, size_t n,
		       size_t max)
{
	struct thread *t = thread_find(tr, space->pid);
	size_t i;

	if (n < max || !t || t->process->space != space || t->state == THREAD_HELD ||
	    harm(tr, t) < 0)
		return;
	for (i = 0; i < n; i++)
		if (ret[i] == t)
			return;
	ret[n - 1] = t;
}

/* Up to `max` threads of the space, the best ones first. */
static size_t candidates(struct tracer *tr, const struct space *space, struct thread **ret,
			 size_t max)
{
	int harms[CANDIDATES];
	uint64_t key, value;
	size_t cursor = 0, n = 0, i;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;
		int h;

		if (t->process->space != space || t->process->launching)
			continue;
		h = t->state == THREAD_HELD ? (t->user_stop ? 0 : -1) : harm(tr, t);
		if (h < 0 || (n == max && h >= harms[n - 1]))
			continue;
		if (n < max)
			n++;
		for (i = n - 1; i > 0 && harms[i - 1] > h; i--) {
			harms[i] = harms[i - 1];
			ret[i] = ret[i - 1];
		}
		harms[i] = h;
		ret[i] = t;
		if (h == 0)
			break;
	}
	add_leader(tr, space, ret, n, max);
	return n;
}

/* ---- stopping it ---- */

/* A restartable sequence that was left for a moment is not noticed by the kernel
 * if the thread does something else in between: then the kernel forgets it, and
 * it is not aborted. */
static bool in_rseq(const struct space *space, pid_t tid)
{
	struct __ptrace_rseq_configuration rseq;
	struct {
		uint32_t version, flags;
		uint64_t start, size, abort;
	} cs;
	uint64_t at, regs[PRSTATUS_MAX / 8];
	struct cp_syscall_state s;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof(rseq), &rseq) <= 0 ||
	    !rseq.rseq_abi_pointer ||
	    !space_read(space, rseq.rseq_abi_pointer + 8, &at, sizeof(at)) || !at ||
	    !space_read(space, at, &cs, sizeof(cs)) || !regs_read(tid, regs))
		return false;
	cp_arch_syscall_state(regs, &s);
	return s.pc - cs.start < cs.size;
}

/* Other stops on the way are served as ever, and the thread may be gone (and freed)
 * then: so by its id. */
struct thread *ask_stop(struct tracer *tr, pid_t tid, bool interrupted)
{
	const struct timespec nap = { 0, CP_NS_PER_MS };
	uint64_t deadline = cp_now() + STOP_NS;
	bool pending = interrupted;
	struct thread *t;

	while ((t = thread_find(tr, tid)) && t->state != THREAD_HELD && cp_now() < deadline) {
		int status;

		if (!pending && ptrace(PTRACE_INTERRUPT, tid, 0, 0))
			return NULL;
		status = await_stop(tid, STOP_NS);
		/* A breakpoint that was hit would be forgotten where SIGTRAP is
		 * ignored from now on: it comes next. */
		pending = await_is_event(status) && proc_will_get(tid, SIGTRAP);
		if (await_is_event(status) && !pending && !in_rseq(t->process->space, tid))
			return t;
		/* The interrupt stays under way when nothing came. */
		if (status < 0 || (!tr->stops->serve_one(tr, tid) && !tr->full))
			return NULL;
		if (tr->full)
			nanosleep(&nap, NULL);
	}
	return t && t->state == THREAD_HELD && t->user_stop ? t : NULL;
}

void ask_let_run(struct tracer *tr, struct thread *t)
{
	if (t->state != THREAD_HELD && await_is_event(await_stop(t->tid, STOP_NS)))
		tr->stops->serve_one(tr, t->tid);
}

static bool prepare(struct tracer *tr, struct injection *in)
{
	/* A call that the interrupt broke off is put right first. */
	if (!in->stays)
		restart_repair(tr, in->thread, NULL);
	return inject_prepare(in);
}

/* Begins with a thread at its stop; if `guarded`, only where it would find back by
 * itself. */
static int begin_with(struct tracer *tr, struct space *space, pid_t tid, bool guarded,
		      struct injection *ret)
{
	struct thread *t = ask_stop(tr, tid, false);
	int err = EAGAIN;

	if (!t || t->process->space != space)
		return EAGAIN;
	*ret = (struct injection){ .thread = t, .space = space };
	ret->stays = t->state == THREAD_HELD;
	if (!seccomp_pass(tr, t, &ret->filtered))
		err = EACCES;
	else if (prepare(tr, ret) && (ret->guard || !guarded))
		return 0;
	inject_filter_again(tr, ret);
	ask_let_run(tr, t);
	return err;
}

int ask_begin(struct tracer *tr, struct space *space, struct injection *ret)
{
	struct thread *who[CANDIDATES];
	pid_t tids[CANDIDATES];
	int err = EAGAIN, guarded;
	size_t n, i;

	if (!space->syscall_insn)
		guard_find_code(tr, space);
	if (!space->syscall_insn)
		return ENOSYS;
	tr->stops->serve_newborns(tr); /* who is held for one can't be asked */
	n = candidates(tr, space, who, CANDIDATES);
	for (i = 0; i < n; i++)
		tids[i] = who[i]->tid;
	for (guarded = 1; guarded >= 0; guarded--) {
		for (i = 0; i < n; i++) {
			int failed = begin_with(tr, space, tids[i], guarded, ret);

			if (!failed)
				return 0;
			if (failed == EACCES)
				err = EACCES;
		}
	}
	return err;
}

void ask_end(struct tracer *tr, struct injection *in)
{
	pid_t tid = in->thread->tid;

	inject_end(tr, in);
	if (!in->stays)
		tr->stops->serve_one(tr, tid);
}

bool ask_may_stop(struct tracer *tr, struct thread *t)
{
	unsigned long long args[6];
	int64_t nr;

	switch (proc_call(tr, t, &nr, args)) {
	case PROC_RUNNING:
		return true;
	case PROC_BLOCKED:
		return nr < 0 || restart_is_bearable(nr, args);
	case PROC_GONE:
		break;
	}
	return false;
}
