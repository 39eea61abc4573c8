/* SPDX-License-Identifier: MIT
 *
 * A thread ran into a breakpoint.
 *
 *   SIGTRAP, pc just behind a site ─► capture ─► pc to the slot ─► go on
 *
 * The stop is not consumed (wait.c), so when we are killed, at any of these
 * steps, the kernel delivers the SIGTRAP and the handler in the program does
 * the same: it sends a pc behind a site to the slot and leaves one that is in
 * a slot already alone.
 *
 * Nobody but us knows of slots: where registers are seen by others (captures,
 * the frame of a signal handler) they say the site, or what comes behind it.
 */
#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/log.h"
#include "tracer/known/proc.h"
#include "tracer/captures/sampling.h"
#include "tracer/signals/trap.h"

/* What is known at a hit, gathered as it is needed. */
struct at {
	struct thread *t;
	struct space *space;
	struct site *site; /* the first at the address */
	uint64_t prstatus[PRSTATUS_MAX / 8];
	struct cp_regs regs;
	uint64_t seen_ns, pc, sp;
	bool changed; /* prstatus */
	unsigned chosen; /* CP_HIT_CHOSEN, CP_HIT_PASSED */
	unsigned detour; /* offset in the slot at which to go on */
};

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

/* ---- fetches ---- */

/* Reads several pieces; process_vm_readv() ends at the first page that is not
 * there, and is asked again for what comes behind. */
static void read_pieces(pid_t tid, struct iovec *to, struct iovec *from, uint32_t *got, size_t n)
{
	size_t i = 0;

	while (i < n) {
		ssize_t r = process_vm_readv(tid, to + i, n - i, from + i, n - i, 0);
		size_t left = r > 0 ? (size_t)r : 0;

		while (i < n && left >= from[i].iov_len) {
			got[i] = (uint32_t)from[i].iov_len;
			left -= from[i++].iov_len;
		}
		if (i < n)
			got[i++] = (uint32_t)left;
	}
}

/* ---- first arguments ---- */

static void keep_first(struct thread *t, uint64_t sp, uint64_t value)
{
	while (t->first_count && t->firsts[t->first_count - 1].sp <= sp)
		t->first_count--;
	if (t->first_count == THREAD_FIRSTS)
		memmove(t->firsts, t->firsts + 1, --t->first_count * sizeof(t->firsts[0]));
	t->firsts[t->first_count].sp = sp;
	t->firsts[t->first_count++].value = value;
}

/* Of the call whose stack pointer at the entry was `sp`; 0: it was not kept. */
static uint64_t kept_first(const struct thread *t, uint64_t sp)
{
	uint32_t i;

	for (i = t->first_count; i; i--)
		if (t->firsts[i - 1].sp == sp)
			return t->firsts[i - 1].value;
	return 0;
}

/* ---- where fetches read ---- */

static uint64_t kept_at(const struct at *at, const struct site *site)
{
	bool returned = site->flags & CP_SITE_RETURN;

	return kept_first(at->t, at->sp - (returned ? cp_arch_host()->ret_size : 0));
}

/* Where a fetch reads; 0: its pointer was not read. */
static uint64_t fetch_address(const struct at *at, const struct site *site,
			      const struct cp_fetch *f, struct cp_fetched *const *blocks)
{
	const struct cp_fetched *block;
	uint64_t pointer;

	if (f->flags & CP_FETCH_KEPT) {
		pointer = kept_at(at, site);
	} else if (f->from < CP_FETCH_BLOCK) {
		pointer = at->regs.r[f->from];
	} else {
		block = blocks[f->from - CP_FETCH_BLOCK];
		if (block->size < f->at + sizeof(pointer))
			return 0;
		memcpy(&pointer, (const uint8_t *)(block + 1) + f->at, sizeof(pointer));
	}
	return pointer ? pointer + (uint64_t)(int64_t)f->offset : 0;
}

static uint32_t fetched_size(const struct cp_fetch *f, const struct cp_fetched *block)
{
	const uint8_t *end;

	if (!(f->flags & CP_FETCH_STRING))
		return block->size;
	end = memchr(block + 1, 0, block->size);
	return end ? (uint32_t)(end - (const uint8_t *)(block + 1)) + 1 : block->size;
}

/* A return address on the stack: at an entry it is the caller's, behind a return
 * the one that was used. */
struct slot_read {
	uint64_t address;
	uint64_t *to; /* NULL: not wanted */
};

/* One level: fetches from *next on, and with the first of them a return
 * address. */
