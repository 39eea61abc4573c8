/* SPDX-License-Identifier: MIT
 *
 * Stops that belong to detours.
 *
 *     in a window, behind its jump   a handler returned there: on in the detour
 *     where a ring is full           the thread has no ring of its own yet: it gets one,
 *                                    and goes on
 *     on another stack               it is told by an event (foreign.h)
 *     a fault in the code            of a pointer that it followed: on behind that; of a
 *                                    base that is the program's: out, and no detours
 */
#include "tracer/hits/detour.h"

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>

#include "link/code.h"
#include "tracer/captures/capture.h"
#include "tracer/hits/at.h"
#include "tracer/hits/code.h"
#include "tracer/hits/foreign.h"
#include "tracer/known/emit.h"
#include "tracer/known/proc.h"
#include "tracer/known/regs.h"
#include "tracer/memory/detours.h"
#include "tracer/memory/rings.h"
#include "tracer/signals/trap.h"

#define STACK_NEAR 512 /* bytes of the stack pointer that a detour touches */

/* ---- landings ---- */

static const struct site *landing(const struct site *site, const struct space *space)
{
	while (site && !(site->flags & CP_SITE_LANDING))
		site = site_next(space, site);
	return site;
}

/* A breakpoint or `int1`, not a signal that somebody sent. As of other breakpoints, one
 * that came in its place because SIGTRAP is blocked is told by the handler that is gone. */
static bool is_trap(const struct at *at)
{
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, at->t->tid, 0, &si))
		return false;
	return si.si_code == SI_KERNEL || si.si_code == TRAP_BRKPT ||
	       (at->space->handler && !proc_catches(at->t->tid, SIGTRAP));
}

static bool is_original(const struct space *space, const struct site *site)
{
	uint8_t now[CP_TRAP_MAX];

	return space_read(space, site->address, now, site->step.trap_size) &&
	       !memcmp(now, site->original, site->step.trap_size);
}

/* Where the jump has gone, there may be no detour any more. */
static enum hit land(struct tracer *tr, struct at *at, const struct site *site)
{
	cp_arch_set_pc(at->prstatus, is_original(at->space, site) ? site->address : site->slot);
	regs_write(at->t->tid, at->prstatus);
	trap_keep(tr, at->t);
	return HIT_DONE;
}

/* ---- faults ---- */

/* Where a jump's byte is no instruction. */
static uint64_t behind_illegal(const struct space *space, uint64_t pc)
{
	const struct site *site = landing(space_site(space, pc), space);

	return site && !is_original(space, site) ? site->slot : 0;
}

/* Who may not read the counter is told by us. */
static bool serve_time_stamp(const struct space *space, uint64_t pc, void *prstatus)
{
	uint8_t code[2];

	return detours_in_chunks(space, pc, sizeof(code)) &&
	       space_read(space, pc, code, sizeof(code)) &&
	       cp_arch_serve_time_stamp(prstatus, code);
}

bool detour_fault(struct thread *t, int signal)
{
	const struct space *space = t->process->space;
	uint64_t prstatus[PRSTATUS_MAX / 8], to;
	struct cp_syscall_state s;
	siginfo_t si;
	bool served;

	if (!space->code.count || (signal != SIGILL && signal != SIGSEGV && signal != SIGBUS) ||
	    ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) || si.si_code <= 0 ||
	    !regs_read(t->tid, prstatus))
		return false;
	cp_arch_syscall_state(prstatus, &s);
	to = signal == SIGILL ? behind_illegal(space, s.pc) : detours_behind_fault(space, s.pc);
	served = to || (signal != SIGILL && detours_end_copy(t, prstatus));
	if (to)
		cp_arch_set_pc(prstatus, to);
	if (!served && signal == SIGSEGV)
		served = serve_time_stamp(space, s.pc, prstatus);
	return served && regs_write(t->tid, prstatus);
}

/* The record that it began, if any, is in no ring of ours. */
static bool lead_out_of_foreign(struct thread *t)
{
	const struct space *space = t->process->space;
	uint64_t prstatus[PRSTATUS_MAX / 8], base;
	struct cp_syscall_state s;
	uint32_t ring;

	if (!regs_read(t->tid, prstatus))
		return false;
	base = cp_arch_ring_base(prstatus);
	cp_arch_syscall_state(prstatus, &s);
	return base && !rings_find(space->rings, base, &ring) &&
	       detours_record_there(space, s.pc) && detours_hide(space, prstatus) &&
	       regs_write(t->tid, prstatus);
}

/* A detour needs some 170 bytes of stack. If it was an instruction of the program's own that
 * had none, that fails once more where it belongs. */
