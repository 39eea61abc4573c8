/* SPDX-License-Identifier: MIT
 *
 * System calls inside the program: mmap for slots, rt_sigaction for SIGTRAP.
 *
 *   stopped by an interrupt, where signals are handled (EVENT_STOP)
 *        │  registers kept; pc at a `syscall` of the vdso, orig -1
 *        ▼
 *   PTRACE_SYSCALL ─► entry stop ─► PTRACE_SYSCALL ─► exit stop: the result
 *        │      ▲                                        │
 *        │      └────────── the next call ───────────────┤
 *        ▼                                               │
 *   PTRACE_INTERRUPT, PTRACE_CONT ─► EVENT_STOP: registers back
 *
 * It ends where it began: only there does the kernel look whether a system call
 * that was interrupted has to be started again (arch_do_signal_or_restart), so
 * a thread that was blocked goes on blocking as if nothing had been. Who is held at
 * a breakpoint or behind an exec was in no call, and goes on from the exit stop: each
 * stop is a way between processors. Signals are held back meanwhile. No code of the program is changed, and nothing is
 * stepped, which would force a SIGTRAP upon a program that ignores it. Should we
 * be killed in between, a signal frame leads the thread back (guard.c).
 * Who is asked for it, says ask.c.
 */
#include "tracer/calls/inject.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>

#include "tracer/calls/guard.h"
#include "tracer/calls/seccomp.h"
#include "tracer/known/await.h"
#include "tracer/known/interrupt.h"
#include "tracer/known/regs.h"

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#define PTRACE_SETSIGMASK 0x420b
#endif

static bool is_syscall_stop(int status)
{
	return status == (SIGTRAP | 0x80);
}

bool inject_prepare(struct injection *in)
{
	const struct thread *t = in->thread;

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
		guard_find_code(tr, ret->space);
	if (!ret->space->syscall_insn || !seccomp_pass(tr, t, &ret->filtered))
		return false;
	if (inject_prepare(ret))
		return true;
	inject_filter_again(tr, ret);
	return false;
}

void inject_filter_again(struct tracer *tr, const struct injection *in)
{
	pid_t tid = in->thread->tid;

	if (in->filtered)
		ptrace(PTRACE_SETOPTIONS, tid, 0,
		       interrupt_options(tr, tid == in->thread->process->pid));
}

void inject_set_mask(struct injection *in, uint64_t mask)
{
	if (in->mask == mask)
		return;
	in->mask = mask;
	guard_renew(in);
}

bool inject_requeue(struct thread *t, int signal, uint64_t mask)
{
	/* Kernel: ptrace_signal() queues a signal again that is blocked by now. */
	return !ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(mask), &mask) &&
	       !ptrace(PTRACE_INTERRUPT, t->tid, 0, 0) &&
	       !ptrace(PTRACE_CONT, t->tid, 0, (long)signal) &&
	       await_is_event(await_certain(t->tid));
}

/* ---- the call ---- */

/* Lets it run to the next stop at the border of the kernel. Job control may
 * stop it on the way, which ends no call of ours. */
static bool run_to_border(pid_t tid)
{
	int status;

	do {
		if (ptrace(PTRACE_SYSCALL, tid, 0, 0L))
			return false;
		status = await_certain(tid);
		if (is_syscall_stop(status))
			return true;
	} while (await_is_event(status));
	return false;
}

int64_t inject_call(struct injection *in, int64_t nr, const uint64_t args[6])
{
	uint64_t regs[PRSTATUS_MAX / 8];
	const uint64_t all = ~UINT64_C(0);
	struct cp_syscall_state state;
	pid_t tid = in->thread->tid;

	memcpy(regs, in->regs, sizeof(regs));
	cp_arch_syscall_make(regs, in->guard ? in->space->guard_syscall : in->space->syscall_insn,
			     nr, args);
	if (in->guard)
		cp_arch_set_sp(regs, in->guard);
	/* In this order: only the guard gives the mask back. */
	if (!regs_write(tid, regs) || ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all) ||
	    !run_to_border(tid) || !run_to_border(tid) || !regs_read(tid, regs))
		return -EIO;
	in->inside = true;
	cp_arch_syscall_state(regs, &state);
	return state.result;
}

/* Does it go on by itself, with nobody to tell it what to do about a call or a signal? */
static bool goes_on(const struct injection *in)
{
	struct cp_syscall_state s;

	cp_arch_syscall_state(in->regs, &s);
	return in->thread->state == THREAD_HELD && in->thread->user_stop &&
	       (s.nr < 0 || s.result > -512); /* none of the codes for starting again */
}

/* Back to where signals are handled. */
static void come_back(struct injection *in)
{
	pid_t tid = in->thread->tid;

	in->inside = false;
	if (!ptrace(PTRACE_INTERRUPT, tid, 0, 0) && !ptrace(PTRACE_CONT, tid, 0, 0L))
		await_certain(tid);
}

void inject_end(struct tracer *tr, struct injection *in)
{
	const struct thread *t = in->thread;

	if (in->inside && !goes_on(in))
		come_back(in);
	ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(in->mask), &in->mask);
	regs_write(t->tid, in->regs);
	guard_clear(in);
	inject_filter_again(tr, in);
	if (t->state == THREAD_HELD) /* consumed, or it would be reported for ever */
		await_consume(t->tid);
}
