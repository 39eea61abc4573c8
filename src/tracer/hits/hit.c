/* SPDX-License-Identifier: MIT
 *
 * A thread ran into a breakpoint.
 *
 *   SIGTRAP, pc just behind a site ─► capture ─► pc to the slot ─► go on
 *
 * The stop is not consumed (stops/stop.c), so when we are killed, at any of these
 * steps, the kernel delivers the SIGTRAP and the handler in the program does
 * the same: it sends a pc behind a site to the slot and leaves one that is in
 * a slot already alone.
 *
 * Nobody but us knows of slots: where registers are seen by others (captures,
 * the frame of a signal handler) they say the site, or what comes behind it.
 */
#include "tracer/hits/hit.h"

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "tracer/captures/capture.h"
#include "tracer/hits/calibrate.h"
#include "tracer/hits/count.h"
#include "tracer/hits/detour.h"
#include "tracer/hits/fetch.h"
#include "tracer/hits/foreign.h"
#include "tracer/hits/heap_sample.h"
#include "tracer/hits/opens.h"
#include "tracer/hits/pause.h"
#include "tracer/known/again.h"
#include "tracer/known/emit.h"
#include "tracer/known/proc.h"
#include "tracer/known/regs.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/sites.h"
#include "tracer/signals/trap.h"

/* ---- whose trap ---- */

/* A breakpoint instruction, and not a SIGTRAP that somebody sent to a thread
 * that stands behind a site by chance. */
static bool is_trap(pid_t tid)
{
	siginfo_t si;

	return !ptrace(PTRACE_GETSIGINFO, tid, 0, &si) && si.si_code == SI_KERNEL;
}

/* Only a breakpoint leaves pc in the middle of an instruction; behind one of a
 * single byte, and in a landing pad, there may be other reasons to stop. When a
 * SIGTRAP was pending because it is blocked, the breakpoint's own is dropped
 * and the other one comes, but the handler is gone then. */
static bool is_hit(const struct tracer *tr, const struct thread *t, const struct site *site)
{
	if (site->step.how == CP_STEP_SLOT && site->step.size > tr->trap_size)
		return true;
	return is_trap(t->tid) || (t->process->space->handler && !proc_catches(t->tid, SIGTRAP));
}

static bool stands(const struct space *space, const struct site *site)
{
	uint8_t now[CP_TRAP_MAX];
	size_t size;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);

	return space_read(space, site->address, now, size) && !memcmp(now, trap, size);
}

/* ---- the event ---- */

static bool is_of_call(const struct at *at, const struct site *site)
{
	return site->flags & CP_SITE_ENTRY &&
	       at->space->groups.items[site->group].g.flags & CP_GROUP_OPENS;
}

/* As long as the controller has not said where the thread's own stack is, any
 * may be another one; where there are others on it, it says so of none. Who would make
 * records of what follows stays until it is known on which stack they are. */
static uint16_t needs_walk(const struct tracer *tr, const struct at *at, const struct site *site,
			   const struct cp_event_hit *e)
{
	const struct cp_link_shared *shared = tr->link->shared;
	uint64_t low, end;
	bool asked;

	if (at->t->slot == CP_NO_SLOT)
		return 0;
	low = atomic_load_explicit(&shared->stack_low[at->t->slot], memory_order_relaxed);
	end = atomic_load_explicit(&shared->stack_end[at->t->slot], memory_order_relaxed);
	if (low && end && (at->sp < low || at->sp >= end))
		return CP_HIT_FOREIGN_STACK;
	asked = opens_see(tr, at->space, at->t, site, e) || !low || !end;
	if (is_of_call(at, site) && foreign_may_begin(at->t, e->caller, at->sp))
		return CP_HIT_FOREIGN_STACK | CP_HIT_STAYS;
	return asked ? CP_HIT_FOREIGN_STACK : 0;
}

static bool wants_return(const struct at *at, const struct site *site, uint64_t caller)
{
	const struct site *s = space_site(at->space, caller);

	if (!(site->flags & CP_SITE_WATCH_RETURN) || !caller)
		return false;
	for (; s; s = site_next(at->space, s)) {
		if (site_armed(at->space, s) && s->flags & CP_SITE_RETURN)
			return false;
	}
	return true;
}

