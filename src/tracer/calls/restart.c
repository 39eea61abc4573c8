/* SPDX-License-Identifier: MIT
 *
 * No EINTR that the program would not have seen, and no short transfer
 * (finish.c).
 *
 * A signal wakes a thread from a blocking system call; most calls then return
 * one of the kernel's own -ERESTART codes and start again by themselves when
 * no handler runs. Some (epoll_wait, semop, sigtimedwait, accept and recv with
 * a time limit, io_uring_enter) return -EINTR straight away. Two things that
 * only happen under ptrace wake threads like that:
 *
 *  - our PTRACE_INTERRUPT, when a thread that ran a moment ago blocks just
 *    before it arrives;
 *  - a signal that the program ignores: untraced it is dropped when it is
 *    sent, traced it is delivered to us first (kernel: sig_ignored()).
 *
 * Both are repaired at the stop, before the program sees it: the registers go
 * back to before the `syscall` instruction and the call is made again. (A
 * relative time limit starts again; that is why blocked threads are never
 * interrupted on purpose. Where a signal did it, which may come again, the call is
 * made by code of ours, for what is left of the limit from then on: finish.c.)
 *
 * If a signal with a handler is delivered before the call was made again, the
 * call has to return -EINTR after all: untraced it would have. So the repair
 * is remembered until the next stop, and undone there when the thread has not
 * moved.
 */
#include "tracer/calls/restart.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "tracer/calls/finish.h"
#include "tracer/calls/nap.h"
#include "tracer/known/proc.h"
#include "tracer/known/regs.h"
#include "tracer/memory/space.h"

/* Calls that can be made again after -EINTR as if nothing had happened.
 * Not among them: close (the descriptor is gone), and what returns EINTR for
 * reasons of its own. */
static bool can_start_again(int64_t nr)
{
	switch (nr) {
	case SYS_read:
	case SYS_readv:
	case SYS_pread64:
	case SYS_preadv:
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_pwritev:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_mq_timedreceive:
	case SYS_mq_timedsend:
	case SYS_rt_sigtimedwait:
	case SYS_rt_sigsuspend:
	case SYS_io_getevents:
	case SYS_io_uring_enter:
	case SYS_futex:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_flock:
	case SYS_fcntl:
	case SYS_openat:
	case SYS_ioctl:
	case SYS_splice:
	case SYS_sendfile:
	case SYS_copy_file_range:
#ifdef SYS_epoll_wait /* the older calls, where an ISA has them */
	case SYS_epoll_wait:
	case SYS_poll:
	case SYS_select:
	case SYS_pause:
	case SYS_open:
#endif
		return true;
	default:
		return false;
	}
}

int restart_harm(int64_t nr, const unsigned long long args[6])
{
	switch (nr) {
	case SYS_write: /* may come back with less than all */
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_pwritev:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_sendfile:
	case SYS_splice:
	case SYS_copy_file_range:
		return 8;
	case SYS_epoll_pwait: /* restart.c makes them again; a time limit begins anew */
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
		return (int)args[3] < 0 ? 3 : 6;
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
		return args[nr == SYS_semtimedop ? 3 : 2] ? 6 : 3;
	case SYS_epoll_pwait2:
	case SYS_io_getevents:
	case SYS_io_uring_enter:
	case SYS_msgrcv:
	case SYS_msgsnd:
		return 6;
	case SYS_recvfrom: /* with SO_RCVTIMEO, that begins anew */
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect:
	case SYS_semop:
		return 4;
	default:
		return can_start_again(nr) || nr == SYS_nanosleep || nr == SYS_clock_nanosleep ||
				       nr == SYS_restart_syscall
			       ? 2
			       : 5;
	}
}

#define BEARABLE 4
#define BEARABLE_MS 10000

bool restart_is_bearable(int64_t nr, const unsigned long long args[6])
{
	bool polls = nr == SYS_epoll_pwait;

	/* What it blocks meanwhile comes with the call, and goes with it. */
	if (polls && args[4])
		return false;
#ifdef SYS_epoll_wait
	polls = polls || nr == SYS_epoll_wait;
#endif
	return restart_harm(nr, args) <= BEARABLE || (polls && (int)args[3] <= BEARABLE_MS);
}

