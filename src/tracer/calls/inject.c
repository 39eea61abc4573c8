/* SPDX-License-Identifier: MIT
 *
 * System calls inside the program: mmap for slots, rt_sigaction for SIGTRAP.
 *
 *   stopped by an interrupt, where signals are handled (EVENT_STOP)
 *        │  registers kept; pc at a `syscall` of the vdso, orig -1
 *        ▼
 *   PTRACE_SYSCALL ─► entry stop ─► PTRACE_SYSCALL ─► exit stop: the result
 *        │
 *        ▼
 *   PTRACE_INTERRUPT, PTRACE_CONT ─► EVENT_STOP: registers back
 *
 * It ends where it began: only there does the kernel look whether a system call
 * that was interrupted has to be started again (arch_do_signal_or_restart), so
 * a thread that was blocked goes on blocking as if nothing had been. Signals are
 * held back meanwhile. No code of the program is changed, and nothing is
 * stepped, which would force a SIGTRAP upon a program that ignores it. Should we
 * be killed in between, a signal frame leads the thread back (guard.c).
 *
 * Who is asked: a held thread; one that runs; else one in a call that starts
 * again by itself. One in a call with a time limit, which would start again
 * too (restart.c), comes last.
 */
#include <elf.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "tracer/known/proc.h"
#include "tracer/memory/space.h"

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#define PTRACE_SETSIGMASK 0x420b
#endif

#define STOP_NS (CP_NS_PER_S / 4) /* for one thread to stop */
/* For the call to be made: its registers are ours until then, so it is waited
 * for, however long the machine lets it wait. */
#define CALL_NS (600 * CP_NS_PER_S)
#define CANDIDATES 8

/* ---- waiting for one thread ---- */

/* The status of its stop, signal | event << 8; it is not consumed. -1: it did
 * not stop in time, or is gone. */
static int wait_stop(pid_t tid, uint64_t ns)
{
	uint64_t deadline = cp_now() + ns;

	for (;;) {
		const struct timespec nap = { 0, 20000 };
		siginfo_t si = { 0 };

		if (waitid(P_PID, (id_t)tid, &si, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL))
			return -1;
		if (si.si_pid && (si.si_code == CLD_TRAPPED || si.si_code == CLD_STOPPED))
			return si.si_status;
		if (si.si_pid || cp_now() > deadline)
			return -1;
		nanosleep(&nap, NULL);
	}
}

static bool is_event_stop(int status)
{
	return status >= 0 && status >> 8 == PTRACE_EVENT_STOP;
}

static bool is_syscall_stop(int status)
{
	return status == (SIGTRAP | 0x80);
}

/* ---- seccomp ---- */

struct filters {
	int mode; /* SECCOMP_MODE_*, 0: none */
	int count; /* 0: not told, as before Linux 5.9 */
};

static struct filters filters_of(pid_t tid)
{
	struct filters f = { 0 };
	char path[64], line[128];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	CP_FCLOSE FILE *status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status)) {
		if (sscanf(line, "Seccomp: %d", &f.mode) != 1 &&
		    sscanf(line, "Seccomp_filters: %d", &f.count) == 1)
			break;
	}
	return f;
}

/* Does to ourselves what is done to the program. If a filter kills for it, let
 * it be us. */
static bool try_calls(void)
{
	struct sigaction action;
	void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page != MAP_FAILED && !mprotect(page, 4096, PROT_READ | PROT_WRITE) &&
	       !sigaction(SIGTRAP, NULL, &action) && !munmap(page, 4096);
}

/* Filters are inherited, can be added and never taken away: a descendant of the
 * process that we are from too, with as many as we have, has ours and no other.
 * So it is in containers, whose runtime filters all that runs there. */
static bool has_ours(struct tracer *tr, const struct filters *f)
{
	struct filters own;

	if (!tr->descendants || f->mode != SECCOMP_MODE_FILTER || !f->count)
		return false;
	own = filters_of(getpid());
	if (own.mode != f->mode || own.count != f->count)
		return false;
	if (!tr->tried_calls)
		tr->tried_calls = try_calls() ? 1 : -1;
	return tr->tried_calls > 0;
}

/* A filter may kill the program for a call that it never makes itself. One that
 * we live under lets us know. Another one is suspended where that is permitted;
 * else the thread is left alone. */
static bool pass_seccomp(struct tracer *tr, const struct thread *t)
{
	struct filters f = filters_of(t->tid);

	if (!f.mode || has_ours(tr, &f))
		return true;
	return !ptrace(PTRACE_SETOPTIONS, t->tid, 0,
		       seize_options(tr, t->tid == t->process->pid) | PTRACE_O_SUSPEND_SECCOMP);
}

/* ---- who ---- */

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

/* Has it at an event stop. Other stops on the way are served as ever, and the
 * thread may be gone (and freed) then: so by its id. */
struct thread *inject_stop(struct tracer *tr, pid_t tid, bool interrupted)
{
	const struct timespec nap = { 0, CP_NS_PER_MS };
	uint64_t deadline = cp_now() + STOP_NS;
	bool pending = interrupted;
	struct thread *t;

