/* SPDX-License-Identifier: MIT
 *
 * Which hits don't follow from the calls that are open. A coroutine's stack may be
 * an array in a frame of the thread's own stack, so an address on that does not say
 * which stack a hit is on:
 *
 *	main's frame    ──┐
 *	   array          │ [ coroutine's frames ]     what rests here is not gone
 *	f, called by main ┘                            when it goes on there, and f is
 *	                                               not called by it
 *
 * The controller can tell, if it can walk the stack. To copy that at each hit would
 * make a stop half as long again. A hit needs it
 *
 *	- above the innermost open call: by what left that without its exit (longjmp, an
 *	  exception), or by a switch of stacks
 *	- at the entry of what is called from outside of the innermost open call's code:
 *	  by code in between, or on another stack
 *
 * unless a walk has shown that the same hit (same return address at the same place)
 * is on the thread's own stack. Until the controller has said where it is, what
 * follows is not known either, and brings its stack, too. The first kind decides what
 * has ended, so all of them are looked at; the second kind tells who calls, and finds
 * a stack when it is first used: of many different ones some are.
 */
#include "tracer/hits/opens.h"

#include <string.h>

#include "link/sites.h"
#include "tracer/memory/space.h"

#define LOOKS_FIRST 32u /* of a thread */
#define LOOKS_EVERY 32u /* then one in so many hits of the process, */
#define LOOKS_SAVED 4096u /* and no more than that at once */

/* Ends the open calls that lie below the hit. True: others ended than the one that just
 * returned. */
static bool end_below(struct thread *t, uint64_t sp, uint64_t returned)
{
	bool above = false;

	while (t->open_count && t->opens[t->open_count - 1].sp < sp)
		above |= t->opens[--t->open_count].sp + returned < sp;
	return above;
}

static void keep_open(struct thread *t, uint64_t sp, uint32_t group)
{
	uint32_t n = t->open_count;

	if (n && t->opens[n - 1].sp == sp && t->opens[n - 1].group == group)
		return;
	if (n == THREAD_OPENS)
		memmove(t->opens, t->opens + 1, --n * sizeof(t->opens[0]));
	t->opens[n].sp = sp;
	t->opens[n].group = group;
	t->open_count = n + 1;
}

/* Does `caller` lie in the code of the innermost open call? */
static bool is_of_innermost(const struct space *space, const struct thread *t, uint64_t caller)
{
	const struct cp_site_group *g;
	size_t i;

	if (!t->open_count || t->opens[t->open_count - 1].group >= space->groups.count)
		return false;
	g = &space->groups.items[t->opens[t->open_count - 1].group].g;
	for (i = 0; i < CP_GROUP_RANGES; i++) {
		if (caller > g->ranges[i].start && caller <= g->ranges[i].end)
			return true;
	}
	return false;
}

static void save_looks(struct space *space)
{
	if (space->looks < LOOKS_SAVED * LOOKS_EVERY)
		space->looks++;
}

static void spend_look(struct space *space)
{
	space->looks -= space->looks < LOOKS_EVERY ? space->looks : LOOKS_EVERY;
}

static bool may_look(const struct space *space, struct thread *t)
{
	return t->looked++ < LOOKS_FIRST || space->looks >= LOOKS_EVERY;
}

static bool is_known(const struct cp_link_shared *shared, const struct cp_event_hit *e)
{
	uint64_t place = cp_hit_place(e);

	return atomic_load_explicit(&shared->places[place % CP_LINK_PLACES],
				    memory_order_relaxed) == place;
}

bool opens_see(const struct tracer *tr, struct space *space, struct thread *t,
	       const struct site *site, const struct cp_event_hit *e)
{
	bool opens = space->groups.items[site->group].g.flags & CP_GROUP_OPENS;
	bool entry = site->flags & CP_SITE_ENTRY, returned = site->flags & CP_SITE_RETURN;
	bool ends = returned || (opens && site->flags & (CP_SITE_EXIT | CP_SITE_TAIL));
	uint64_t size = cp_arch_host()->ret_size, sp = e->sp - (returned ? size : 0);
	const struct cp_link_shared *shared = tr->link->shared;
	bool above, asked, outside = false;

	/* A call that is watched by its return address may return to any site. */
	above = end_below(t, sp, ends ? 0 : size);
	if (opens && entry) {
		outside = !is_of_innermost(space, t, e->caller);
		keep_open(t, sp, site->group);
	} else if (ends && t->open_count && t->opens[t->open_count - 1].sp == sp) {
		t->open_count--;
	}
	save_looks(space);
	asked = t->asked_ns >
		atomic_load_explicit(&shared->placed_ns[t->slot], memory_order_relaxed);
	if ((above || outside) && !is_known(shared, e) && (above || asked || may_look(space, t))) {
		t->asked_ns = e->e.ts_ns;
		asked = true;
	}
	if (asked)
		spend_look(space);
	return asked;
}
