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
#include "tracer/memory/space.h"

#define AT_ONCE 64u /* sites of a process, less where there are many */
#define AT_ALL 512u

/* Bytes of the program that were changed are what they were. */
static bool is_back(const struct space *space, uint64_t address, const uint8_t *original,
		    const uint8_t *changed, size_t size)
{
	uint8_t now[CP_DETOUR_FILLED];

	return size <= sizeof(now) && memcmp(original, changed, size) &&
	       space_read(space, address, now, size) && !memcmp(now, original, size);
}

/* A jump may begin with the same byte as what it replaces. */
static bool is_gone(const struct space *space, const struct site *site)
{
	const struct cp_window *w;
	const uint8_t *trap;
	size_t size;

	if (!site->address)
		return false;
	if (site_jumps(space, site)) {
		w = &space->table->windows.items[site->window];
		return !(site->flags & CP_SITE_HOP) &&
		       is_back(space, site->address, w->original, w->jump, w->size);
	}
	trap = cp_trap_code(cp_arch_host(), &size);
	return site_armed(space, site) && is_back(space, site->address, site->original, trap, size);
}

static void look(struct tracer *tr, const struct process *p, unsigned looks, uint16_t flags)
{
	struct space *space = p->space;
	size_t count = space->table->sites.count, steps = count < looks ? count : looks;
	struct cp_event_gone e = {
		.e = { .type = CP_EVENT_GONE, .flags = flags, .pid = p->pid, .tid = p->pid },
	};

	/* What comes next lies far from what was looked at: functions are many to a page. */
	for (; steps && !space->gone_told; steps--) {
		const struct site *site;

		space->gone_next = (space->gone_next + count / looks + 1) % count;
		site = &space->table->sites.items[space->gone_next];
		if (!is_gone(space, site))
			continue;
		if (!cp_ring_reserve(tr->link, sizeof(e), CP_LINK_RESERVE))
			return;
		e.e.ts_ns = cp_now();
		e.address = site->address;
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
