/* SPDX-License-Identifier: MIT
 *
 * Batches of breakpoints: into the tables, and into a program.
 *
 * The controller can write to the plan area at any time, so each piece is copied
 * once and checked; before all of a batch was, the program is not touched. What
 * it then gets comes in an order in which it can be left at any moment:
 *
 *     slots ─► table for the handler ─► handler ─► breakpoints
 *
 * A large batch comes in pieces. Each is checked as a whole, entered, and gets its
 * slots, which nothing leads to yet; the rest is done with the last one.
 */
#include "tracer/hits/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tracer/calls/guard.h"
#include "tracer/calls/inject.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/memory/area.h"
#include "tracer/memory/detours.h"
#include "tracer/memory/patch.h"
#include "tracer/memory/sigcall.h"
#include "tracer/memory/sites.h"
#include "tracer/memory/windows.h"
#include "tracer/signals/jumps.h"
#include "tracer/signals/trap.h"

/* Limits of what a batch may ask for. */
#define FETCH_MAX (64u << 10) /* bytes of one */
#define ROOM_MAX (256u << 10) /* bytes of all of a site */
#define LEVEL_MAX 8
#define EVENT_FLAGS (1023u | CP_SITE_SIGACTION | CP_SITE_SIGCALL)
#define COUNT_FLAGS \
	(CP_SITE_COUNT | CP_SITE_BRANCH | CP_SITE_ONCE | CP_SITE_TAKEN | CP_SITE_PASSED | \
	 CP_SITE_HOLD)

struct batch {
	struct cp_batch *head; /* owned; then the next three, which point into it */
	const struct cp_site_group *groups;
	const struct cp_fetch *fetches;
	const struct cp_window *windows;
	/* In the plan area: to be copied before they are looked at. Of the code
	 * nothing is. */
	const struct cp_site *sites;
	const uint8_t *code;
};

/* ---- checking ---- */

static bool open_batch(struct tracer *tr, const struct cp_request *rq, struct batch *ret)
{
	const uint8_t *plan = tr->link->plan + rq->first;
	uint64_t sites, groups, fetches, windows, rest, size = rq->size,
							head = sizeof(struct cp_batch);
	struct cp_batch said;

	if (size < sizeof(said) || size > CP_LINK_PLAN || rq->first > CP_LINK_PLAN - size ||
	    rq->first % 8)
		return false;
	memcpy(&said, plan, sizeof(said));
	sites = said.site_count * sizeof(struct cp_site);
	groups = said.group_count * sizeof(struct cp_site_group);
	fetches = said.fetch_count * sizeof(struct cp_fetch);
	windows = said.window_count * sizeof(struct cp_window);
	rest = groups + fetches + windows;
	if (said.size != size ||
	    head + sites + rest + (uint64_t)said.site_count * CP_SLOT_SIZE > size)
		return false;
	ret->head = malloc(head + rest);
	if (!ret->head)
		return false;
	*ret->head = said;
	memcpy(ret->head + 1, plan + head + sites, rest);
	ret->groups = (const struct cp_site_group *)(ret->head + 1);
	ret->fetches = (const struct cp_fetch *)((const uint8_t *)ret->groups + groups);
	ret->windows = (const struct cp_window *)((const uint8_t *)ret->fetches + fetches);
	ret->sites = (const struct cp_site *)(const void *)(plan + head);
	ret->code = plan + head + sites + rest;
	return true;
}

static bool step_ok(const struct cp_step *step)
{
	unsigned nregs = cp_arch_host()->nregs;
	size_t trap;

	cp_trap_code(cp_arch_host(), &trap);
	return (step->how == CP_STEP_FREE || step->how == CP_STEP_SLOT) &&
	       step->trap_size == trap && step->size >= trap && step->slot_size <= CP_SLOT_SIZE &&
	       step->done <= step->slot_size && (step->base < nregs || step->base == 0xff) &&
	       (step->index < nregs || step->index == 0xff);
}