	while ((t = thread_find(tr, tid)) && t->state != THREAD_HELD && cp_now() < deadline) {
		int status;

		if (!pending && ptrace(PTRACE_INTERRUPT, tid, 0, 0))
			return NULL;
		status = wait_stop(tid, STOP_NS);
		/* A breakpoint that was hit would be forgotten where SIGTRAP is
		 * ignored from now on: it comes next. */
		pending = is_event_stop(status) && proc_will_get(tid, SIGTRAP);
		if (is_event_stop(status) && !pending && !in_rseq(t->process->space, tid))
			return t;
		/* The interrupt stays under way when nothing came. */
		if (status < 0 || (!wait_serve_one(tr, tid) && !tr->full))
			return NULL;
		if (tr->full)
			nanosleep(&nap, NULL);
	}
	return t && t->state == THREAD_HELD && t->user_stop ? t : NULL;
}

static bool prepare(struct tracer *tr, struct thread *t, struct injection *in)
{
	/* A call that the interrupt broke off is put right first. */
	if (!in->stays)
		restart_repair(tr, t, NULL);
	if (!regs_read(t->tid, in->regs) ||
	    ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(in->mask), &in->mask))
		return false;
	guard_place(in);
	return true;
}

bool inject_here(struct tracer *tr, struct thread *t, struct injection *ret)
{
	*ret = (struct injection){ .thread = t, .space = t->process->space, .stays = true };
	if (!ret->space->syscall_insn)
		guard_find_code(ret->space);
	return ret->space->syscall_insn && pass_seccomp(tr, t) && prepare(tr, t, ret);
}

bool inject_requeue(struct thread *t, int signal, uint64_t mask)
{
	/* Kernel: ptrace_signal() queues a signal again that is blocked by now. */
	return !ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(mask), &mask) &&
	       !ptrace(PTRACE_INTERRUPT, t->tid, 0, 0) &&
	       !ptrace(PTRACE_CONT, t->tid, 0, (long)signal) &&
	       is_event_stop(wait_stop(t->tid, CALL_NS));
}

void inject_let_run(struct tracer *tr, struct thread *t)
{
	if (t->state != THREAD_HELD && is_event_stop(wait_stop(t->tid, STOP_NS)))
		wait_serve_one(tr, t->tid);
}

/* One of them at its stop; only one that finds back by itself if `guarded`. */
static int begin_with(struct tracer *tr, struct space *space, pid_t tid, bool guarded,
		      struct injection *ret)
{
	struct thread *t = inject_stop(tr, tid, false);
	int err = EAGAIN;

	if (!t || t->process->space != space)
		return EAGAIN;
	*ret = (struct injection){ .thread = t, .space = space };
	ret->stays = t->state == THREAD_HELD;
	if (!pass_seccomp(tr, t))
		err = EACCES;
	else if (prepare(tr, t, ret) && (ret->guard || !guarded))
		return 0;
	inject_let_run(tr, t);
	return err;
}

int inject_begin(struct tracer *tr, struct space *space, struct injection *ret)
{
	struct thread *who[CANDIDATES];
	pid_t tids[CANDIDATES];
	int err = EAGAIN, guarded;
	size_t n, i;

	if (!space->syscall_insn)
		guard_find_code(space);
	if (!space->syscall_insn)
		return ENOSYS;
	wait_newborns(tr); /* who is held for one can't be asked */
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

/* ---- the call ---- */

/* Lets it run to the next stop at the border of the kernel. Job control may
 * stop it on the way, which ends no call of ours. */
static bool run_to_border(pid_t tid)
{
	uint64_t deadline = cp_now() + CALL_NS;
	int status;

	do {
		if (ptrace(PTRACE_SYSCALL, tid, 0, 0L))
			return false;
		status = wait_stop(tid, CALL_NS);
		if (is_syscall_stop(status))
			return true;
	} while (is_event_stop(status) && cp_now() < deadline);
	return false;
}

int64_t inject_call(struct tracer *tr, struct injection *in, int64_t nr, const uint64_t args[6])
{
	uint64_t regs[PRSTATUS_MAX / 8];
	const uint64_t all = ~UINT64_C(0);
	struct cp_syscall_state state;
	pid_t tid = in->thread->tid;

	(void)tr;
	memcpy(regs, in->regs, sizeof(regs));
	cp_arch_syscall_make(regs, in->guard ? in->space->guard_syscall : in->space->syscall_insn,
			     nr, args);
	if (in->guard)
		cp_arch_set_sp(regs, in->guard);
	/* In this order: only the guard gives the mask back. */
	if (!regs_write(tid, regs) || ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all) ||
	    !run_to_border(tid) || !run_to_border(tid) || !regs_read(tid, regs))
		return -EIO;
	cp_arch_syscall_state(regs, &state);
	/* Back to where signals are handled. */
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) || ptrace(PTRACE_CONT, tid, 0, 0L) ||
	    !is_event_stop(wait_stop(tid, CALL_NS)))
		return -EIO;
	return state.result;
}

void inject_end(struct tracer *tr, struct injection *in)
{
	struct thread *t = in->thread;
	siginfo_t si;

	ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(in->mask), &in->mask);
	regs_write(t->tid, in->regs);
	ptrace(PTRACE_SETOPTIONS, t->tid, 0, seize_options(tr, t->tid == t->process->pid));
	if (!in->stays)
		wait_serve_one(tr, t->tid);
	else if (t->state == THREAD_HELD) /* consumed, or it would be reported for ever */
		waitid(P_PID, (id_t)t->tid, &si, WSTOPPED | WNOHANG | __WALL);
}
