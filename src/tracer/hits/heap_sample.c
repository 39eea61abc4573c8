/* SPDX-License-Identifier: MIT
 *
 * A sample of what is allocated, one block about every so many bytes:
 *
 *     bytes   ──────●────────────────────●───●───────────►  points, as chance has it
 *     blocks  [    ][  ][ ][       ][  ][        ][ ]        who has one is chosen
 *                *                    *      *
 *
 * The way from one point to the next is exponential, so a block of s bytes is chosen
 * with a probability of 1 - exp(-s/every), whatever was before it, and stands for
 * one over that many. Whoever allocates what is not chosen costs one stop: it is no
 * event, and breakpoints where allocators return stand only while somebody is in one
 * whose block was chosen. What is freed is looked up among the chosen ones. Where there are
 * detours (arch/x86_64/detour_sample.h), they choose by ways of their own, and who frees
 * looks at what they look at: the controller knows which of these were chosen.
 *
 * An allocator that calls another one for the same (operator new calls malloc) has
 * had its chance: seen by its frame, as long as it is a chosen one's, or by the jump
 * that one ends in. Else the controller sees it on the stack of what was chosen.
 */
#include "tracer/hits/heap_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/sites.h"
#include "tracer/memory/space.h"

#define LIVE_BITS 17
#define LIVE_SLOTS ((size_t)1 << LIVE_BITS)
#define LIVE_MOST (LIVE_SLOTS / 4 * 3)

/* ---- chosen blocks that are live: open addressing in a table that does not grow ---- */

static size_t home_of(uint64_t address)
{
	return (address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LIVE_BITS);
}

static size_t next_of(size_t at)
{
	return (at + 1) % LIVE_SLOTS;
}

static void live_add(struct space *space, uint64_t address)
{
	struct heap_sample *h = &space->heap;
	size_t at = home_of(address);

	if (space->rings) {
		rings_choose(space->rings, address);
		return;
	}

	if (!h->live && !(h->live = calloc(LIVE_SLOTS, sizeof(*h->live)))) {
		h->full = true;
		return;
	}
	while (h->live[at] && h->live[at] != address)
		at = next_of(at);
	if (h->live[at])
		return;
	if (h->count >= LIVE_MOST) {
		h->full = true;
		return;
	}
	h->live[at] = address;
	h->count++;
}

/* Was it perhaps chosen? The addresses behind one that is taken move up. */
static bool live_take(struct space *space, uint64_t address)
{
	struct heap_sample *h = &space->heap;
	size_t gap = home_of(address), at;

	if (address && space->rings && rings_may_be_chosen(space->rings, address))
		return true;
	if (!h->live || !address)
		return false;
	while (h->live[gap] && h->live[gap] != address)
		gap = next_of(gap);
	if (!h->live[gap])
		return false;
	for (at = next_of(gap); h->live[at]; at = next_of(at)) {
		size_t from_home = (at - home_of(h->live[at])) % LIVE_SLOTS;

		if (from_home < (at - gap) % LIVE_SLOTS)
			continue; /* it is where it belongs */
		h->live[gap] = h->live[at];
		gap = at;
	}
	h->live[gap] = 0;
	h->count--;
	return true;
}

/* ---- choosing ---- */

static double way_to_next(struct heap_sample *h, uint64_t every)
{
	if (!h->random)
		h->random = cp_now() ^ (uint64_t)(uintptr_t)h << 20;
	return -log(((double)(cp_random(&h->random) >> 11) + 1) * 0x1p-53) * (double)every;
}

static bool choose(struct heap_sample *h, uint64_t every, uint64_t bytes)
{
	if (!h->random)
		h->left = way_to_next(h, every);
	/* A block of nothing at all counts as one byte, or it could never be chosen. */
	h->left -= (double)(bytes ? bytes : 1);
	if (h->left > 0)
		return false;
	h->left = way_to_next(h, every);
	return true;
}

/* ---- breakpoints at returns ---- */

static bool is_followed(struct tracer *tr, const struct space *space)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		const struct thread *t = (const struct thread *)(uintptr_t)value;

		if (t->heap.sp && t->process->space == space)
			return true;
	}
	return false;
}

void heap_sample_pause(struct tracer *tr, struct space *space)
{
	struct heap_sample *h = &space->heap;
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (t->process->space == space)
			t->heap = (struct heap_call){ 0 };
	}
	if (h->live)
		memset(h->live, 0, LIVE_SLOTS * sizeof(*h->live));
	h->count = 0;
	h->full = false;
}

/* ---- hits ---- */

static uint64_t reg(const struct cp_regs *regs, uint8_t number)
{
	return number == CP_NO_REG ? 0 : regs->r[number];
}

static uint64_t caller_at(const struct space *space, const struct cp_regs *regs, uint64_t sp)
{
	uint64_t caller = 0;

	if (!cp_arch_host()->ret_size)
		return regs->r[cp_arch_host()->lr];
	space_read(space, sp, &caller, sizeof(caller));
	return caller;
}