/* The fetches of one site; *room_ret: what they may take in an event. */
static bool fetches_ok(const struct cp_fetch *fetches, unsigned count, uint32_t *room_ret)
{
	uint64_t room = 0;
	unsigned i;

	if (count > SITE_FETCHES)
		return false;
	for (i = 0; i < count; i++) {
		const struct cp_fetch *f = &fetches[i];
		unsigned block = f->from - CP_FETCH_BLOCK;

		if (f->size > FETCH_MAX || f->level > LEVEL_MAX)
			return false;
		if (f->level == 0 ? f->from >= cp_arch_host()->nregs
				  : (f->from < CP_FETCH_BLOCK || block >= i ||
				     fetches[block].level >= f->level))
			return false;
		if (i && f->level < fetches[i - 1].level)
			return false;
		if (f->flags & CP_FETCH_BESIDE &&
		    (!f->level || f->at >= i || fetches[f->at].level >= f->level))
			return false;
		room += sizeof(struct cp_fetched) + cp_align8(f->size);
	}
	*room_ret = (uint32_t)room;
	return room <= ROOM_MAX;
}

/* A place for a jump, or in one. */
static bool detour_ok(const struct batch *b, const struct cp_site *s)
{
	const struct cp_window *w;
	size_t i;

	if (s->flags & (s->flags - 1) || s->fetch_count || s->step.how != CP_STEP_SLOT)
		return false;
	if (!(s->flags & SITE_JUMPS))
		return true;
	if (s->window >= b->head->window_count)
		return false;
	w = &b->windows[s->window];
	if (!w->size || w->size > CP_DETOUR_FILLED)
		return false;
	for (i = 0; i < w->size && i < s->step.trap_size; i++)
		if (w->original[i] != s->original[i])
			return false;
	return true;
}

static bool kind_ok(const struct batch *b, const struct cp_site *s)
{
	if (s->flags & SITE_DETOURS)
		return detour_ok(b, s);
	if (!(s->flags & SITE_COUNTS))
		return !(s->flags & ~EVENT_FLAGS);
	if (s->flags & CP_SITE_BRANCH && s->step.flow != CP_FLOW_BRANCH)
		return false;
	if ((s->flags & SITE_LATER) == SITE_LATER &&
	    (!(s->flags & CP_SITE_ONCE) || s->ways[0] >= CP_LINK_COUNTERS ||
	     s->ways[1] >= CP_LINK_COUNTERS))
		return false;
	if (s->flags & CP_SITE_HOLD && !(s->flags & CP_SITE_COUNT && s->flags & CP_SITE_ONCE))
		return false;
	return !(s->flags & ~COUNT_FLAGS) && !s->fetch_count && s->id < CP_LINK_COUNTERS - 1;
}

/* A jump stands there, which has to go before anything else may come. */
static bool is_in_jump(const struct space *space, const struct cp_site *s)
{
	const struct site *site = space_site(space, s->address);
	uint8_t now[CP_TRAP_MAX];
	size_t size;

	cp_trap_code(cp_arch_host(), &size);
	for (; site; site = site_next(space, site))
		if (site_jumps(space, site) ||
		    (site->flags & CP_SITE_LANDING && space_read(space, s->address, now, size) &&
		     memcmp(now, s->original, size) != 0))
			return true;
	return false;
}

static bool site_ok(const struct space *space, const struct batch *b, const struct area *area,
		    const struct cp_site *s)
{
	uint32_t room;

	return s->address && s->address < UINT64_C(1) << 56 && s->group < b->head->group_count &&
	       s->slot < area->slot_count &&
	       (!area->owners[s->slot] || area->owners[s->slot] == s->address) && kind_ok(b, s) &&
	       step_ok(&s->step) && s->first_fetch <= b->head->fetch_count &&
	       s->fetch_count <= b->head->fetch_count - s->first_fetch &&
	       fetches_ok(b->fetches + s->first_fetch, s->fetch_count, &room) &&
	       !space_area(space, s->address) && !is_in_jump(space, s);
}

/* ---- the tables ---- */

static bool reg_ok(uint8_t number)
{
	return number == CP_NO_REG || number < cp_arch_host()->nregs;
}

static bool group_ok(const struct cp_site_group *g)
{
	return !(g->flags & CP_GROUP_SAMPLED) ||
	       (reg_ok(g->heap.size) && reg_ok(g->heap.times) && reg_ok(g->heap.address) &&
		reg_ok(g->heap.where) && g->heap.every);
}

static uint32_t put_group(struct space *space, const struct cp_site_group *g)
{
	uint64_t *known = cp_map_get(&space->by_group, g->id);
	struct site_group group = { .g = *g };
	uint32_t index = (uint32_t)space->groups.count;

	if (known) {
		space->groups.items[*known].g = *g;
		return (uint32_t)*known;
	}
	if (!cp_vec_push(&space->groups, group))
		return SITE_NONE;
	if (cp_map_put(&space->by_group, g->id, index))
		return index;
	space->groups.count--;
	return SITE_NONE;
}