static bool is_out_of_stack(const struct thread *t, const siginfo_t *si)
{
	uint64_t prstatus[PRSTATUS_MAX / 8];
	struct cp_syscall_state s;

	if (si->si_signo != SIGSEGV || !regs_read(t->tid, prstatus))
		return false;
	cp_arch_syscall_state(prstatus, &s);
	return (uintptr_t)si->si_addr - (s.sp - STACK_NEAR) < 2 * STACK_NEAR &&
	       detours_in_chunks(t->process->space, s.pc, 1);
}

bool detour_base_fault(struct tracer *tr, struct thread *t, int signal)
{
	siginfo_t si;

	if (!t->process->space->rings || t->process->guest || tr->ending ||
	    (signal != SIGSEGV && signal != SIGBUS) || ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) ||
	    si.si_code <= 0 ||
	    (!lead_out_of_foreign(t) && !(is_out_of_stack(t, &si) && detours_lead_out(t))))
		return false;
	emit(tr, CP_EVENT_BASE, t->process->pid, t->tid);
	return true;
}

/* ---- rings ---- */

/* Is it not known that sp is on the thread's own stack? */
static bool is_foreign(const struct tracer *tr, const struct thread *t, uint64_t sp)
{
	const struct cp_link_shared *shared = tr->link->shared;
	uint64_t low, end;

	if (t->slot == CP_NO_SLOT)
		return false;
	low = atomic_load_explicit(&shared->stack_low[t->slot], memory_order_relaxed);
	end = atomic_load_explicit(&shared->stack_end[t->slot], memory_order_relaxed);
	return !low || !end || sp < low || sp >= end;
}

static size_t event_room(const struct tracer *tr)
{
	return sizeof(struct cp_event_hit) + CP_REG_MAX * 8 + tr->stack_max + 64;
}

#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG 0x4211
#endif

/* Known from Linux 6.4 on. */
static bool is_dispatched(pid_t tid)
{
	struct {
		uint64_t mode, selector, offset, size;
	} c = { 0 };

	return !ptrace((enum __ptrace_request)PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, tid,
		       (void *)sizeof(c), &c) &&
	       c.mode;
}

/* Whose open calls the records that follow are in, says its stack. */
static void report_ring(struct tracer *tr, const struct at *at)
{
	struct cp_event_hit *e = cp_ring_reserve(tr->link, event_room(tr), CP_LINK_RESERVE);
	struct thread *t = at->t;
	uint8_t *to = (uint8_t *)(e + 1);

	if (!e)
		return; /* there was room a moment ago */
	*e = (struct cp_event_hit){
		.e = { .type = CP_EVENT_RING,
		       .ts_ns = at->seen_ns,
		       .pid = t->process->pid,
		       .tid = t->tid },
		.slot = t->slot,
		.pc = at->pc,
		.sp = at->sp,
		.target = t->ring,
		.caller = cp_arch_thread_pointer(at->prstatus),
		.lost_ns = t->own.lost_ns,
		.doubt = t->own.doubt,
		.run_ns = tr->trace_flags & CP_TRACE_CPU ? t->own.use.run_ns : 0,
		.records = rings_of(t)->head,
		.regs_size = cp_arch_host()->nregs * 8u,
	};
	if (is_foreign(tr, t, at->sp))
		e->e.flags |= CP_HIT_FOREIGN_STACK;
	if (is_dispatched(t->tid))
		e->e.flags |= CP_HIT_DISPATCHES;
	memcpy(to, at->regs.r, e->regs_size);
	to += e->regs_size;
	e->stack_size = capture_stack(tr, t, at->sp, to, &e->stack_base);
	e->e.size = (uint32_t)(to - (uint8_t *)e + cp_align8(e->stack_size));
	cp_ring_commit(tr->link, &e->e);
	t->process->sample_end = tr->link->shared->head;
}

/* Who is not reported, or comes too late, gets one that stays closed. */
static uint64_t ring_for(struct tracer *tr, struct thread *t, bool *new_ret)
{
	struct rings *rings = t->process->space->rings;

	*new_ret = false;
	if (t->rings == rings)
		return rings_base(rings, t->ring);
	if (t->process->guest || t->rings || tr->ending ||
	    !rings_give(rings, t, tr->link->shared->tail))
		return rings_base(rings, CP_RINGS_CLOSED);
	if (!code_reach_ring(tr, t, t->ring)) {
		rings_take_back(t, tr->link->shared->tail);
		return rings_base(rings, CP_RINGS_CLOSED);
	}
	*new_ret = true;
	return rings_base(rings, t->ring);
}

static uint64_t reg_of(const struct at *at, uint8_t number, uint64_t otherwise)
{
	return number == CP_DETOUR_NONE ? otherwise : at->regs.r[number];
}

