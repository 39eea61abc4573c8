/* SPDX-License-Identifier: MIT
 *
 * Captures: registers and a piece of the stack, straight into the ring.
 *
 * How much of the stack: from a little below sp up to where the last walk of
 * this thread found its end (the controller writes that into the hints). As
 * long as that is unknown, as much as is allowed, up to the first page that isn't
 * there.
 *
 * A signal handler may run on a stack of its own. Where the walk found, on that
 * stack, the stack pointer that the kernel saved, there we look the next time,
 * and copy a second piece from where it points to:
 *
 *	sp ─► handler's frames, signal frame: [saved sp] ─┐ ◄─ stack_link
 *	                                                  └─► the thread's own stack
 */
#include "tracer/captures/capture.h"

#include <linux/sched.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "tracer/calls/finish.h"
#include "tracer/captures/sample.h"
#include "tracer/captures/wall.h"
#include "tracer/known/proc.h"
#include "tracer/known/regs.h"
#include "tracer/memory/remote.h"
#include "tracer/memory/space.h"
#include "tracer/memory/unslot.h"

#define XSTATE_MAX 16384u
/* A stack pointer that far from the end last found is on another stack
 * (coroutines, alternate signal stacks): copy a usual amount. If that was too
 * little, the walk says so, and the next copy is as large as allowed. */
#define STACK_FAR (UINT64_C(8) << 20)
#define STACK_ELSEWHERE (UINT64_C(64) << 10)
/* As much of a signal frame, around the saved stack pointer, does the walk need. */
#define LINK_ROOM 512u
#define SAMPLES_NEW 32 /* of a program: the controller is woken for each */

static uint64_t hint_of(const struct thread *t, const _Atomic uint64_t *hints)
{
	return t->slot == CP_NO_SLOT ? 0
				     : atomic_load_explicit(&hints[t->slot], memory_order_relaxed);
}

/* Bytes to copy from `from` on, `most` at most. */
static size_t stack_room(const struct tracer *tr, const struct thread *t, uint64_t from,
			 size_t most)
{
	uint64_t end = hint_of(t, tr->link->shared->stack_end);

	if (!end)
		return most;
	if (end <= from || end - from > STACK_FAR)
		end = from + STACK_ELSEWHERE;
	return cp_align8(end - from < most ? end - from : most);
}

bool capture_is_cut(const struct tracer *tr, const struct thread *t, uint64_t sp, size_t size,
		    size_t most)
{
	uint64_t end = hint_of(t, tr->link->shared->stack_end);
	uint64_t link = hint_of(t, tr->link->shared->stack_link);

	if (link >= sp && link - sp < size)
		return true;
	if (size < most)
		return false;
	if (!end) /* unknown, or the last copy was too short */
		return t->sampled;
	return end > sp + size && end - sp <= STACK_FAR;
}

uint64_t capture_birth(struct tracer *tr, const struct thread *t)
{
	_Alignas(8) uint8_t regs[PRSTATUS_MAX];
	struct cp_syscall_state at;

	if (!regs_read(t->tid, regs))
		return 0;
	cp_arch_syscall_state(regs, &at);
	if (t->slot != CP_NO_SLOT && t->tid != t->process->pid)
		atomic_store_explicit(&tr->link->shared->stack_end[t->slot], at.sp + 64,
				      memory_order_relaxed);
	return at.sp;
}

/* At its first stop a child still shows the call that made it. */
uint64_t capture_fork(pid_t pid)
{
	_Alignas(8) uint8_t regs[PRSTATUS_MAX];
	struct cp_syscall_state at;
	uint64_t args[6], flags, stack = 0;

	if (!regs_read(pid, regs))
		return 0;
	cp_arch_syscall_state(regs, &at);
	if (at.nr < 0)
		return 0;
	cp_arch_syscall_args(regs, args);
	flags = args[0];
	if (at.nr == SYS_clone) {
		stack = args[1];
	} else if (at.nr == SYS_clone3) {
		struct clone_args how;
		struct iovec to = { &how, CLONE_ARGS_SIZE_VER0 };
		struct iovec from = { (void *)(uintptr_t)args[0], CLONE_ARGS_SIZE_VER0 };

		/* Nobody serves it: the kernel has just read it. */
		if (process_vm_readv(pid, &to, 1, &from, 1, 0) != CLONE_ARGS_SIZE_VER0)
			return 0;
		flags = how.flags;
		stack = how.stack;
	} else { /* fork() or vfork(), where there are such calls */
		flags = 0;
	}
	/* A process that makes a sibling is not known as its parent. */
	return stack || flags & CLONE_PARENT ? 0 : at.sp;
}

/* The stack from `red_zone` bytes below sp on: up to `end`, or as far as it
 * seems to go if that is 0. Returns the bytes. */