static bool put_fetches(struct space *space, struct site *site, const struct cp_fetch *fetches,
			unsigned count)
{
	unsigned i;

	/* A site that comes again has the same fetches, as a rule. */
	if (site->fetch_count == count &&
	    (!count || !memcmp(&space->table->fetches.items[site->first_fetch], fetches,
			       count * sizeof(*fetches))))
		return true;
	site->fetch_count = 0;
	site->first_fetch = (uint32_t)space->table->fetches.count;
	for (i = 0; i < count; i++) {
		if (!cp_vec_push(&space->table->fetches, fetches[i]))
			return false;
	}
	site->fetch_count = count;
	return true;
}

/* A window that comes again is the same one, as a rule. */
static bool put_window(struct space *space, struct site *site, const struct cp_window *window,
		       bool known)
{
	struct site_table *t = space->table;

	if (known && !memcmp(&t->windows.items[site->window], window, sizeof(*window)))
		return true;
	site->window = (uint32_t)t->windows.count;
	return cp_vec_push(&t->windows, *window);
}

/* Numbers of sites and of counters are different ones, and of windows none. */
static bool is_record_of(const struct site *site, const struct cp_site *s)
{
	if (s->flags & SITE_DETOURS)
		return site->flags == s->flags;
	return site->id == s->id && !((site->flags ^ s->flags) & (SITE_COUNTS | SITE_DETOURS));
}

/* The record for the site: one that was there before, or a new one in the
 * chain of its address, which begins with `first`. There is room for it. */
static uint32_t site_record(struct space *space, const struct cp_site *s, uint32_t first)
{
	struct site *sites = space->table->sites.items;
	uint32_t at = first, reusable = SITE_NONE, last = SITE_NONE;

	for (; at != SITE_NONE; last = at, at = sites[at].next) {
		if (is_record_of(&sites[at], s))
			return at;
		if (!site_armed(space, &sites[at]) && sites[at].batch != space->batches &&
		    reusable == SITE_NONE)
			reusable = at;
	}
	if (reusable == SITE_NONE)
		return table_add(space, s->address, last);
	space->states.items[reusable] = 0;
	sites[reusable].window = SITE_NONE;
	return reusable;
}

static uint32_t put_site(struct space *space, const struct batch *b, const struct area *area,
			 const struct cp_site *s, const uint32_t *groups, uint32_t first)
{
	uint32_t number = site_record(space, s, first);
	struct site *site = &space->table->sites.items[number];
	bool known = site->flags & SITE_JUMPS;

	if (s->flags & SITE_JUMPS && !put_window(space, site, &b->windows[s->window], known))
		return SITE_NONE;
	site->id = s->id;
	fetches_ok(b->fetches + s->first_fetch, s->fetch_count, &site->room);
	site->batch = space->batches;
	site->group = groups[s->group];
	site->flags = s->flags;
	memcpy(site->ways, s->ways, sizeof(site->ways));
	site->step = s->step;
	site->slot = cp_area_slot(area->address, area->size, s->slot);
	memcpy(site->original, s->original, sizeof(site->original));
	return put_fetches(space, site, b->fetches + s->first_fetch, s->fetch_count) ? number
										     : SITE_NONE;
}

/* ---- arming ---- */

/* Slots are written in big pieces; between two that are not far from each other
 * may lie some that nobody has. */
#define FILL_AT_MOST 32u
#define FILL_SIZE ((size_t)4096 * CP_SLOT_SIZE)

struct slot_writer {
	const struct space *space;
	const struct area *area;
	uint64_t first, count; /* slots in the buffer */
	bool failed;
	uint8_t *buffer; /* FILL_SIZE */
};

static void flush_slots(struct slot_writer *w)
{
	if (w->count)
		w->failed |= !space_write(w->space,
					  cp_area_slot(w->area->address, w->area->size, w->first),
					  w->buffer, w->count * CP_SLOT_SIZE);
	w->count = 0;
}

static bool nobody_has(const struct area *area, uint64_t slot, uint64_t end)
{
	while (slot < end && !area->owners[slot])
		slot++;
	return slot == end;
}