static bool is_of_library(const struct at *at, const struct site *site)
{
	return at->space->groups.items[site->group].g.flags & CP_GROUP_LIBRARY &&
	       site->flags & CP_SITE_ENTRY;
}

/* Is the function entered by the instruction here, a call? Then *ret is where the
 * thread is behind it. */
static bool calls(const struct at *at, const struct site *site, struct at *ret)
{
	const struct cp_arch *arch = cp_arch_host();

	if (!is_of_library(at, site) || site->step.flow != CP_FLOW_CALL_INDIRECT)
		return false;
	*ret = *at;
	ret->sp -= arch->ret_size;
	ret->regs.r[arch->sp] -= arch->ret_size;
	return true;
}

/* In front of what is behind the fixed part already. */
static uint8_t *insert_regs(const struct at *at, struct cp_event_hit *e, uint8_t *end)
{
	uint8_t *to = (uint8_t *)(e + 1);
	uint32_t size = cp_arch_host()->nregs * 8u;

	if (e->regs_size)
		return end;
	memmove(to + size, to, (size_t)(end - to));
	memcpy(to, at->regs.r, size);
	e->regs_size = size;
	return end + size;
}

/* Behind the fixed part. */
static void fill(struct tracer *tr, const struct at *at, const struct site *site,
		 struct cp_event_hit *e)
{
	const struct cp_arch *arch = cp_arch_host();
	bool entry = site->flags & CP_SITE_ENTRY, returned = site->flags & CP_SITE_RETURN;
	bool in_memory = (entry || returned) && arch->ret_size && !(e->e.flags & CP_HIT_CALLS);
	struct slot_read caller = { at->sp - (returned ? arch->ret_size : 0),
				    in_memory ? &e->caller : NULL };
	uint8_t *to = (uint8_t *)(e + 1);

	if (site->flags & CP_SITE_REGS)
		to = insert_regs(at, e, to);
	if (site->flags & CP_SITE_VECTOR) {
		e->vector_size = fetch_vector(at->t->tid, (struct cp_hit_vector *)to);
		to += e->vector_size;
	}
	if (entry) {
		e->target = at->regs.r[arch->args[0]];
		if (at->space->groups.items[site->group].g.flags & CP_GROUP_KEEPS)
			fetch_keep_first(at->t, at->sp, e->target);
	}
	if (e->e.flags & CP_HIT_CALLS)
		e->caller = site->step.resume;
	else if (entry && !in_memory)
		e->caller = at->regs.r[arch->lr];
	if (in_memory || site->fetch_count) {
		e->fetched_size = fetch(at, site, to, caller);
		to += e->fetched_size;
	}
	if (entry && wants_return(at, site, e->caller))
		e->e.flags |= CP_HIT_WANTS_RETURN;
	e->e.flags |= needs_walk(tr, at, site, e);
	if (e->e.flags & CP_HIT_FOREIGN_STACK)
		to = insert_regs(at, e, to);
	if (e->e.flags & CP_HIT_FOREIGN_STACK || site->flags & CP_SITE_STACK)
		e->stack_size = capture_stack(tr, at->t, at->sp, to, &e->stack_base);
	e->e.size = (uint32_t)(to - (uint8_t *)e + cp_align8(e->stack_size));
}

static size_t event_room(const struct tracer *tr, const struct site *site)
{
	return sizeof(struct cp_event_hit) + CP_REG_MAX * 8 + sizeof(struct cp_hit_vector) +
	       site->room + tr->stack_max + 64;
}