static void fetch_level(const struct at *at, const struct site *site,
			const struct cp_fetch *fetches, size_t *next, struct cp_fetched **blocks,
			struct slot_read caller)
{
	size_t count = site->fetch_count;
	struct iovec to[SITE_FETCHES + 1], from[SITE_FETCHES + 1];
	uint32_t got[SITE_FETCHES + 1] = { 0 };
	size_t which[SITE_FETCHES + 1], n = 0, i;
	unsigned level = *next < count ? fetches[*next].level : 0;

	if (caller.to) {
		which[n] = SIZE_MAX;
		to[n] = (struct iovec){ caller.to, sizeof(*caller.to) };
		from[n++] = (struct iovec){ (void *)(uintptr_t)caller.address, sizeof(*caller.to) };
	}
	for (; *next < count && fetches[*next].level == level && n < SITE_FETCHES; (*next)++) {
		struct cp_fetched *b = blocks[*next];

		b->address = fetch_address(at, site, &fetches[*next], blocks);
		if (b->address < 4096 || !fetches[*next].size)
			continue;
		which[n] = *next;
		to[n] = (struct iovec){ b + 1, fetches[*next].size };
		from[n++] = (struct iovec){ (void *)(uintptr_t)b->address, fetches[*next].size };
	}
	read_pieces(at->t->tid, to, from, got, n);
	for (i = 0; i < n; i++) {
		if (which[i] == SIZE_MAX)
			continue;
		blocks[which[i]]->size = got[i];
		blocks[which[i]]->size = fetched_size(&fetches[which[i]], blocks[which[i]]);
	}
}

/* Fills `to` with the blocks of a site and returns how long they are together.
 * Each is read to where it lies if all are as long as they may be, and moved
 * together afterwards. */
static uint32_t fetch(const struct at *at, const struct site *site, uint8_t *to,
		      struct slot_read caller)
{
	const struct cp_fetch *fetches =
		site->fetch_count ? &at->space->table->fetches.items[site->first_fetch] : NULL;
	struct cp_fetched *blocks[SITE_FETCHES];
	size_t i, next = 0, count = site->fetch_count;
	uint8_t *end = to;

	for (i = 0; i < count; i++) {
		blocks[i] = (struct cp_fetched *)end;
		*blocks[i] = (struct cp_fetched){ .index = (uint32_t)i };
		end += sizeof(*blocks[i]) + cp_align8(fetches[i].size);
	}
	do {
		fetch_level(at, site, fetches, &next, blocks, caller);
		caller.to = NULL;
	} while (next < count);
	for (end = to, i = 0; i < count; i++) {
		size_t size = sizeof(*blocks[i]) + cp_align8(blocks[i]->size);

		memmove(end, blocks[i], size);
		end += size;
	}
	return (uint32_t)(end - to);
}

/* ---- the event ---- */

/* As long as the controller has not said where the thread's own stack is, any
 * may be another one; where there are others on it, it says so of none. */
static bool needs_walk(const struct tracer *tr, const struct at *at, const struct site *site,
		       const struct cp_event_hit *e)
{
	const struct cp_link_shared *shared = tr->link->shared;
	uint64_t low, end;

	if (at->t->slot == CP_NO_SLOT)
		return false;
	low = atomic_load_explicit(&shared->stack_low[at->t->slot], memory_order_relaxed);
	end = atomic_load_explicit(&shared->stack_end[at->t->slot], memory_order_relaxed);
	if (low && end && (at->sp < low || at->sp >= end))
		return true;
	return opens_see(tr, at->space, at->t, site, e) || !low || !end;
}

static uint32_t read_vector(const struct at *at, struct cp_hit_vector *to)
{
	uint8_t fp[CP_ARCH_FP_MAX];
	struct iovec v = { fp, sizeof(fp) };

	if (ptrace(PTRACE_GETREGSET, at->t->tid, (long)cp_arch_fp_note(), &v))
		return 0;
	cp_arch_fp_values(fp, v.iov_len, to->v, to->x87);
	return sizeof(*to);
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
		e->vector_size = read_vector(at, (struct cp_hit_vector *)to);
		to += e->vector_size;
	}
	if (entry) {
		e->target = at->regs.r[arch->args[0]];
		if (at->space->groups.items[site->group].g.flags & CP_GROUP_KEEPS)
			keep_first(at->t, at->sp, e->target);
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
	if (needs_walk(tr, at, site, e)) {
		e->e.flags |= CP_HIT_FOREIGN_STACK;
		to = insert_regs(at, e, to);
	}
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
	};
	if (site->flags & CP_SITE_TAIL)
		e->e.flags |= CP_HIT_TAKEN;
	if (call)
		e->e.flags |= CP_HIT_CALLS;
	e->e.flags |= at->chosen;
	fill(tr, at, site, e);
	*flags_ret |= e->e.flags;
	cp_ring_commit(tr->link, &e->e);
	t->process->sample_end = tr->link->shared->head;
	return true;
}

