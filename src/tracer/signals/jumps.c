/* SPDX-License-Identifier: MIT
 *
 * Jumps of detours come and go while who runs is held.
 *
 * Who is blocked in a system call is not: no window has one in it, nor the return from a
 * call. Should it wake up, it finds breakpoints.
 */
#include "tracer/signals/jumps.h"

#include <sys/syscall.h>

#include "base/clock.h"
#include "base/log.h"
#include "tracer/calls/guard.h"
#include "tracer/calls/inject.h"
#include "tracer/known/lookup.h"
#include "tracer/known/regs.h"
#include "tracer/memory/detours.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/windows.h"
#include "tracer/restore.h"
#include "tracer/signals/sigmask.h"

/* ---- who is held ---- */

typedef void (*visit_fn)(struct thread *t, void *ctx);

/* By `in`, or for another reason. */
static void visit_held(struct tracer *tr, const struct injection *in, visit_fn visit, void *ctx)
{
	uint64_t key, value;
	size_t cursor = 0, i;

	for (i = 0; i < in->others.count; i++) {
		struct thread *t = thread_find(tr, in->others.items[i]);

		if (t && t->state != THREAD_HELD)
			visit(t, ctx);
	}
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (t->process->space == in->space && t != in->thread && t->state == THREAD_HELD)
			visit(t, ctx);
	}
}

/* Its processes may all be gone when who runs is held. */
struct keeping {
	bool kept;
	struct injection in;
};

static void begin(struct tracer *tr, struct space *space, struct keeping *ret)
{
	*ret = (struct keeping){ .kept = space_keep(space), .in = { .space = space } };
	sigmask_hold_others(tr, &ret->in);
}

static void end(struct tracer *tr, struct keeping *k)
{
	sigmask_let_others_run(tr, &k->in);
	space_let_go(k->in.space, k->kept);
}

/* ---- in ---- */

/* Who is in a window goes on in its detour. */
static void move(struct thread *t, void *windows)
{
	uint64_t prstatus[PRSTATUS_MAX / 8], to;
	struct cp_syscall_state s;

	if (!regs_read(t->tid, prstatus))
		return;
	cp_arch_syscall_state(prstatus, &s);
	to = windows_move(windows, s.pc);
	if (!to)
		return;
	cp_arch_set_pc(prstatus, to);
	regs_write(t->tid, prstatus);
}

void jumps_in(struct tracer *tr, struct space *space)
{
	struct windows windows;
	struct keeping k;
	uint64_t since;
	size_t n = 0;

	if (!windows_choose(space, &windows))
		return;
	begin(tr, space, &k);
	since = cp_now();
	if (!k.in.running) {
		visit_held(tr, &k.in, move, &windows);
		n = windows_jump(&windows);
	}
	cp_debug("%zu jumps in the text of %d, %u us", n, (int)space->pid,
		 (unsigned)((cp_now() - since) / 1000));
	end(tr, &k);
	windows_free(&windows);
}

/* ---- out ---- */

static void lead_out(struct thread *t, void *ending)
{
	detours_lead_out(t);
	if (*(bool *)ending)
		rings_forget(t->process->space->rings, t->tid);
}

/* The same where only some jumps go: who would be in the middle of one that stays goes on where
 * it is. */
static void lead_out_of_these(struct thread *t, void *windows)
{
	detours_lead_out_unless(t, windows_stay_around, windows);
}

void jumps_out(struct tracer *tr, struct space *space, const struct windows_which *which)
{
	struct windows windows;
	struct keeping k;

	if (!windows_unjump(space, which, &windows))
		return;
	begin(tr, space, &k);
	visit_held(tr, &k.in, lead_out_of_these, &windows);
	windows_put_back(&windows, !k.in.running);
	end(tr, &k);
}

/* `in` has registers of its own, which it gets back. */
static void lead_out_asked(struct injection *in)
{
	struct rings *rings = in->space->rings;
	uint64_t flags = cp_arch_flags(in->regs);
	struct detours_left left;
	struct cp_regs regs;
	uint32_t ring;

	cp_arch_regs_from_prstatus(in->regs, &regs);
	if (detours_leave(in->space, &regs, &flags, &left)) {
		cp_arch_regs_to_prstatus(&regs, in->regs);
		cp_arch_set_flags(in->regs, flags);
		detours_settle(in->thread, &left);
	}
	if (rings && rings_find(rings, cp_arch_ring_base(in->regs), &ring))
		cp_arch_set_ring_base(in->regs, 0);
	guard_renew(in);
}

void jumps_lead_out(struct tracer *tr, struct injection *in)
{
	bool ending = true;

	visit_held(tr, in, lead_out, &ending);
	lead_out_asked(in);
}

/* ---- their memory ---- */

static void count_rings(struct thread *t, void *ctx)
{
	*(size_t *)ctx += t->rings == t->process->space->rings;
}

/* Threads with a ring, which are not held. */
static bool has_others(struct tracer *tr, const struct injection *in)
{
	size_t held = in->thread->rings == in->space->rings, all = 0, cursor = 0;
	uint64_t key, value;

	visit_held(tr, in, count_rings, &held);
	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (t->process->space == in->space)
			count_rings(t, &all);
	}
	return all > held;
}

static void unmap(struct injection *in, uint64_t at, uint64_t size)
{
	inject_call(in, SYS_munmap, (const uint64_t[6]){ at, size });
}

void jumps_unmap(struct tracer *tr, struct injection *in)
{
	struct space *space = in->space;
	const struct rings *rings = space->rings;
	const struct chunk *c;

	if (in->running || !rings || !space->chunks.count || space->users - space->kept > 1 ||
	    windows_any(space, &windows_all))
		return;
	cp_vec_for_each(&space->chunks, c)
		unmap(in, c->address, c->size);
	space->chunks.count = 0;
	/* Who sleeps since an earlier session has a ring that nobody gave it in this one. */
	if (has_others(tr, in) || space->left || rings->stale)
		return;
	unmap(in, rings->zero, rings->size);
	unmap(in, rings->base, space->rings_mapped * rings->size);
}

/* ---- those that were left ---- */

/* Who stands at a jump goes to where it leads. */
static uint64_t around(const struct space *space, uint64_t pc)
{
	return cp_restore_slot(space->pid, space->mem, pc, true);
}

/* Who is in what they lead to goes on there. */
static void go_around(struct thread *t, void *inside)
{
	const struct space *space = t->process->space;
	uint64_t prstatus[PRSTATUS_MAX / 8], to;
	struct cp_syscall_state s;

	if (!regs_read(t->tid, prstatus))
		return;
	cp_arch_syscall_state(prstatus, &s);
	to = around(space, s.pc);
	*(bool *)inside |= to || cp_restore_inside(space->pid, space->mem, s.pc);
	if (!to)
		return;
	cp_arch_set_pc(prstatus, to);
	regs_write(t->tid, prstatus);
}

bool jumps_out_left(struct tracer *tr, struct injection *in)
{
	struct cp_syscall_state s;
	bool inside = false;
	uint64_t to;

	if (in->running)
		return true;
	visit_held(tr, in, go_around, &inside);
	cp_arch_syscall_state(in->regs, &s);
	to = around(in->space, s.pc);
	if (to) {
		cp_arch_set_pc(in->regs, to);
		guard_renew(in);
	}
	inside |= to || cp_restore_inside(in->space->pid, in->space->mem, s.pc);
	cp_restore_windows(in->space->pid, in->space->mem);
	return !inside;
}