/* Writes the event of one site. False: no room. */
static bool report(struct tracer *tr, const struct at *at, const struct site *site, uint64_t target,
		   uint16_t *flags_ret)
{
	struct thread *t = at->t;
	struct at behind;
	bool call = calls(at, site, &behind);
	struct cp_event_hit *e = cp_ring_reserve(tr->link, event_room(tr, site), CP_LINK_RESERVE);

	if (!e)
		return false;
	at = call ? &behind : at;
	*e = (struct cp_event_hit){
		.e = { .type = CP_EVENT_HIT,
		       .ts_ns = at->seen_ns,
		       .pid = t->process->pid,
		       .tid = t->tid },
		.site = site->id,
		.slot = t->slot,
		.pc = site->address,
		.sp = at->sp,
		.target = target,
		.lost_ns = t->own.lost_ns,
		.doubt = t->own.doubt,
		.run_ns = tr->trace_flags & CP_TRACE_CPU ? t->own.use.run_ns : 0,
		.records = t->rings ? rings_of(t)->head : 0,
	};
	if (site->flags & CP_SITE_TAIL)
		e->e.flags |= CP_HIT_TAKEN;
	if (call)
		e->e.flags |= CP_HIT_CALLS;
	e->e.flags |= at->chosen;
	fill(tr, at, site, e);
	*flags_ret |= e->e.flags | (e->e.flags & CP_HIT_STAYS ? HIT_HOLD : 0);
	cp_ring_commit(tr->link, &e->e);
	t->process->sample_end = tr->link->shared->head;
	return true;
}

/* ---- which of them are events ---- */

/* The target of a jump that leaves its function; 0: it stays inside. */
static uint64_t leaves_to(const struct at *at, const struct site *site)
{
	const struct cp_site_group *g = &at->space->groups.items[site->group].g;
	const struct cp_reader memory = { space_reader, at->space };
	uint64_t to =
		cp_step_destination(&site->step, &at->regs, cp_arch_flags(at->prstatus), &memory);
	size_t i;

	for (i = 0; i < CP_GROUP_RANGES; i++) {
		if (to >= g->ranges[i].start && to < g->ranges[i].end)
			return 0;
	}
	return to;
}

/* Counts an entry; true when there were too many in this second. */
static bool too_often(struct space *space, struct site_group *group)
{
	if (!group->g.max_rate)
		return false;
	if (group->g.flags & CP_GROUP_PAUSES)
		return pause_spend(space, group->g.max_rate);
	if (!group->entries || space->clock.ns - group->second_ns >= CP_NS_PER_S) {
		group->second_ns = space->clock.ns;
		group->entries = 0;
	}
	return ++group->entries > group->g.max_rate;
}

/* A group that is to be given up. */
struct hot {
	uint32_t group; /* SITE_NONE: none */
	bool starves; /* not for its rate (known/starve.c) */
};

/* A function of the group is entered. */
static void enter(const struct at *at, uint32_t group, struct hot *hot)
{
	bool starves = starve_enters(at->t, at->space->groups.items[group].g.id);

	if (too_often(at->space, &at->space->groups.items[group]) || starves)
		*hot = (struct hot){ group, starves };
}

static void give_up_group(struct tracer *tr, const struct at *at, const struct hot *hot)
{
	const struct site_group *group = &at->space->groups.items[hot->group];
	struct cp_event_disarmed e = {
		.e = { .type = CP_EVENT_DISARMED,
		       .ts_ns = at->seen_ns,
		       .pid = at->t->process->pid,
		       .tid = at->t->tid },
		.group = group->g.id,
		.rate = hot->starves ? 0 : group->entries,
	};

	if (group->g.flags & CP_GROUP_PAUSES) {
		pause_begin(tr, at->space, at->t->process->pid, at->seen_ns);
		return;
	}
	sites_disarm_in(at->space, hot->group);
	emit_event(tr, &e.e, sizeof(e));
}

/* False: an allocation that was not chosen, and nobody else wants to see it. */
static bool is_chosen(struct tracer *tr, struct at *at, const struct site *site)
{
	const struct cp_site_group *g = &at->space->groups.items[site->group].g;

	at->chosen = 0;
	if (!(g->flags & CP_GROUP_SAMPLED))
		return true;
	at->chosen = heap_sample_hit(tr, at->t, at->space, site, &at->regs, at->sp);
	if (at->chosen || g->heap.others)
		return true;
	tr->link->shared->stats.hits_passed++;
	return false;
}