static bool was_cut_short(const struct cp_syscall_state *s)
{
	return s->nr >= 0 && s->result == -EINTR && can_start_again(s->nr);
}

/* `signal`: the one that did it, or 0 for our interrupt. */
static void rewind_call(struct tracer *tr, struct thread *t, int signal, uint64_t *regs,
			const struct cp_syscall_state *s)
{
	struct cp_syscall_state after;

	t->restart.pending = false;
	tr->link->shared->stats.restarted++;
	/* A signal that is ignored comes again and again: a limit that began anew each
	 * time might never be reached. Our own interrupts come once. */
	if ((signal || finish_is_in(t, s->pc)) && finish_wait(tr, t, signal, regs))
		return;
	cp_arch_syscall_rewind(regs, s->nr);
	cp_arch_syscall_state(regs, &after);
	regs_write(t->tid, regs);
	t->restart = (struct restart){ true, s->nr, after.pc, after.sp };
}

void restart_told(struct tracer *tr, struct thread *t)
{
	uint64_t regs[PRSTATUS_MAX / 8];

	if (!regs_read(t->tid, regs) || !finish_wait(tr, t, 0, regs))
		return;
	tr->link->shared->stats.restarted++;
	tr->link->shared->stats.taken++;
}

static bool ignores(const struct thread *t, int signal)
{
	return (signal == SIGTRAP && space_ignores_trap(t->process->space)) ||
	       proc_ignores(t->tid, signal);
}

/* The one that it is watched for: a handler may have come since. */
static int watched_for(const struct thread *t)
{
	return t->watch.calls && ignores(t, t->watch.signal) ? t->watch.signal : 0;
}

void restart_woken(struct tracer *tr, struct thread *t)
{
	uint64_t regs[PRSTATUS_MAX / 8];
	struct cp_syscall_state s;

	if (!regs_read(t->tid, regs))
		return;
	cp_arch_syscall_state(regs, &s);
	if (was_cut_short(&s))
		rewind_call(tr, t, watched_for(t), regs, &s);
	else if (finish_is_due(t, &s))
		finish_call(tr, t, regs);
}

void restart_repair(struct tracer *tr, struct thread *t, const void *captured)
{
	uint64_t regs[PRSTATUS_MAX / 8];
	struct cp_syscall_state s;

	if (captured)
		memcpy(regs, captured, cp_arch_prstatus_size());
	else if (!regs_read(t->tid, regs))
		return;
	cp_arch_syscall_state(regs, &s);
	nap_note(t, &s);
	if (t->restart.pending && s.pc == t->restart.pc && s.sp == t->restart.sp)
		return; /* at this stop */
	t->restart.pending = false;
	if (was_cut_short(&s))
		rewind_call(tr, t, watched_for(t), regs, &s);
	else
		finish_call(tr, t, regs);
}

void restart_signal(struct tracer *tr, struct thread *t, int signal)
{
	uint64_t regs[PRSTATUS_MAX / 8];
	struct restart made = t->restart;
	struct cp_syscall_state s;

	if (!regs_read(t->tid, regs))
		return;
	cp_arch_syscall_state(regs, &s);
	nap_note(t, &s);
	if (finish_is_in(t, s.pc) && !ignores(t, signal)) {
		t->restart.pending = false;
		finish_leave(t);
		return;
	}
	if (made.pending && s.pc == made.pc && s.sp == made.sp) {
		/* Still where we put it: the call was not made again yet. */
		if (ignores(t, signal))
			return;
		t->restart.pending = false;
		cp_arch_syscall_unrewind(regs, -EINTR);
		regs_write(t->tid, regs);
		return;
	}
	t->restart.pending = false;
	/* Whether it is ignored costs more than all else of most signals' stops. */
	if (s.nr < 0 || !(was_cut_short(&s) || finish_is_due(t, &s)) || !ignores(t, signal))
		return;
	if (was_cut_short(&s))
		rewind_call(tr, t, signal, regs, &s);
	else
		finish_call(tr, t, regs);
}
