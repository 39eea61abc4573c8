/* SPDX-License-Identifier: MIT
 *
 * Breakpoints of sites that the table has: out, and in again. A site stays in the
 * table whatever becomes of its breakpoint.
 */
#include "tracer/memory/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tracer/memory/patch.h"
#include "tracer/memory/sigcall.h"
#include "tracer/memory/space.h"
#include "tracer/memory/windows.h"

/* Applies patches, and frees them. */
static void change(struct space *space, struct patch *patches, size_t n)
{
	space->changed_ns = cp_now();
	if (patches)
		patch_apply(space, patches, n);
	free(patches);
}

/* Takes out the breakpoints of those sites that `chosen` names and that no
 * other site at their address needs; then `state` is added to theirs. With 0 they
 * don't come back. */
static void disarm(struct space *space, bool (*chosen)(const struct site *site, const void *ctx),
		   const void *ctx, uint16_t state)
{
	size_t size, i, n = 0;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	struct patch *patches = NULL;

	if (space->armed)
		patches = calloc(space->armed, sizeof(*patches));
	if (!patches)
		return;
	for (i = 0; i < space->table->sites.count; i++) {
		const struct site *site = &space->table->sites.items[i];

		if (!chosen(site, ctx))
			continue;
		if (!state)
			*site_state(space, site) &=
				(uint16_t) ~(STATE_PAUSED | STATE_ASLEEP | STATE_WAITS);
		if (!site_armed(space, site) || site_jumps(space, site))
			continue;
		site_disarm(space, site);
		*site_state(space, site) |= state;
		if (space_any_armed(space, space_site(space, site->address)))
			continue;
		patches[n] = (struct patch){ .address = site->address };
		memcpy(patches[n].expect, trap, size);
		memcpy(patches[n++].bytes, site->original, size);
	}
	change(space, patches, n);
}

struct range {
	uint64_t start, size;
};

static bool in_range(const struct site *site, const void *ctx)
{
	const struct range *r = ctx;

	return site->address - r->start < r->size;
}

static bool in_group(const struct site *site, const void *ctx)
{
	return site->group == *(const uint32_t *)ctx;
}

void sites_disarm_range(struct space *space, uint64_t start, uint64_t size)
{
	const struct range range = { start, size };

	disarm(space, in_range, &range, 0);
}

struct one {
	uint64_t address;
	uint32_t id;
};

static bool is_one(const struct site *site, const void *ctx)
{
	const struct one *one = ctx;

	return site->address == one->address && site->id == one->id;
}

void sites_disarm_one(struct space *space, uint64_t address, uint32_t id)
{
	const struct one one = { address, id };

	disarm(space, is_one, &one, 0);
}

void sites_disarm_in(struct space *space, uint32_t group)
{
	disarm(space, in_group, &group, 0);
}

static bool pauses(const struct site *site, const void *ctx)
{
	const struct space *space = ctx;

	return site->address && !(site->flags & SITE_DETOURS) &&
	       space->groups.items[site->group].g.flags & CP_GROUP_PAUSES;
}

void sites_pause(struct space *space)
{
	disarm(space, pauses, space, STATE_PAUSED);
}

/* Puts back what `chosen` names of what has `state`. */
static void rearm(struct space *space, bool (*chosen)(const struct site *site, const void *ctx),
		  const void *ctx, uint16_t state)
{
	size_t size, i, n = 0, sites = space->table->sites.count;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	struct patch *patches = NULL;

	for (i = 0; i < sites; i++) {
		const struct site *site = &space->table->sites.items[i];
		bool stands =
			site->address && space_any_armed(space, space_site(space, site->address));

		if (!(*site_state(space, site) & state) || !chosen(site, ctx))
			continue;
		if (!patches)
			patches = calloc(sites, sizeof(*patches));
		if (!patches)
			return;
		*site_state(space, site) &= (uint16_t)~state;
		site_arm(space, site);
		if (stands)
			continue;
		patches[n] = (struct patch){ .address = site->address };
		memcpy(patches[n].expect, site->original, size);
		memcpy(patches[n++].bytes, trap, size);
	}
	if (patches)
		change(space, patches, n);
}

void sites_resume(struct space *space)
{
	rearm(space, pauses, space, STATE_PAUSED);
}

static bool sleeps(const struct site *site, const void *ctx)
{
	const struct space *space = ctx;

	return site->address && !(site->flags & (CP_SITE_ENTRY | SITE_DETOURS)) &&
	       space->groups.items[site->group].g.flags & CP_GROUP_SAMPLED &&
	       !space->groups.items[site->group].g.heap.others;
}

void sites_sleep(struct space *space)
{
	disarm(space, sleeps, space, STATE_ASLEEP);
}

struct waking {
	uint32_t group;
	uint64_t address;
};

static bool wakes(const struct site *site, const void *ctx)
{
	const struct waking *w = ctx;

	return site->address && (site->group == w->group || site->address == w->address);
}

void sites_wake(struct space *space, uint32_t group, uint64_t address)
{
	const struct waking w = { group, address };

	rearm(space, wakes, &w, STATE_ASLEEP);
}

/* Patches for the first site at each address, from what stands there to what shall
 * stand there: the breakpoint, if `keep` and one is armed. NULL without memory. */
static struct patch *patches_of_all(const struct space *space, bool keep, size_t *count_ret)
{
	size_t size, i, n = 0;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	struct patch *patches = calloc(space->table->sites.count + 1, sizeof(*patches));

	for (i = 0; patches && i < space->table->sites.count; i++) {
		const struct site *site = &space->table->sites.items[i];
		bool put = keep && space_any_armed(space, site);

		if (!site->address || site->flags & SITE_PASSIVE || site_jumps(space, site) ||
		    sigcall_jumps(space, site) || table_find(space->table, site->address) != i)
			continue;
		patches[n] = (struct patch){ .address = site->address };
		memcpy(patches[n].expect, put ? site->original : trap, size);
		memcpy(patches[n++].bytes, put ? trap : site->original, size);
	}
	*count_ret = n;
	return patches;
}

void sites_sync(struct space *space)
{
	struct patch *patches;
	size_t n;

	windows_sync(space);
	patches = patches_of_all(space, true, &n);
	if (patches)
		patch_apply(space, patches, n);
	free(patches);
}

void sites_clean_traps(struct space *space)
{
	struct patch *patches;
	size_t i, n;

	if (!space->table->sites.count)
		return;
	for (i = 0; i < space->states.count; i++)
		space->states.items[i] &=
			space->table->sites.items[i].flags & SITE_JUMPS ? STATE_JUMPS : 0;
	space->armed = 0;
	patches = patches_of_all(space, false, &n);
	change(space, patches, n);
}

void sites_clean(struct space *space, bool still)
{
	if (still) { /* a copy, of text that may have been in the middle of a change */
		windows_sync(space);
		windows_clean(space);
	}
	sites_clean_traps(space);
	sigcall_unjump(space);
	sites_clean_traps(space);
}
