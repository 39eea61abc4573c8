/* SPDX-License-Identifier: MIT
 *
 * What a stop costs the program beyond what we see of it: the trap, the switch
 * to us and the one back. Nothing that a thread does between two hits tells it,
 * since it did something there. So now and then one is sent to its slot by way
 * of another breakpoint (cp_step_detour):
 *
 *   hit ─► go on ─► int3 in the slot ─► seen ─► go on, at the slot's beginning
 *             └─────── the cost ────────┘
 *
 * Whatever happens to it there is as in any slot: a signal finds it at the site,
 * where it hits again, and when we are killed the handler lets it go on.
 */
#include "tracer/hits/calibrate.h"

#include "tracer/memory/space.h"

/* The first hits, for the first call to be told right, until there are enough to say of others
 * what they take (known/costs.c); then ever fewer. */
#define FIRST_HITS 16u
#define OFTEN 16u
#define OFTEN_UNTIL 1024u
#define SELDOM 128u

static bool is_due(struct calibration *c)
{
	c->hits++;
	if (c->hits > FIRST_HITS)
		c->due |= c->hits % (c->hits < OFTEN_UNTIL ? OFTEN : SELDOM) == 0;
	else
		c->due = true;
	return c->due;
}

unsigned calibrate_detour(struct tracer *tr, struct thread *t, const struct site *site)
{
	unsigned offset;

	if (tr->ending || !is_due(&tr->calibration))
		return 0;
	offset = cp_step_detour(&site->step);
	if (offset) {
		t->detour = site->slot + offset;
		tr->calibration.due = false;
	}
	return offset;
}

void calibrate_end(struct tracer *tr)
{
	uint64_t key, value;
	size_t cursor = 0, size;
	const uint8_t *nop = cp_nop_code(cp_arch_host(), &size);

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		const struct thread *t = (const struct thread *)(uintptr_t)value;

		if (t->detour)
			space_write(t->process->space, t->detour, nop, size);
	}
}

bool calibrate_seen(struct tracer *tr, struct thread *t, uint64_t pc, uint64_t seen_ns)
{
	bool seen = t->detour && pc == t->detour + tr->trap_size;

	t->detour = 0;
	if (!seen)
		return false;
	own_account(tr, t, seen_ns, true);
	tr->link->shared->stats.trap[cp_histogram_bucket(seen_ns - t->resumed_ns)]++;
	tr->link->shared->stats.detours++;
	return true;
}