static void add_slot(struct slot_writer *w, uint64_t slot, const uint8_t *code)
{
	uint64_t next = w->first + w->count;

	if (w->count && slot > next && slot - next <= FILL_AT_MOST &&
	    (slot + 1 - w->first) * CP_SLOT_SIZE <= FILL_SIZE && nobody_has(w->area, next, slot)) {
		cp_trap_fill(cp_arch_host(), w->buffer + w->count * CP_SLOT_SIZE,
			     (slot - next) * CP_SLOT_SIZE);
		w->count += slot - next;
	} else if (slot != next || (w->count + 1) * CP_SLOT_SIZE > FILL_SIZE) {
		flush_slots(w);
	}
	if (!w->count)
		w->first = slot;
	memcpy(w->buffer + w->count++ * CP_SLOT_SIZE, code, CP_SLOT_SIZE);
}

static bool write_slots(const struct space *space, const struct batch *b, const struct area *area,
			const uint32_t *slots)
{
	struct slot_writer w = { .space = space, .area = area, .buffer = malloc(FILL_SIZE) };
	uint32_t i;

	if (!w.buffer)
		return false;
	for (i = 0; i < b->head->site_count; i++)
		add_slot(&w, slots[i], b->code + (size_t)i * CP_SLOT_SIZE);
	flush_slots(&w);
	free(w.buffer);
	return !w.failed;
}

/* To be armed with the last piece; what the program does with SIGTRAP comes first. */
static bool add_entered(struct space *space, uint32_t record, bool watches)
{
	uint32_t *items;

	if (!cp_vec_push(&space->entered, record))
		return false;
	items = space->entered.items;
	if (watches) {
		items[space->entered.count - 1] = items[space->entered_watches];
		items[space->entered_watches++] = record;
	}
	return true;
}

static void forget_entered(struct space *space)
{
	space->entered.count = space->entered_watches = 0;
}

/* Sites ahead of the one that is entered: the index is in no cache. */
#define EXPECT 8u

/* Fills `slots` with the number of the slot of each. */
static int enter_sites(struct space *space, const struct batch *b, struct area *area,
		       const uint32_t *groups, uint32_t *slots)
{
	uint32_t i, record;

	for (i = 0; i < b->head->site_count; i++) {
		struct cp_site s;

		if (i + EXPECT < b->head->site_count)
			table_expect(space->table, b->sites[i + EXPECT].address);
		memcpy(&s, &b->sites[i], sizeof(s));
		if (!site_ok(space, b, area, &s) || !area_claim(area, s.slot, s.address))
			return EINVAL;
		record = put_site(space, b, area, &s, groups, table_find(space->table, s.address));
		if (record == SITE_NONE || ((s.flags & SITE_LATER) != SITE_LATER &&
					    !add_entered(space, record, s.flags & SITE_WATCHES)))
			return ENOMEM;
		area->records[s.slot] = record;
		slots[i] = s.slot;
	}
	return 0;
}

/* Enters a piece into the tables, and writes its slots. */
static int enter(struct space *space, const struct batch *b, struct area *area)
{
	uint32_t *groups = calloc(b->head->group_count + 1, sizeof(*groups)), i;
	uint32_t *slots = malloc((b->head->site_count + UINT64_C(1)) * sizeof(*slots));
	int err = groups && slots && table_reserve(space, b->head->site_count) ? 0 : ENOMEM;

	for (i = 0; !err && i < b->head->group_count; i++) {
		groups[i] = SITE_NONE;
		if (!group_ok(&b->groups[i]))
			err = EINVAL;
		else if ((groups[i] = put_group(space, &b->groups[i])) == SITE_NONE)
			err = ENOMEM;
	}
	if (!err)
		err = enter_sites(space, b, area, groups, slots);
	if (!err && !write_slots(space, b, area, slots))
		err = EIO;
	free(groups);
	free(slots);
	return err;
}

/* A site that got no breakpoint: nobody can tell what it would have counted. */
static void give_up_counters(struct tracer *tr, const struct site *site)
{
	unsigned n = site->flags & CP_SITE_BRANCH ? 2 : site->flags & CP_SITE_COUNT ? 1 : 0, i;

	for (i = 0; i < n; i++) {
		if (!tr->link->counters[site->id + i])
			tr->link->counters[site->id + i] = CP_COUNT_GAVE_UP;
	}
}

/* Breakpoints are placed so many at a time: patches stay in the cache. */
#define PLACE_AT_ONCE 4096u