/* In a new ring nothing was chosen yet: does its first record choose its block? As
 * cp_x86_put_sample(). */
static void sample_first(const struct at *at, const struct cp_detour_record *record)
{
	struct cp_detour_ring *ring = rings_of(at->t);
	uint64_t size;

	if (!record || record->when != CP_DETOUR_SAMPLES)
		return;
	if (__builtin_mul_overflow(reg_of(at, record->block.size, 0),
				   reg_of(at, record->block.times, 1), &size) ||
	    (int64_t)size < 0)
		return;
	ring->left -= (int64_t)(size ? size : 1);
	ring->chosen = ring->left <= 0;
	if (ring->chosen)
		rings_next_way(at->t->rings, ring);
}

/* The registers that it has in the program, and the record that it is about to make; NULL:
 * not known. */
static bool find_regs(struct tracer *tr, struct at *at, const struct cp_detour_record **ret)
{
	uint64_t flags = cp_arch_flags(at->prstatus);
	const struct cp_arch *arch = cp_arch_host();
	struct detours_left left;

	cp_arch_regs_from_prstatus(at->prstatus, &at->regs);
	at->regs.r[arch->pc] -= tr->trap_size;
	if (!detours_leave(at->space, &at->regs, &flags, &left))
		return false;
	at->pc = at->regs.r[arch->pc];
	at->sp = at->regs.r[arch->sp];
	*ret = detours_record_at(&left, at->pc);
	return true;
}

/* Its own ring is full: there is room once the controller has come to this event. */
static enum hit wait_for_room(struct tracer *tr, const struct at *at, uint16_t *flags)
{
	struct thread *t = at->t;
	struct cp_event_hit e = {
		.e = { .type = CP_EVENT_FULL,
		       .ts_ns = at->seen_ns,
		       .pid = t->process->pid,
		       .tid = t->tid },
		.slot = t->slot,
		.sp = at->sp,
		.lost_ns = t->own.lost_ns,
		.doubt = t->own.doubt,
		.run_ns = tr->trace_flags & CP_TRACE_CPU ? t->own.use.run_ns : 0,
		.records = rings_of(t)->head,
	};

	emit_event(tr, &e.e, sizeof(e));
	*flags |= HIT_HOLD;
	t->waits = true;
	trap_keep(tr, t);
	return HIT_DONE;
}

static enum hit give_ring(struct tracer *tr, struct at *at, uint16_t *flags)
{
	const struct rings *rings = at->space->rings;
	const struct cp_detour_record *record;
	bool new;

	if (!cp_ring_reserve(tr->link, event_room(tr), CP_LINK_RESERVE))
		return HIT_FULL;
	if (rings && at->t->rings == rings &&
	    cp_arch_ring_base(at->prstatus) == rings_base(rings, at->t->ring))
		return wait_for_room(tr, at, flags);
	if (!rings || !find_regs(tr, at, &record))
		return HIT_NONE;
	cp_arch_set_ring_base(at->prstatus, ring_for(tr, at->t, &new));
	if (new) { /* it stays until it is known which stack is its own */
		sample_first(at, record);
		report_ring(tr, at);
		*flags |= HIT_HOLD;
		at->t->waits = true;
	}
	regs_write(at->t->tid, at->prstatus);
	trap_keep(tr, at->t);
	return HIT_DONE;
}

/* Behind the breakpoint, as when nobody reads: what it came for is not recorded. */
static enum hit go_on_untold(struct tracer *tr, struct at *at)
{
	cp_arch_set_pc(at->prstatus, at->site->slot);
	regs_write(at->t->tid, at->prstatus);
	trap_keep(tr, at->t);
	return HIT_DONE;
}

/* In what detours share. Nobody else knows what to do there, so nobody stays there: as we
 * leave, no room is waited for, which may never come. */
static enum hit serve_shared(struct tracer *tr, struct at *at, uint16_t *flags)
{
	enum hit hit = at->site->flags & CP_SITE_RING ? give_ring(tr, at, flags)
						      : foreign_serve(tr, at, flags);

	if (hit == HIT_NONE || (hit == HIT_FULL && tr->ending))
		return go_on_untold(tr, at);
	return hit;
}

enum hit detour_serve(struct tracer *tr, struct at *at, uint16_t *flags)
{
	const struct site *site;

	if (!is_trap(at))
		return HIT_NONE;
	if (at->site->flags & (CP_SITE_RING | CP_SITE_FOREIGN))
		return serve_shared(tr, at, flags);
	site = landing(at->site, at->space);
	return site ? land(tr, at, site) : HIT_NONE;
}