/* Is the call that is followed still open, with this one in it? What left it in
 * another way than by returning has its frame overwritten. */
static bool is_inside(const struct space *space, const struct heap_call *c,
		      const struct cp_regs *regs, uint64_t sp)
{
	return sp < c->sp && caller_at(space, regs, c->sp) == c->caller;
}

static unsigned marks(const struct heap_call *c)
{
	return CP_HIT_CHOSEN | (c->chosen ? 0 : CP_HIT_PASSED);
}

static unsigned follow(struct space *space, struct heap_call *c, const struct site *site,
		       const struct cp_regs *regs)
{
	const struct cp_heap_probe *probe = &space->groups.items[site->group].g.heap;
	uint64_t size = reg(regs, probe->size), address = reg(regs, probe->address);
	bool overflow = probe->times != CP_NO_REG &&
			__builtin_mul_overflow(size, regs->r[probe->times], &size);

	c->chosen = !overflow && choose(&space->heap, probe->every, size);
	c->previous = address && (live_take(space, address) || space->heap.full) ? address : 0;
	if (!c->chosen && !c->previous)
		return 0;
	c->size = size;
	c->where = reg(regs, probe->where);
	c->sp = c->last_sp;
	c->caller = c->last_caller;
	sites_wake(space, site->group, c->caller);
	return marks(c);
}

static unsigned entered(struct space *space, struct heap_call *c, const struct site *site,
			const struct cp_regs *regs, uint64_t sp)
{
	uint64_t caller = caller_at(space, regs, sp);
	bool jumped = sp == c->last_sp && caller == c->last_caller && site->group != c->last_group;

	if (c->sp && jumped && sp == c->sp) {
		sites_wake(space, site->group, caller);
		return marks(c);
	}
	if (c->sp && is_inside(space, c, regs, sp))
		return 0;
	c->sp = 0;
	if (jumped)
		return 0;
	c->last_sp = sp;
	c->last_caller = caller;
	c->last_group = site->group;
	return follow(space, c, site, regs);
}

/* Where an allocator goes on that ended in a jump: by stops, or by a detour. */
static unsigned continued(struct space *space, struct thread *t, const struct site *site,
			  const struct cp_regs *regs, uint64_t sp)
{
	const uint64_t *slot = rings_slot(t, sp);
	struct heap_call *c = &t->heap;

	if (c->sp != sp && (!slot || *slot != sp))
		return 0;
	if (c->sp != sp)
		*c = (struct heap_call){ .sp = sp, .chosen = rings_of(t)->chosen };
	c->caller = caller_at(space, regs, sp);
	sites_wake(space, site->group, c->caller);
	return marks(c);
}

/* A call that was followed is over. */
static unsigned returned(struct space *space, struct heap_call *c, const struct cp_regs *regs)
{
	uint64_t address = regs->r[cp_arch_host()->result];

	if (c->where &&
	    ((int32_t)address || !space_read(space, c->where, &address, sizeof(address))))
		address = 0;
	if (address && c->chosen)
		live_add(space, address);
	else if (!address && c->previous && c->size && !space->rings)
		live_add(space, c->previous); /* it failed */
	c->sp = 0;
	return marks(c);
}

/* It ends in a jump to where a detour may go on with it. */
static unsigned jumps(const struct thread *t, uint64_t sp)
{
	uint64_t *slot = rings_slot(t, sp);

	if (slot)
		*slot = sp;
	return marks(&t->heap);
}

static unsigned left(struct tracer *tr, struct space *space, struct thread *t,
		     const struct site *site, const struct cp_regs *regs, uint64_t sp)
{
	struct heap_call *c = &t->heap;

	if (site->flags & CP_SITE_RETURN)
		sp -= cp_arch_host()->ret_size;
	if (c->sp && sp == c->sp)
		return site->flags & CP_SITE_TAIL ? jumps(t, sp) : returned(space, c, regs);
	if (sp > c->sp)
		c->sp = 0;
	if (!is_followed(tr, space))
		sites_sleep(space);
	return 0;
}

unsigned heap_sample_hit(struct tracer *tr, struct thread *t, struct space *space,
			 const struct site *site, const struct cp_regs *regs, uint64_t sp)
{
	const struct cp_heap_probe *probe = &space->groups.items[site->group].g.heap;
	uint64_t address = reg(regs, probe->address);

	if (!(site->flags & CP_SITE_ENTRY))
		return left(tr, space, t, site, regs, sp);
	if (probe->size != CP_NO_REG)
		return entered(space, &t->heap, site, regs, sp);
	if (probe->address == CP_NO_REG)
		return continued(space, t, site, regs, sp);
	return live_take(space, address) || (address && space->heap.full) ? CP_HIT_CHOSEN : 0;
}