/* ---- coverage ---- */

/* Counters are shared memory, and we alone count: nothing waits for the
 * controller or for room in the ring. */
static void count_up(struct tracer *tr, uint32_t id)
{
	_Atomic uint64_t *counter = &tr->link->counters[id];
	uint64_t n = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, n == CP_COUNT_GAVE_UP ? 1 : n + 1, memory_order_relaxed);
}

static bool counted(const struct tracer *tr, uint32_t id)
{
	uint64_t n = atomic_load_explicit(&tr->link->counters[id], memory_order_relaxed);

	return n && n != CP_COUNT_GAVE_UP;
}

/* Has all been seen that is waited for, or is it no longer waited for? */
static bool decided(struct tracer *tr, const struct at *at, const struct site *site)
{
	static const unsigned waits[] = { CP_SITE_TAKEN, CP_SITE_PASSED };
	uint32_t budget = at->space->groups.items[site->group].g.max_rate, i;
	unsigned hits = *site_state(at->space, site) & STATE_HITS;
	bool spent = budget && hits >= budget, open = false;

	for (i = 0; i < 2; i++) {
		if (!(site->flags & waits[i]) || counted(tr, site->id + i))
			continue;
		open = true;
		if (spent)
			tr->link->counters[site->id + i] = CP_COUNT_GAVE_UP;
	}
	return !open || spent;
}

static bool jumps(struct at *at, const struct site *site)
{
	const struct cp_reader none = { NULL, NULL };

	if (!at->regs.known) {
		cp_arch_regs_from_prstatus(at->prstatus, &at->regs);
		at->regs.r[cp_arch_host()->pc] = at->pc;
	}
	return cp_step_destination(&site->step, &at->regs, cp_arch_flags(at->prstatus), &none) ==
	       site->step.target;
}

static void count_site(struct tracer *tr, struct at *at, const struct site *site)
{
	uint16_t *state = site_state(at->space, site);

	*state += (*state & STATE_HITS) < STATE_HITS;
	if (site->flags & CP_SITE_BRANCH)
		count_up(tr, site->id + !jumps(at, site));
	else
		count_up(tr, site->id);
}

/* The block that the thread was in until now was executed to its end, if this hit is
 * at another one: what leads out of the middle are signals, and they make it unknown. */
static void leave_block(struct tracer *tr, const struct at *at)
{
	uint32_t left = at->t->entered, entered = 0;
	unsigned flags = 0;
	const struct site *site;
	_Atomic uint64_t *counter;

	for (site = at->site; site; site = site_next(at->space, site)) {
		if (!site_armed(at->space, site) || !(site->flags & SITE_COUNTS))
			continue;
		flags |= site->flags;
		if (site->flags & CP_SITE_COUNT && site->flags & CP_SITE_ONCE)
			entered = site->id + 1;
	}
	if (!flags)
		return;
	at->t->entered = entered;
	if (!left || (flags & CP_SITE_COUNT && flags & CP_SITE_MIDDLE) || !counted(tr, left - 1))
		return;
	counter = &tr->link->counters[left - 1];
	atomic_store_explicit(counter, *counter | CP_COUNT_WHOLE, memory_order_relaxed);
}

/* Counts at all sites here that count. True: some are not needed any more. */
static bool count_here(struct tracer *tr, struct at *at, bool *events_ret)
{
	const struct site *site;
	bool done = false, any = false;

	leave_block(tr, at);
	for (site = at->site; site; site = site_next(at->space, site)) {
		if (!site_armed(at->space, site))
			continue;
		if (!(site->flags & SITE_SILENT))
			*events_ret = true;
		if (!(site->flags & SITE_COUNTS))
			continue;
		any = true;
		count_site(tr, at, site);
		if (site->flags & CP_SITE_ONCE &&
		    (site->flags & CP_SITE_COUNT || decided(tr, at, site))) {
			site_disarm(at->space, site);
			done = true;
		}
	}
	tr->link->shared->stats.counted += any;
	return done;
}

/* ---- which of them are events ---- */

