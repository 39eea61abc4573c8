/* SPDX-License-Identifier: MIT
 *
 * Hits of coverage: they are counted, and the sites go.
 *
 * Where the instruction of a site is a jump, the thread's next one is known, too. What is
 * reached there for the first time is counted and taken out at the same stop:
 *
 *     cmp; jle ─── taken ──► block: a site, once
 *           │ hit              its own stop is saved
 */
#include "tracer/hits/count.h"

#include <string.h>

#include "link/coverage.h"
#include "tracer/hits/at.h"
#include "tracer/hits/unreached.h"
#include "tracer/known/emit.h"

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

/* How often a branch was hit in all processes. */
static uint64_t hits_of(const struct tracer *tr, const struct site *site)
{
	uint64_t n = 0, one;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		one = atomic_load_explicit(&tr->link->counters[site->id + i], memory_order_relaxed);
		n += one == CP_COUNT_GAVE_UP ? 0 : one;
	}
	return n;
}

/* Has all been seen that is waited for, or is it no longer waited for? */
static bool decided(struct tracer *tr, const struct at *at, const struct site *site)
{
	static const unsigned waits[] = { CP_SITE_TAKEN, CP_SITE_PASSED };
	uint32_t budget = at->space->groups.items[site->group].g.max_rate, i;
	uint64_t hits = hits_of(tr, site);
	bool open = false;

	for (i = 0; i < 2; i++) {
		if (!(site->flags & waits[i]) || counted(tr, site->id + i))
			continue;
		if (budget &&
		    (hits >= budget || unreached_leave(tr, at->space, site, hits, i == 1)))
			tr->link->counters[site->id + i] = CP_COUNT_GAVE_UP;
		else
			open = true;
	}
	return !open;
}

static uint64_t destination(struct at *at, const struct site *site)
{
	const struct cp_reader none = { NULL, NULL };

	if (!at->regs.known) {
		cp_arch_regs_from_prstatus(at->prstatus, &at->regs);
		at->regs.r[cp_arch_host()->pc] = at->pc;
	}
	return cp_step_destination(&site->step, &at->regs, cp_arch_flags(at->prstatus), &none);
}

static bool jumps(struct at *at, const struct site *site)
{
	return destination(at, site) == site->step.target;
}

static void count_site(struct tracer *tr, struct at *at, const struct site *site)
{
	if (site->flags & CP_SITE_BRANCH)
		count_up(tr, site->id + !jumps(at, site));
	else
		count_up(tr, site->id);
	if (site->flags & CP_SITE_COUNT && site->window != SITE_NONE)
		unreached_enter(at->space, site);
}

/* The thread comes to `site`, the first one there. The block that it was in until now was
 * executed to its end, if that is another one: what leads out of the middle are signals, and
 * they make it unknown. */
static void leave_block(struct tracer *tr, const struct at *at, const struct site *site)
{
	uint32_t left = at->t->entered, entered = 0;
	unsigned flags = 0;
	_Atomic uint64_t *counter;

	for (; site; site = site_next(at->space, site)) {
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

/* The controller places what is behind the block, and then the site again. */
static void tell_opened(struct tracer *tr, const struct at *at, const struct site *site)
{
	struct cp_event_opened e = {
		.e = { .type = CP_EVENT_OPENED,
		       .ts_ns = at->seen_ns,
		       .pid = at->t->process->pid,
		       .tid = at->t->tid },
		.counter = site->id,
	};

	emit_event(tr, &e.e, sizeof(e));
}

/* ---- ahead ---- */

#define AHEAD_MAX 8 /* addresses; jumps may go round */

static bool is_jump(const struct site *site)
{
	return site->step.flow == CP_FLOW_JUMP || site->step.flow == CP_FLOW_BRANCH;
}

/* Has all been seen that is waited for, when it goes as it does now? */
static bool is_last(struct tracer *tr, struct at *at, const struct site *site)
{
	return jumps(at, site) ? !(site->flags & CP_SITE_PASSED) || counted(tr, site->id + 1)
			       : !(site->flags & CP_SITE_TAKEN) || counted(tr, site->id);
}

/* Are all sites that are armed there gone as soon as the thread comes there? */
static bool may_count_ahead(struct tracer *tr, struct at *at, const struct site *site)
{
	for (; site; site = site_next(at->space, site)) {
		if (!site_armed(at->space, site))
			continue;
		if (!(site->flags & SITE_COUNTS) || !(site->flags & CP_SITE_ONCE) ||
		    site->flags & CP_SITE_HOLD)
			return false;
		if (site->flags & CP_SITE_COUNT ? site->flags & CP_SITE_MIDDLE
						: !is_last(tr, at, site))
			return false;
	}
	return true;
}

/* Somebody else may have written there meanwhile, so that is looked at. */
static bool take_out_ahead(struct tracer *tr, struct at *at, const struct site *first)
{
	uint8_t now[CP_TRAP_MAX];
	size_t size;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	const struct site *site;

	if (!may_count_ahead(tr, at, first) || !space_read(at->space, first->address, now, size) ||
	    memcmp(now, trap, size))
		return false;
	leave_block(tr, at, first);
	for (site = first; site; site = site_next(at->space, site)) {
		if (!site_armed(at->space, site))
			continue;
		count_site(tr, at, site);
		site_disarm(at->space, site);
	}
	at->space->changed_ns = at->seen_ns;
	return space_write(at->space, first->address, first->original, size);
}

/* From a site whose instruction is a jump; jumps change neither registers nor flags. */
static void count_ahead(struct tracer *tr, struct at *at)
{
	const struct site *site = at->site;
	unsigned n;

	for (n = 0; n < AHEAD_MAX && is_jump(site); n++) {
		site = space_site(at->space, destination(at, site));
		if (!site || !space_any_armed(at->space, site) || !take_out_ahead(tr, at, site))
			return;
	}
}

/* ---- here ---- */

bool count_here(struct tracer *tr, struct at *at, bool *events_ret, bool *hold_ret)
{
	const struct site *site;
	bool done = false, any = false;

	leave_block(tr, at, at->site);
	for (site = at->site; site; site = site_next(at->space, site)) {
		if (!site_armed(at->space, site))
			continue;
		if (!(site->flags & SITE_SILENT))
			*events_ret = true;
		if (!(site->flags & SITE_COUNTS))
			continue;
		any = true;
		count_site(tr, at, site);
		if (site->flags & CP_SITE_HOLD && !tr->ending) {
			tell_opened(tr, at, site);
			*hold_ret = true;
			continue;
		}
		if (site->flags & CP_SITE_ONCE &&
		    (site->flags & CP_SITE_COUNT || decided(tr, at, site))) {
			site_disarm(at->space, site);
			done = true;
		}
	}
	if (any && !*events_ret && !*hold_ret && !tr->ending)
		count_ahead(tr, at);
	tr->link->shared->stats.counted += any;
	return done;
}
