/* SPDX-License-Identifier: MIT
 *
 * Of a condition that holds each time (an error, two ways to it), the other direction leads
 * to a block with a breakpoint of its own. Until that one is hit nobody went there:
 *
 *     cmp; je ───┐ hit, hit, hit, hit: its breakpoint goes
 *     cmp; jne   │ hit, hit, hit, hit: likewise
 *      │         ▼
 *      └──► the block   hit: both are put back
 *
 * What is not seen so is which of the ways the first one came; of most branches one comes
 * again. Of the stops that conditions cost in test programs that run for milliseconds, every
 * third was such a one. In the table, the branches that wait are a chain that begins at the
 * block, and processes that share it share the chain; who of it waits is each one's own.
 */
#include "tracer/hits/unreached.h"

#include <string.h>

#include "link/coverage.h"
#include "tracer/calls/guard.h"
#include "tracer/memory/patch.h"
#include "tracer/memory/space.h"

#define SHARE 8u /* of the hits that a branch has in all, it has so many before */
#define LEAST 2u
#define CHAIN_MAX 64u

static struct site *way_of(const struct space *space, const struct site *branch, bool passed)
{
	struct site *site = space_site(space, passed ? branch->step.resume : branch->step.target);

	while (site && !(site->flags & CP_SITE_COUNT && site->flags & CP_SITE_ONCE))
		site = site_next(space, site);
	return site;
}

static struct site *next_of(const struct space *space, const struct site *site)
{
	return site->window < space->table->sites.count ? &space->table->sites.items[site->window]
							: NULL;
}

static bool is_counted(const struct tracer *tr, uint32_t counter)
{
	return atomic_load_explicit(&tr->link->counters[counter], memory_order_relaxed);
}

static bool is_reached(const struct tracer *tr, const struct site *block)
{
	return is_counted(tr, block->id) ||
	       (block->flags & CP_SITE_LATER &&
		(is_counted(tr, block->ways[0]) || is_counted(tr, block->ways[1])));
}

/* A block that what it leads to tells of has no breakpoint until somebody waits for it. */
static bool watch(struct space *space, const struct site *block)
{
	size_t size;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	struct patch patch = { .address = block->address };

	if (site_armed(space, block))
		return true;
	if (!(block->flags & CP_SITE_LATER))
		return false;
	memcpy(patch.expect, block->original, size);
	memcpy(patch.bytes, trap, size);
	if (!space_any_armed(space, space_site(space, block->address)) &&
	    !patch_apply(space, &patch, 1))
		return false;
	site_arm(space, block);
	guard_avoid(space, block->address);
	return true;
}

/* False: there are too many. */
static bool join(struct space *space, struct site *block, struct site *branch)
{
	struct site *last = block, *next;
	unsigned n;

	for (n = 0; n < CHAIN_MAX; n++, last = next) {
		next = next_of(space, last);
		if (!next) {
			last->window = (uint32_t)(branch - space->table->sites.items);
			return true;
		}
		if (next == branch)
			return true;
	}
	return false;
}

bool unreached_leave(const struct tracer *tr, struct space *space, const struct site *branch,
		     uint64_t hits, bool passed)
{
	uint32_t budget = space->groups.items[branch->group].g.max_rate;
	struct site *site = &space->table->sites.items[branch - space->table->sites.items];
	struct site *block;

	if (hits < (budget / SHARE > LEAST ? budget / SHARE : LEAST))
		return false;
	block = way_of(space, branch, passed);
	if (!block || is_reached(tr, block) || !watch(space, block) || !join(space, block, site))
		return false;
	*site_state(space, branch) |= STATE_WAITS;
	return true;
}

static bool leads_to(const struct site *branch, const struct site *block)
{
	return branch->flags & CP_SITE_BRANCH &&
	       (branch->step.target == block->address || branch->step.resume == block->address);
}

void unreached_enter(struct space *space, const struct site *block)
{
	struct patch patches[CHAIN_MAX];
	const struct site *branch = next_of(space, block);
	size_t size, count = 0;
	const uint8_t *trap = cp_trap_code(cp_arch_host(), &size);
	unsigned n;

	for (n = 0; branch && n < CHAIN_MAX; n++, branch = next_of(space, branch)) {
		bool stands = space_any_armed(space, space_site(space, branch->address));

		if (!leads_to(branch, block))
			break; /* its record is another site's by now */
		if (!(*site_state(space, branch) & STATE_WAITS))
			continue;
		*site_state(space, branch) &= (uint16_t)~STATE_WAITS;
		site_arm(space, branch);
		if (stands)
			continue;
		patches[count] = (struct patch){ .address = branch->address };
		memcpy(patches[count].expect, branch->original, size);
		memcpy(patches[count++].bytes, trap, size);
	}
	if (count)
		patch_apply(space, patches, count);
}