static bool is_quiet(struct at *at, const struct site *site)
{
	const struct cp_site_group *g = &at->space->groups.items[site->group].g;
	uint32_t now;
	bool quiet = g->quiet_at && space_read(at->space, g->quiet_at, &now, sizeof(now)) &&
		     now == g->quiet;

	at->quiet |= quiet;
	at->told |= !quiet;
	return quiet;
}

/* Is there room for everything that this address reports? Asked first, so that
 * a hit is reported whole or left for later whole. */
static bool room_for_all(struct tracer *tr, const struct at *at)
{
	const struct site *site;
	size_t room = 0;

	for (site = at->site; site; site = site_next(at->space, site)) {
		if (site_armed(at->space, site) && !(site->flags & SITE_SILENT))
			room += event_room(tr, site);
	}
	return !room || cp_ring_reserve(tr->link, room, CP_LINK_RESERVE);
}

/* The order of events at one address: functions that begin here come first, what the
 * instruction here goes to last. */
enum turn { BEGINS, LEAVES, GOES, TURNS };

static enum turn turn_of(const struct at *at, const struct site *site)
{
	if (!(site->flags & CP_SITE_ENTRY))
		return LEAVES;
	return is_of_library(at, site) ? GOES : BEGINS;
}

static bool report_some(struct tracer *tr, struct at *at, enum turn turn, uint16_t *flags,
			struct hot *hot_ret)
{
	const struct site *site;
	bool once = false;

	for (site = at->site; site; site = site_next(at->space, site)) {
		uint64_t target = 0;

		if (!site_armed(at->space, site) || site->flags & SITE_SILENT ||
		    turn != turn_of(at, site) || is_quiet(at, site))
			continue;
		if (site->flags & CP_SITE_TAIL && !(target = leaves_to(at, site))) {
			tr->link->shared->stats.hits_inside++;
			continue;
		}
		if (is_chosen(tr, at, site)) {
			report(tr, at, site, target, flags);
			once |= site->flags & CP_SITE_ONCE;
			if (site->flags & CP_SITE_HOLD)
				*flags |= HIT_HOLD;
		}
		if (site->flags & CP_SITE_ENTRY)
			enter(at, site->group, hot_ret);
	}
	return once;
}

/* ---- going on ---- */

static void forget_once(const struct at *at)
{
	const struct site *site;

	for (site = at->site; site; site = site_next(at->space, site)) {
		if (!(site->flags & CP_SITE_ONCE) || site->flags & SITE_SILENT)
			continue;
		site_disarm(at->space, site);
		if (is_of_library(at, site)) /* which may be called at other places */
			sites_disarm_in(at->space, site->group);
	}
}

/* Takes out the breakpoint that was just hit, if no site needs it any more. It
 * was there a moment ago: that need not be looked at. */
static void take_out(const struct tracer *tr, const struct at *at)
{
	if (space_any_armed(at->space, at->site))
		return;
	at->space->changed_ns = at->seen_ns;
	space_write(at->space, at->site->address, at->site->original, tr->trap_size);
}

/* Sets the pc to where the instruction can be executed, if it isn't there. Also
 * when the breakpoint is gone: with a pc that isn't in a slot, should we be
 * killed before the thread goes on, the handler would not know the trap. */
static void leave_site(struct at *at)
{
	bool free = at->site->step.how == CP_STEP_FREE && !at->detour;

	if (!free && !at->changed) {
		regs_write_pc(at->t->tid, at->prstatus, at->site->slot + at->detour);
		return;
	}
	if (!free)
		cp_arch_set_pc(at->prstatus, at->site->slot + at->detour);
	if (at->changed)
		regs_write(at->t->tid, at->prstatus);
}

/* At a site where the program calls sigaction() or its like: sees what it does with
 * SIGTRAP. */
static void watch(struct at *at)
{
	const struct site *site;
	unsigned flags = 0;

	for (site = at->site; site; site = site_next(at->space, site))
		flags |= site_armed(at->space, site) ? site->flags : 0;
	if (flags & SITE_WATCHES)
		at->changed = trap_watch(at->t, flags, at->prstatus);
}

/* Where a window is, the program has no trap of its own: one stands while the jump goes.
 * Then there may be no detour any more, but the instruction is there. */
