/* SPDX-License-Identifier: MIT
 *
 * What is written into text lives in pages of the process's own. A program that maps the
 * file there once more, or gives the pages back (madvise), has the file's bytes again, and
 * its mappings look as before. So some sites are looked at now and then, and as the process
 * ends: an armed one where what was there before stands is gone.
 */
#include "tracer/hits/gone.h"

#include <string.h>

#include "base/clock.h"
#include "link/gone.h"
#include "tracer/known/emit.h"
#include "tracer/known/state.h"
#include "tracer/memory/remote.h"

#define AT_ONCE 64u /* sites of a process, less where there are many */
#define AT_ALL 512u

/* A site that is looked at: its bytes as they were, as they shall be, as they are. */
struct looked {
	uint64_t address;
	const uint8_t *original, *changed;
	size_t size;
	uint8_t now[CP_DETOUR_FILLED];
};

/* False: nothing is changed there. A jump may begin with the same byte as what it
 * replaces. */
static bool is_changed(const struct space *space, const struct site *site, struct looked *ret)
{
	const struct cp_window *w;

	*ret = (struct looked){ .address = site->address };
	if (!site->address)
		return false;
	if (site_jumps(space, site)) {
		w = &space->table->windows.items[site->window];
		ret->original = w->original;
		ret->changed = w->jump;
		ret->size = w->size;
		return !(site->flags & CP_SITE_HOP) && w->size <= sizeof(ret->now) &&
		       memcmp(w->original, w->jump, w->size) != 0;
	}
	ret->original = site->original;
	ret->changed = cp_trap_code(cp_arch_host(), &ret->size);
	return site_armed(space, site) && memcmp(ret->original, ret->changed, ret->size) != 0;
}

/* Whose bytes are not to be had keep those that they shall have. */
static void read_all(struct space *space, pid_t pid, struct looked *all, size_t count)
{
	struct iovec to[AT_ONCE], from[AT_ONCE];
	uint32_t got[AT_ONCE];
	size_t i;

	for (i = 0; i < count; i++) {
		to[i] = (struct iovec){ all[i].now, all[i].size };
		from[i] = (struct iovec){ (void *)(uintptr_t)all[i].address, all[i].size };
	}
	remote_read(space, pid, to, from, got, count);
	for (i = 0; i < count; i++)
		if (got[i] < all[i].size &&
		    !space_read(space, all[i].address, all[i].now, all[i].size))
			memcpy(all[i].now, all[i].changed, all[i].size);
}

/* The next sites, up to so many; those of them that are changed. */
static size_t choose(struct space *space, unsigned looks, struct looked *ret)
{
	size_t count = space->table->sites.count, steps = count < looks ? count : looks, n = 0;

	/* What comes next lies far from what was looked at: functions are many to a page. */
	for (; steps; steps--) {
		space->gone_next = (space->gone_next + count / looks + 1) % count;
		n += is_changed(space, &space->table->sites.items[space->gone_next], &ret[n]);
	}
	return n;
}

static void look(struct tracer *tr, const struct process *p, unsigned looks, uint16_t flags)
{
	struct space *space = p->space;
	struct looked all[AT_ONCE];
	size_t count = space->gone_told ? 0 : choose(space, looks, all), i;
	struct cp_event_gone e = {
		.e = { .type = CP_EVENT_GONE, .flags = flags, .pid = p->pid, .tid = p->pid },
	};

	if (count)
		read_all(space, p->pid, all, count);
	for (i = 0; i < count && !space->gone_told; i++) {
		if (memcmp(all[i].now, all[i].original, all[i].size) != 0)
			continue;
		if (!cp_ring_reserve(tr->link, sizeof(e), CP_LINK_RESERVE))
			return;
		e.e.ts_ns = cp_now();
		e.address = all[i].address;
		emit_event(tr, &e.e, sizeof(e));
		space->gone_told = true;
	}
}

void gone_look(struct tracer *tr, uint64_t now)
{
	unsigned looks = AT_ONCE;
	uint64_t key, value;
	size_t cursor = 0;

	if (now < tr->gone_due_ns)
		return;
	tr->gone_due_ns = now + CP_NS_PER_S;
	if (tr->by_pid.count > AT_ALL / AT_ONCE)
		looks = AT_ALL / (unsigned)tr->by_pid.count + 1;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value)) {
		const struct process *p = (const struct process *)(uintptr_t)value;

		if (!p->guest)
			look(tr, p, looks, 0);
	}
}

void gone_look_last(struct tracer *tr, const struct process *p)
{
	if (!p->guest && !tr->ending)
		look(tr, p, AT_ONCE, CP_GONE_AT_EXIT);
}
