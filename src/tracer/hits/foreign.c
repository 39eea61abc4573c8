/* SPDX-License-Identifier: MIT
 *
 * Calls by detours on stacks that are not the thread's own: of coroutines, of signal
 * handlers. Which calls are around such a one is told by its stack alone, so it is an
 * event, as at a breakpoint, and no record. So is the first call from each place in code
 * whose own calls are not seen: such a stack may lie in a frame of the thread's own
 * (opens.c), and the first call on it comes from there.
 */
#include "tracer/hits/foreign.h"

#include <string.h>

#include "tracer/captures/capture.h"
#include "tracer/hits/at.h"
#include "tracer/hits/fetch.h"
#include "tracer/known/again.h"
#include "tracer/known/emit.h"
#include "tracer/known/starve.h"
#include "tracer/memory/detours.h"
#include "tracer/memory/rings.h"
#include "tracer/signals/trap.h"

static size_t event_room(const struct tracer *tr)
{
	return sizeof(struct cp_event_hit) + CP_REG_MAX * 8 + sizeof(struct cp_hit_vector) +
	       tr->stack_max + 64;
}

static bool is_vector(const struct cp_detour_value *v)
{
	return v->kind != CP_DETOUR_GENERAL && v->kind != CP_DETOUR_STACK &&
	       v->kind != CP_DETOUR_WORD;
}

static bool has_vectors(const struct cp_detour_record *record)
{
	unsigned i = 0;

	while (i < record->value_count && !is_vector(&record->values[i]))
		i++;
	return i < record->value_count;
}

/* Has it values of memory? Of the stack, events bring enough. */
static bool has_reach(const struct cp_detour_record *record)
{
	unsigned i = 0;

	while (i < record->value_count && !record->values[i].reach)
		i++;
	return i < record->value_count;
}

/* What the detour found of a block that is told in a sample. */
static uint16_t marks(const struct thread *t, const struct cp_detour_record *record)
{
	const struct cp_detour_ring *ring = rings_of(t);

	if (record->when == CP_DETOUR_IF_CHOSEN)
		return CP_HIT_CHOSEN;
	if (record->when != CP_DETOUR_SAMPLES)
		return 0;
	return (uint16_t)(CP_HIT_CHOSEN | (ring && ring->chosen ? 0 : CP_HIT_PASSED));
}

/* At registers as they are in the program. */
static void report(struct tracer *tr, const struct at *at, const struct cp_regs *regs,
		   const struct cp_detour_record *record, uint16_t stays)
{
	struct cp_event_hit *e = cp_ring_reserve(tr->link, event_room(tr), CP_LINK_RESERVE);
	const struct cp_arch *arch = cp_arch_host();
	struct thread *t = at->t;
	uint8_t *to = (uint8_t *)(e + 1);

	if (!e)
		return; /* there was room a moment ago */
	*e = (struct cp_event_hit){
		.e = { .type = CP_EVENT_HIT,
		       .flags = CP_HIT_RECORD | CP_HIT_FOREIGN_STACK | stays | marks(t, record),
		       .ts_ns = at->seen_ns,
		       .pid = t->process->pid,
		       .tid = t->tid },
		.site = record->site,
		.slot = t->slot,
		.pc = regs->r[arch->pc],
		.sp = regs->r[arch->sp],
		.lost_ns = t->own.lost_ns,
		.doubt = t->own.doubt,
		.run_ns = tr->trace_flags & CP_TRACE_CPU ? t->own.use.run_ns : 0,
		.records = rings_of(t) ? rings_of(t)->head : 0,
		.regs_size = arch->nregs * 8u,
	};
	space_read(at->space, e->sp, &e->caller, sizeof(e->caller));
	memcpy(to, regs->r, e->regs_size);
	to += e->regs_size;
	if (has_vectors(record))
		e->vector_size = fetch_vector(t->tid, (struct cp_hit_vector *)to);
	to += e->vector_size;
	e->stack_size = capture_stack(tr, t, e->sp, to, &e->stack_base);
	e->e.size = (uint32_t)(to - (uint8_t *)e + cp_align8(e->stack_size));
	cp_ring_commit(tr->link, &e->e);
	t->process->sample_end = tr->link->shared->head;
}

/* Is the controller likely to find that it may record on the stack that it is on? */
static bool may_be_learnt(const struct thread *t)
{
	const struct cp_detour_ring *ring = rings_of(t);

	return ring && __atomic_load_n(&ring->others, __ATOMIC_RELAXED) != CP_DETOUR_OTHERS_NONE;
}

/* It seems to be on its own stack: called from where nobody has come from so far. */
static bool is_from_elsewhere(const struct thread *t, uint64_t sp)
{
	const struct cp_detour_ring *ring = rings_of(t);

	return ring && sp >= __atomic_load_n(&ring->own_low, __ATOMIC_RELAXED) &&
	       sp < __atomic_load_n(&ring->own_end, __ATOMIC_RELAXED);
}

bool foreign_may_begin(const struct thread *t, uint64_t caller, uint64_t sp)
{
	return is_from_elsewhere(t, sp) && !rings_know_caller(t->rings, caller, sp);
}

/* The thread may get nowhere for such stops: then the function that it enters goes. True: it
 * does, and until the controller has seen to that, the thread must not come there again. */
static bool judge(struct tracer *tr, const struct at *at, const struct cp_regs *regs)
{
	const struct cp_arch *arch = cp_arch_host();
	const struct site *site = space_site(at->space, regs->r[arch->pc]);
	struct cp_event_disarmed e = {
		.e = { .type = CP_EVENT_DISARMED,
		       .ts_ns = at->seen_ns,
		       .pid = at->t->process->pid,
		       .tid = at->t->tid },
	};

	starve_hit(at->t, regs->r[arch->sp]);
	if (!site || !(site->flags & SITE_DETOURS) || !starve_enters(at->t, site->id))
		return false;
	e.group = site->id; /* of a window it is that of its function's group */
	emit_event(tr, &e.e, sizeof(e));
	return true;
}

enum hit foreign_serve(struct tracer *tr, struct at *at, uint16_t *flags)
{
	uint64_t eflags = cp_arch_flags(at->prstatus);
	const struct cp_arch *arch = cp_arch_host();
	const struct cp_detour_record *record = NULL;
	struct detours_left left;
	struct cp_regs regs;

	if (!cp_ring_reserve(tr->link, event_room(tr), CP_LINK_RESERVE))
		return HIT_FULL;
	cp_arch_regs_from_prstatus(at->prstatus, &regs);
	regs.r[arch->pc] -= tr->trap_size;
	if (detours_leave(at->space, &regs, &eflags, &left))
		record = detours_record_at(&left, regs.r[arch->pc]);
	/* Goes on behind the breakpoint, and makes no record. */
	if (record && !at->t->process->guest) {
		/* What follows is recorded or not, by what its stack says. */
		bool stays = has_reach(record) || is_from_elsewhere(at->t, regs.r[arch->sp]) ||
			     may_be_learnt(at->t);

		/* Of who has a ring that is said there (detours_lead_out()). */
		if (!again_came(at->t, regs.r[arch->pc], &regs)) {
			report(tr, at, &regs, record, stays ? CP_HIT_STAYS : 0);
			tr->link->shared->stats.hits++;
		}
		if (judge(tr, at, &regs) || stays)
			*flags |= HIT_HOLD;
		at->t->foreign_pc = regs.r[arch->pc];
		at->t->foreign_sp = regs.r[arch->sp];
		at->t->foreign_head = rings_of(at->t) ? rings_of(at->t)->head : 0;
	}
	trap_keep(tr, at->t);
	return HIT_DONE;
}