/* Where a jump goes, if that is outside of its function; 0: inside. */
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
	bool starves; /* not for its rate (starve.c) */
};

/* A function of the group is entered. */
static void enter(const struct at *at, uint32_t group, struct hot *hot)
{
	bool starves = starve_enters(at->t, group);

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

/* What begins here comes first, what the instruction here goes to last. */
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
		    turn != turn_of(at, site))
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
static void go_on(struct at *at)
{
	bool free = at->site->step.how == CP_STEP_FREE && !at->detour;

	if (!free)
		cp_arch_set_pc(at->prstatus, at->site->slot + at->detour);
	if (!free || at->changed)
		regs_write(at->t->tid, at->prstatus);
}

/* What the program does with SIGTRAP, if it does that here. */
static void watch(struct at *at)
{
	const struct site *site;
	unsigned flags = 0;

	for (site = at->site; site; site = site_next(at->space, site))
		flags |= site_armed(at->space, site) ? site->flags : 0;
	if (flags & SITE_WATCHES)
		at->changed = trap_watch(at->t, flags, at->prstatus);
}

/* A trap at a site that is disarmed: one on its way, or the program's own. */
static enum hit late(struct tracer *tr, struct at *at)
{
	if (stands(at->space, at->site))
		return HIT_NONE;
	tr->link->shared->stats.hits_late++;
	tr->link->shared->stats.hits++;
	go_on(at);
	trap_keep(tr, at->t);
	wait_hit_done(tr, at->t, at->seen_ns, 0);
	return HIT_DONE;
}

/* Stacks that are further apart are different ones. */
#define SAME_STACK (UINT64_C(1) << 20)

/* After a signal handler the instruction is executed again that had trapped
 * before it; that was one hit. A handler that does not return leaves an entry
 * here that says nothing any more once the thread is further up its stack. */
static bool seen_before(struct at *at)
{
	struct thread *t = at->t;
	bool same = false;
	size_t i;

	for (i = 0; i < sizeof(t->again) / sizeof(t->again[0]); i++) {
		uint64_t sp = t->again[i].sp;
		bool hit = t->again[i].pc == at->site->address && sp == at->sp;

		same |= hit;
		if (hit || (at->sp > sp && at->sp - sp < SAME_STACK))
			t->again[i].pc = 0;
	}
	return same;
}

/* What the thread did since its last stop, and how the program's time went. */
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
	bool done, once = false, events = false;
	enum turn turn;

	if (!room_for_all(tr, at))
		return false;
	done = count_here(tr, at, &events);
	if (events) {
		cp_arch_regs_from_prstatus(at->prstatus, &at->regs);
		at->regs.r[cp_arch_host()->pc] = at->pc;
		tr->link->shared->stats.hits++;
		account(tr, at);
		starve_hit(at->t, at->sp);
		for (turn = BEGINS; turn < TURNS; turn++)
			once |= report_some(tr, at, turn, flags, &hot);
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

static enum hit serve(struct tracer *tr, struct thread *t, uint64_t seen_ns)
{
	struct at at = { .t = t, .space = t->process->space, .seen_ns = seen_ns };
	uint16_t flags = 0;
	struct cp_syscall_state s;

	if (!at.space->table->sites.count || !regs_read(t->tid, at.prstatus))
		return HIT_NONE;
	cp_arch_syscall_state(at.prstatus, &s);
	at.sp = s.sp;
	if (calibrate_seen(tr, t, s.pc, at.seen_ns)) {
		trap_keep(tr, t);
		wait_hit_done(tr, t, at.seen_ns, 0);
		return HIT_DONE;
	}
	at.site = space_site(at.space, s.pc - tr->trap_size);
	if (!at.site || !is_hit(tr, t, at.site))
		return HIT_NONE;
	if (!space_any_armed(at.space, at.site))
		return late(tr, &at);
	at.pc = at.site->address;
	if (!t->process->guest && !seen_before(&at) && !serve_sites(tr, &at, &flags))
		return HIT_FULL;
	watch(&at);
	go_on(&at);
	trap_keep(tr, t);
	wait_hit_done(tr, t, at.seen_ns, flags);
	return HIT_DONE;
}

enum hit hit_serve(struct tracer *tr, struct thread *t)
{
	uint64_t seen = cp_now();
	enum hit hit = serve(tr, t, seen);

	if (hit != HIT_NONE || !trap_of_left(t))
		return hit;
	wait_hit_done(tr, t, seen, 0);
	return HIT_DONE;
}