static uint32_t copy_piece(const struct tracer *tr, const struct thread *t, uint64_t sp,
			   uint32_t red_zone, uint64_t end, void *to, size_t most,
			   uint64_t *base_ret)
{
	struct space *space = t->process->space;
	uint64_t from = (sp - red_zone) & ~UINT64_C(7);
	size_t got = remote_read_one(space, t->tid, from, to,
				     end ? end - from : stack_room(tr, t, from, most));

	if (!got) { /* the red zone may lie on a page that was never touched */
		from = sp & ~UINT64_C(7);
		got = remote_read_one(space, t->tid, from, to,
				      end ? end - from : stack_room(tr, t, from, most));
	}
	*base_ret = from;
	return (uint32_t)got & ~7u;
}

bool capture_has_link(const struct tracer *tr, const struct thread *t)
{
	return hint_of(t, tr->link->shared->stack_link) != 0;
}

bool capture_has_new_link(const struct tracer *tr, const struct thread *t)
{
	uint64_t link = hint_of(t, tr->link->shared->stack_link);

	return link && link != t->link;
}

/* On an alternate signal stack as far as the link that was found on it the last
 * time, and the stack that the link leads to. False: it leads nowhere now. */
static bool copy_linked(struct tracer *tr, struct thread *t, struct cp_event_sample *s, uint8_t *to,
			uint32_t red_zone)
{
	uint64_t link = hint_of(t, tr->link->shared->stack_link), below;

	t->link = link;
	if (link < s->sp || link - s->sp + 2 * LINK_ROOM >= tr->stack_max)
		return false;
	s->stack_size = copy_piece(tr, t, s->sp, red_zone, link + LINK_ROOM, to, 0, &s->stack_base);
	if (s->stack_base + s->stack_size < link + sizeof(below))
		return false;
	memcpy(&below, to + (link - s->stack_base), sizeof(below));
	s->below_size = copy_piece(tr, t, below, cp_arch_host()->red_zone, 0, to + s->stack_size,
				   tr->stack_max - s->stack_size, &s->below_base);
	return s->below_size != 0;
}

static void copy_stack(struct tracer *tr, struct thread *t, struct cp_event_sample *s, void *to,
		       uint32_t red_zone)
{
	if (!copy_linked(tr, t, s, to, red_zone))
		s->stack_size =
			copy_piece(tr, t, s->sp, red_zone, 0, to, tr->stack_max, &s->stack_base);
}

uint32_t capture_stack(struct tracer *tr, struct thread *t, uint64_t sp, void *to,
		       uint64_t *base_ret)
{
	return copy_piece(tr, t, sp, cp_arch_host()->red_zone, 0, to, tr->stack_max, base_ret);
}

static void *reserve_room(const struct tracer *tr)
{
	size_t most = sizeof(struct cp_event_sample) + cp_align8(cp_arch_prstatus_size()) +
		      tr->stack_max + 64;

	if (tr->capture & CP_CAPTURE_XSTATE)
		most += XSTATE_MAX;
	return cp_ring_reserve(tr->link, most, CP_LINK_RESERVE);
}

bool capture_has_room(const struct tracer *tr)
{
	return reserve_room(tr) != NULL; /* nothing is taken before it is published */
}

/* Room in the ring for a sample of `t`; NULL counts it as lost. */
static struct cp_event_sample *reserve(struct tracer *tr, struct thread *t)
{
	struct cp_event_sample *s = reserve_room(tr);

	tr->open = s;
	if (!s) {
		tr->link->shared->stats.lost++;
		return NULL;
	}
	*s = (struct cp_event_sample){
		.e = { .type = CP_EVENT_SAMPLE,
		       .ts_ns = cp_now(),
		       .pid = t->process->pid,
		       .tid = t->tid },
		.slot = t->slot,
	};
	return s;
}

static void read_xstate(struct thread *t, struct cp_event_sample *s, uint8_t *to)
{
	struct iovec v = { to, XSTATE_MAX };

	if (!ptrace(PTRACE_GETREGSET, t->tid, (long)cp_arch_vector_note(), &v))
		s->xstate_size = (uint32_t)v.iov_len;
}

struct cp_event_sample *capture_stopped(struct tracer *tr, struct thread *t, unsigned want)
{
	struct cp_event_sample *s;
	struct cp_syscall_state where;
	uint8_t *at;