struct placing {
	struct tracer *tr;
	struct space *space;
	struct patch *patches; /* PLACE_AT_ONCE */
	size_t count; /* of them */
	uint32_t armed; /* sites so far */
	bool still; /* nobody runs: jumps stand where there can be some (memory/sigcall.h) */
};

/* Marks what is armed now: all but those whose breakpoint could not be put. */
static void mark(struct placing *p, const uint32_t *records, size_t count)
{
	struct cp_map failed = { 0 };
	size_t n;

	for (n = 0; n < p->count; n++) {
		if (!p->patches[n].done)
			cp_map_put(&failed, p->patches[n].address, 1);
	}
	/* Another site of the address may have put it. */
	for (n = 0; failed.count && n < p->count; n++) {
		if (p->patches[n].done)
			cp_map_remove(&failed, p->patches[n].address);
	}
	for (n = 0; n < count; n++) {
		const struct site *site = &p->space->table->sites.items[records[n]];

		if (failed.count && cp_map_get(&failed, site->address)) {
			give_up_counters(p->tr, site);
			continue;
		}
		p->armed++;
		if (site->flags & SITE_PASSIVE)
			continue;
		site_arm(p->space, site);
		guard_avoid(p->space, site->address);
		p->space->watched |= !!(site->flags & CP_SITE_SIGACTION);
	}
	cp_map_free(&failed);
}

/* Patches for addresses where no site is armed yet: what stands there has to be what the
 * batch says. */
static void add_patches(struct placing *p, const uint32_t *records, size_t count)
{
	size_t size, n;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);

	p->count = 0;
	for (n = 0; n < count; n++) {
		const struct site *site = &p->space->table->sites.items[records[n]];
		struct patch *patch = &p->patches[p->count];
		const struct site *first = site;

		if (site->flags & SITE_PASSIVE)
			continue;
		if (!site->first)
			first = space_site(p->space, site->address);
		if (space_any_armed(p->space, first) ||
		    (p->still && site->flags & CP_SITE_SIGCALL && sigcall_jump(p->space, site)))
			continue;
		*patch = (struct patch){ .address = site->address };
		memcpy(patch->expect, site->original, size);
		memcpy(patch->bytes, trap, size);
		p->count++;
	}
}

static void place(struct placing *p, const uint32_t *records, size_t count)
{
	size_t first, n;

	for (first = 0; first < count; first += n) {
		n = count - first < PLACE_AT_ONCE ? count - first : PLACE_AT_ONCE;
		add_patches(p, records + first, n);
		patch_apply(p->space, p->patches, p->count);
		mark(p, records + first, n);
	}
}

static bool has_windows(const struct space *space)
{
	size_t i;

	for (i = 0; i < space->entered.count; i++)
		if (space->table->sites.items[space->entered.items[i]].flags & CP_SITE_WINDOW)
			return true;
	return false;
}

/* Has the batch sites at system calls about signals? */
static bool has_sigcalls(const struct space *space)
{
	size_t i;

	for (i = 0; i < space->entered_watches; i++)
		if (space->table->sites.items[space->entered.items[i]].flags & CP_SITE_SIGCALL)
			return true;
	return false;
}

static int arm_entered(struct tracer *tr, struct space *space, struct area *area,
		       uint32_t *armed_ret)
{
	const uint32_t *records = space->entered.items;
	size_t watches = space->entered_watches, count = space->entered.count;
	struct placing p = { .tr = tr, .space = space };
	struct injection in;
	int err;

	p.patches = malloc(PLACE_AT_ONCE * sizeof(*p.patches));
	if (!p.patches)
		return ENOMEM;
	err = area_write_table(space, area) ? trap_install(tr, space, &in) : EIO;
	if (!err) {
		space->changed_ns = space->grown_ns = cp_now();
		/* A thread that is alone finds no handler that it did not set. */
		p.still = has_sigcalls(space) && trap_hold(tr, space, &in);
		if (p.still)
			sigcall_jump_all(space);
		place(&p, records, watches);
		p.still = false;
		space->translates |= has_sigcalls(space);
		trap_installed(tr, &in);
		place(&p, records + watches, count - watches);
		*armed_ret = p.armed;
		err = p.armed < count ? ESTALE : 0;
		if (has_windows(space))
			jumps_in(tr, space);
	}
	free(p.patches);
	return err;
}

