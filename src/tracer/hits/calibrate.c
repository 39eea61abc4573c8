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
#include <stdlib.h>
#include <string.h>

#include "tracer/hits/calibrate.h"
#include "tracer/memory/space.h"

/* The first hits, for the first call to be told right; then ever fewer. */
#define FIRST_HITS 8u
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

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The last ones of `room`, of which there were `count` so far, in order; returns how
 * many. */
static size_t sort_last(const uint64_t *last, size_t room, size_t count, uint64_t *ret)
{
	size_t n = count < room ? count : room;

	memcpy(ret, last, n * sizeof(*ret));
	qsort(ret, n, sizeof(*ret), compare);
	return n;
}

/* ---- what it takes of the thread's CPU time ---- */

/* The clock of the scheduler is no better. */
#define LEAST_SIGMA 100.0
/* From the tenth part to the last but a tenth of what is distributed normally. */
#define TENTHS 2.56
#define ENOUGH 4u /* of a class, to say something about it */

/* Whoever has to wake a tracer that sleeps on an idle CPU takes several times as long
 * as who finds it on the own one, and that is not to be seen of a single stop. But how
 * long it took until the tracer ran, and whether there was a CPU for the thread, says
 * a lot. */
static unsigned class_of(uint64_t gap_ns, bool at_once)
{
	unsigned power = 0;

	while (power < CALIBRATION_CLASSES / 2 - 1 && gap_ns >> (power + 11))
		power++;
	return 2 * power + at_once;
}

static struct stop_cost cost_of(const uint64_t *sorted, size_t n)
{
	struct stop_cost cost = {
		.typical = (double)sorted[n / 2],
		.sigma = (double)(sorted[n - 1 - n / 10] - sorted[n / 10]) / TENTHS,
	};

	if (cost.sigma < LEAST_SIGMA)
		cost.sigma = LEAST_SIGMA;
	return cost;
}

uint64_t calibrate_add(struct calibration *c, uint64_t run_ns, uint64_t gap_ns, bool at_once)
{
	struct calibration_class *class = &c->classes[class_of(gap_ns, at_once)];
	uint64_t sorted[CALIBRATIONS];
	size_t n;

	class->run_ns[class->count++ % CLASS_CALIBRATIONS] = run_ns;
	n = sort_last(class->run_ns, CLASS_CALIBRATIONS, class->count, sorted);
	class->cost = cost_of(sorted, n);
	c->run_ns[c->count++ % CALIBRATIONS] = run_ns;
	n = sort_last(c->run_ns, CALIBRATIONS, c->count, sorted);
	c->cost = cost_of(sorted, n);
	calibrate_gap(c, gap_ns);
	return sorted[n - 1 - (n > FIRST_HITS)] - sorted[n / 2]; /* but for the slowest */
}

void calibrate_gap(struct calibration *c, uint64_t gap_ns)
{
	c->gaps[c->gap_count++ % CALIBRATIONS] = gap_ns;
}

uint64_t calibrate_longest_gap(const struct calibration *c)
{
	size_t n = c->gap_count < CALIBRATIONS ? c->gap_count : CALIBRATIONS, i;
	uint64_t longest = 0;

	for (i = 0; i < n; i++)
		longest = c->gaps[i] > longest ? c->gaps[i] : longest;
	return longest;
}

struct stop_cost calibrate_cost(const struct calibration *c, uint64_t gap_ns, bool at_once)
{
	const struct calibration_class *class = &c->classes[class_of(gap_ns, at_once)];

	return class->count >= ENOUGH ? class->cost : c->cost;
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