	if (tr->wall && want & WANT_SAMPLE)
		wall_stopped(tr, t);
	s = reserve(tr, t);
	at = (uint8_t *)(s + 1);
	if (!s)
		return NULL;
	if (!regs_read(t->tid, at)) {
		s->e.flags |= CP_SAMPLE_NO_STACK; /* dying, or of another word size */
		return s;
	}
	s->regs_size = (uint32_t)cp_arch_prstatus_size();
	s->state = 'R';
	finish_hide(t, at);
	unslot_regs(t, at);
	cp_arch_syscall_state(at, &where);
	s->pc = where.pc;
	s->sp = where.sp;
	at += cp_align8(s->regs_size);
	if (tr->capture & CP_CAPTURE_XSTATE) {
		read_xstate(t, s, at);
		at += cp_align8(s->xstate_size);
	}
	copy_stack(tr, t, s, at, cp_arch_host()->red_zone);
	return s;
}

static void publish(struct tracer *tr, struct thread *t, struct cp_event_sample *s)
{
	s->e.size = (uint32_t)(sizeof(*s) + cp_align8(s->regs_size) + cp_align8(s->xstate_size) +
			       cp_align8(s->stack_size) + cp_align8(s->below_size));
	tr->link->shared->stats.samples++;
	cp_ring_commit(tr->link, &s->e);
	t->process->sample_end = tr->link->shared->head;
	/* A new program may be one of many short ones, and what its first samples refer to
	 * soon gone. */
	cp_ring_kick(tr->link, t->process->samples++ < SAMPLES_NEW);
}

bool capture_copied(struct tracer *tr, struct thread *t, const struct capture_copy *copy)
{
	struct cp_event_sample *s = reserve(tr, t);
	uint8_t *at = (uint8_t *)(s + 1);
	struct cp_syscall_state where;

	if (!s)
		return false;
	s->e.ts_ns = copy->ts_ns;
	s->count = 1;
	s->weight_ns = copy->weight_ns;
	s->regs_size = (uint32_t)cp_arch_prstatus_size();
	s->state = 'R';
	memcpy(at, copy->prstatus, s->regs_size);
	finish_hide(t, at);
	unslot_regs(t, at);
	cp_arch_syscall_state(at, &where);
	s->pc = where.pc;
	s->sp = where.sp;
	s->stack_base = copy->sp;
	s->stack_size = (uint32_t)stack_room(tr, t, copy->sp, copy->stack_size) & ~7u;
	memcpy(at + cp_align8(s->regs_size), copy->stack, s->stack_size);
	t->sampled = true;
	publish(tr, t, s);
	tr->open = NULL;
	return true;
}

const void *capture_regs(const struct thread *t, const struct cp_event_sample *s)
{
	const struct space *space = t->process->space;
	bool hidden = space->table->areas.count || space->finisher.areas.count;

	return s && s->regs_size && !hidden ? s + 1 : NULL;
}

void capture_finish(struct tracer *tr, struct thread *t, struct cp_event_sample *s, unsigned want)
{
	bool counts = want & WANT_SNAPSHOT;

	if (s != tr->open) { /* an event stands there now */
		tr->link->shared->stats.lost++;
		return;
	}
	if (want & WANT_SAMPLE)
		counts |= sample_weigh(tr, t, s);
	if (!counts)
		return; /* what was reserved is simply not published */
	if (want & WANT_SNAPSHOT)
		s->e.flags |=
			CP_SAMPLE_SNAPSHOT | (tr->capture & CP_CAPTURE_HOLD ? CP_SAMPLE_HOLD : 0);
	t->sampled |= (want & WANT_SAMPLE) != 0;
	publish(tr, t, s);
	if (tr->wall && want & WANT_SAMPLE) {
		tr->open = NULL;
		wall_published(tr, t);
	}
}

bool capture_blocked(struct tracer *tr, struct thread *t, unsigned want)
{
	struct cpu_use before, after;
	struct cp_event_sample *s;
	uint64_t pc, sp;
	int tries;

	for (tries = 0; tries < 3; tries++) {
		if (!proc_cpu_use(tr, t, &before))
			return false;
		if (proc_where(tr, t, &pc, &sp) != PROC_BLOCKED)
			return false;
		if (tr->wall && want & WANT_SAMPLE)
			wall_asleep(tr, t, &before);
		s = reserve(tr, t);
		if (!s)
			return true; /* lost, and counted */
		s->pc = unslot_pc(t, finish_hide_pc(t, pc));
		s->sp = sp;
		copy_stack(tr, t, s, s + 1, 0);
		/* Like a seqlock: it must not have run meanwhile. */
		if (!proc_cpu_use(tr, t, &after))
			return false;
		if (has_run(&before, &after))
			continue;
		if (want & WANT_SAMPLE) /* else its next sample is no repetition */
			t->seen = after;
		s->state = 'S';
		s->e.flags |= CP_SAMPLE_BLOCKED;
		tr->link->shared->stats.reads++;
		capture_finish(tr, t, s, want);
		return true;
	}
	return false;
}