static int arm(struct tracer *tr, struct space *space, const struct batch *b, unsigned flags,
	       uint32_t *armed_ret)
{
	struct area *area;
	int err;

	if (!table_own(space))
		return ENOMEM;
	area = space_area(space, b->head->area);
	if (!area) /* it went with the program that was executed until now */
		return ESRCH;
	if (area->address != b->head->area)
		return EINVAL;
	if (flags & CP_ARM_NEXT) {
		if (!space->entered.count || space->entered_area != area->address)
			return EINVAL;
	} else {
		forget_entered(space);
		space->entered_area = area->address;
		space->batches++;
		/* Room for all that is to come. */
		if (flags & CP_ARM_MORE && !table_reserve(space, area->slot_count))
			return ENOMEM;
	}
	err = enter(space, b, area);
	if (!err && !(flags & CP_ARM_MORE))
		err = arm_entered(tr, space, area, armed_ret);
	return err;
}

static int take_batch(struct tracer *tr, struct space *space, const struct cp_request *rq,
		      uint32_t *armed_ret)
{
	struct batch b;
	int err;

	if (!(tr->trace_flags & CP_TRACE_PROBES) || !open_batch(tr, rq, &b))
		return EINVAL;
	tr->trace_flags |= rq->flags & CP_TRACE_CPU;
	tr->counts |= rq->flags & CP_ARM_COUNTS;
	err = space_open(space);
	if (!err)
		err = arm(tr, space, &b, rq->flags, armed_ret);
	free(b.head);
	return err;
}

void batch_arm(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	struct process *p = process_find(tr, rq->pid);
	struct space *space;
	bool kept;

	if (!p) {
		ret->errnum = ESRCH;
		return;
	}
	space = p->space;
	kept = space_keep(space);
	ret->errnum = proc_why(rq->pid, take_batch(tr, space, rq, &ret->threads));
	tr->more = !ret->errnum && rq->flags & CP_ARM_MORE;
	if (!tr->more)
		forget_entered(space);
	space_let_go(space, kept);
}

/* ---- disarming ---- */

void batch_disarm(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	struct process *p = process_find(tr, rq->pid);
	struct windows_which which;
	struct area *area;
	size_t i;

	if (!p) {
		ret->errnum = ESRCH;
		return;
	}
	if (rq->flags & CP_DISARM_SITE) {
		sites_disarm_one(p->space, rq->address, (uint32_t)rq->first);
		return;
	}
	if (!(rq->flags & CP_DISARM_FORGET)) {
		which = (struct windows_which){ rq->address, rq->size, SITE_NONE };
		jumps_out(tr, p->space, &which);
		p = process_find(tr, rq->pid);
		if (p)
			sites_disarm_range(p->space, rq->address, rq->size);
		return;
	}
	p->space->gone_told = false;
	/* The code was unmapped: nothing of it may be looked at again. */
	if (!table_own(p->space)) {
		ret->errnum = ENOMEM;
		return;
	}
	forget_entered(p->space);
	for (i = 0; i < p->space->table->sites.count; i++) {
		const struct site *site = &p->space->table->sites.items[i];

		if (site->address && site->address - rq->address < rq->size)
			table_remove(p->space, (uint32_t)i);
	}
	detours_forget_range(p->space, rq->address, rq->size);
	area = rq->first ? space_area(p->space, rq->first) : NULL;
	if (area)
		area_empty(p->space, area);
}

/* Of the spaces that have the group, the first from *cursor on whose jumps have to go. */
static bool next_with_jumps(struct tracer *tr, uint64_t group, size_t *cursor)
{
	struct windows_which which = { 0 };
	uint64_t key, value, *index;

	while (cp_map_next(&tr->by_pid, cursor, &key, &value)) {
		struct space *space = ((struct process *)(uintptr_t)value)->space;

		index = cp_map_get(&space->by_group, group);
		if (!index)
			continue;
		which.group = (uint32_t)*index;
		jumps_out(tr, space, &which);
		return true;
	}
	return false;
}

void batch_disarm_group(struct tracer *tr, const struct cp_request *rq)
{
	uint64_t key, value, *index;
	size_t cursor = 0;

	while (next_with_jumps(tr, rq->first, &cursor))
		;
	cursor = 0;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value)) {
		struct space *space = ((struct process *)(uintptr_t)value)->space;

		index = cp_map_get(&space->by_group, rq->first);
		if (index)
			sites_disarm_in(space, (uint32_t)*index);
	}
}