static void leave_window(struct at *at)
{
	if (stands(at->space, at->site)) {
		leave_site(at);
		return;
	}
	cp_arch_set_pc(at->prstatus, at->site->address);
	regs_write(at->t->tid, at->prstatus);
}

/* A trap at a site that is disarmed: one on its way, or the program's own. */
static enum hit late(struct tracer *tr, struct at *at)
{
	bool window = at->site->flags & CP_SITE_WINDOW;

	if (!window && stands(at->space, at->site))
		return HIT_NONE;
	tr->link->shared->stats.hits_late++;
	tr->link->shared->stats.hits++;
	if (window)
		leave_window(at);
	else
		leave_site(at);
	trap_keep(tr, at->t);
	return HIT_DONE;
}

/* After a signal handler the instruction is executed again that had trapped
 * before it; that was one hit. */
static bool seen_before(struct at *at)
{
	struct cp_regs regs;

	cp_arch_regs_from_prstatus(at->prstatus, &regs);
	return again_came(at->t, at->site->address, &regs);
}

/* Accounts for what the thread did since its last stop, and for the program's time. */
static void account(struct tracer *tr, const struct at *at)
{
	struct own before = at->t->own;

	own_account(tr, at->t, at->seen_ns, false);
	own_clock_advance(&at->space->clock, &before, &at->t->own);
}

/* All that the sites of this address want. False: there is no room for it. */
static bool serve_sites(struct tracer *tr, struct at *at, uint16_t *flags)
{
	struct hot hot = { .group = SITE_NONE };
	bool done, once = false, events = false, hold = false;
	enum turn turn;

	if (!room_for_all(tr, at))
		return false;
	done = count_here(tr, at, &events, &hold);
	if (hold)
		*flags |= HIT_HOLD;
	if (events) {
		cp_arch_regs_from_prstatus(at->prstatus, &at->regs);
		at->regs.r[cp_arch_host()->pc] = at->pc;
		account(tr, at);
		starve_hit(at->t, at->sp);
		for (turn = BEGINS; turn < TURNS; turn++)
			once |= report_some(tr, at, turn, flags, &hot);
		tr->link->shared->stats.hits += at->told || !at->quiet;
		if (once)
			forget_once(at);
		done |= once;
		if (!*flags)
			at->detour = calibrate_detour(tr, at->t, at->site);
	}
	if (done)
		take_out(tr, at);
	if (hot.group != SITE_NONE)
		give_up_group(tr, at, &hot);
	return true;
}

static enum hit serve(struct tracer *tr, struct at *at, uint16_t *flags)
{
	struct thread *t = at->t;
	struct cp_syscall_state s;

	if (!at->space->table->sites.count || !regs_read(t->tid, at->prstatus))
		return HIT_NONE;
	cp_arch_syscall_state(at->prstatus, &s);
	at->sp = s.sp;
	if (calibrate_seen(tr, t, s.pc, at->seen_ns)) {
		trap_keep(tr, t);
		return HIT_DONE;
	}
	at->site = space_site(at->space, s.pc - tr->trap_size);
	if (at->site && at->site->flags & SITE_PASSIVE) {
		account(tr, at);
		return detour_serve(tr, at, flags);
	}
	if (!at->site || !is_hit(tr, t, at->site))
		return HIT_NONE;
	if (!space_any_armed(at->space, at->site))
		return late(tr, at);
	at->pc = at->site->address;
	if (!t->process->guest && !seen_before(at) && !serve_sites(tr, at, flags) && !tr->ending)
		return HIT_FULL; /* as we leave, there may be nobody who makes room */
	watch(at);
	leave_site(at);
	trap_keep(tr, t);
	return HIT_DONE;
}

enum hit hit_serve(struct tracer *tr, struct thread *t, uint64_t seen_ns, uint16_t *flags_ret)
{
	struct at at = { .t = t, .space = t->process->space, .seen_ns = seen_ns };
	uint16_t flags = 0;
	enum hit hit = serve(tr, &at, &flags);

	if (hit == HIT_NONE && trap_of_left(t))
		hit = HIT_DONE;
	*flags_ret = flags;
	return hit;
}
