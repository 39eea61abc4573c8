/* SPDX-License-Identifier: MIT
 *
 * A line is executed as often as it is begun: entered from another line, or
 * once more round a loop that is all on it. So gcov counts, too.
 *
 *     1: i = 0 ──► 3: i < n ──► (body: another line)
 *                    ▲                │            for (i = 0; i < n; i++)
 *                    └── 2: i++ ◄─────┘            1 and 2 are entered: 1 + n
 */
#include "report/coverage/count.h"

#include "report/coverage/coverage.h"

#define MAX_LOOPS 64 /* blocks of a line in which loops are looked for */

static uint64_t known(uint64_t count)
{
	return cp_is_covered(count) ? count : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The place of a block among those of the line; their number: it is none of them. */
static uint32_t place_of(const struct cp_line_counter *counter, uint32_t block)
{
	size_t low = 0, high = counter->blocks.count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (counter->blocks.items[mid] < block)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < counter->blocks.count && counter->blocks.items[low] == block)
		return (uint32_t)low;
	return (uint32_t)counter->blocks.count;
}

/* `to` counts from 1 among the function's blocks. */
static bool add_edge(struct cp_line_counter *counter, const struct cp_coverage_function *f,
		     uint32_t from, uint32_t to, uint64_t count)
{
	uint32_t place;

	if (!count || !to || to > f->block_count)
		return true;
	place = place_of(counter, f->first_block + to - 1);
	return place == counter->blocks.count ||
	       cp_vec_push(&counter->edges, (struct cp_line_edge){ from, place, count });
}

static const struct cp_coverage_branch *branch_of(const struct cp_coverage_image *c,
						  const struct cp_coverage_function *f,
						  uint32_t block)
{
	uint32_t low = f->first_branch, high = low + f->branch_count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (c->branches[mid].block < block)
			low = mid + 1;
		else
			high = mid;
	}
	return low < f->first_branch + f->branch_count && c->branches[low].block == block
		       ? &c->branches[low]
		       : NULL;
}

/* Does a block but `from` lead to the one numbered `to` (from 1)? */
static bool others_lead(const struct cp_coverage_image *c, const struct cp_coverage_function *f,
			uint32_t from, uint32_t to)
{
	uint32_t i;

	for (i = f->first_block; i < f->first_block + f->block_count; i++)
		if (i != from && c->blocks[i].next == to)
			return true;
	for (i = f->first_branch; i < f->first_branch + f->branch_count; i++)
		if (c->branches[i].target == to)
			return true;
	return false;
}

/* How often a block without a branch was followed by its next one: a call may
 * not return, or return twice (setjmp). */
static uint64_t on_to_next(const struct cp_coverage_image *c, const struct cp_coverage_function *f,
			   uint32_t block)
{
	uint32_t next = c->blocks[block].next;
	uint64_t here = known(c->blocks[block].count);
	uint64_t there = known(c->blocks[f->first_block + next - 1].count);

	return there > here && !others_lead(c, f, block, next) ? there : least(here, there);
}

/* The ways from blocks of the line to blocks of the line. */
static bool find_edges(struct cp_line_counter *counter, const struct cp_coverage_image *c,
		       const struct cp_coverage_function *f)
{
	uint32_t i, next, block;
	uint64_t through;

	counter->edges.count = 0;
	for (i = 0; i < counter->blocks.count; i++) {
		const struct cp_coverage_branch *b;

		block = counter->blocks.items[i];
		b = branch_of(c, f, block);
		next = c->blocks[block].next;
		if (b) {
			if (!add_edge(counter, f, i, b->target, known(b->taken)) ||
			    !add_edge(counter, f, i, next, known(b->passed)))
				return false;
			continue;
		}
		if (!next || next > f->block_count)
			continue;
		through = on_to_next(c, f, block);
		if (!add_edge(counter, f, i, next, through))
			return false;
	}
	return true;
}

/* An edge that leads on from `from` within `left`. */
static struct cp_line_edge *leads_on(struct cp_line_counter *counter, uint32_t from, uint64_t left)
{
	struct cp_line_edge *e;

	cp_vec_for_each(&counter->edges, e) {
		if (e->from == from && e->count && left >> e->to & 1)
			return e;
	}
	return NULL;
}

/* Blocks that ways lead on from for ever. */
static uint64_t in_loops(struct cp_line_counter *counter)
{
	size_t n = counter->blocks.count, i;
	uint64_t left = n == MAX_LOOPS ? UINT64_MAX : (UINT64_C(1) << n) - 1, before;

	do {
		before = left;
		for (i = 0; i < n; i++)
			if (left >> i & 1 && !leads_on(counter, (uint32_t)i, left))
				left &= ~(UINT64_C(1) << i);
	} while (left != before);
	return left;
}

/* Finds a loop, takes it out and returns how often it was gone round; 0: no
 * more. */
static uint64_t take_loop(struct cp_line_counter *counter)
{
	struct cp_line_edge *ways[MAX_LOOPS], *e;
	uint64_t left = in_loops(counter), seen = 0, rounds = UINT64_MAX;
	uint32_t at, start;

	if (!left)
		return 0;
	for (at = (uint32_t)__builtin_ctzll(left); !(seen >> at & 1); at = e->to) {
		e = leads_on(counter, at, left);
		if (!e)
			return 0;
		ways[at] = e;
		seen |= UINT64_C(1) << at;
	}
	start = at;
	do {
		rounds = least(rounds, ways[at]->count);
		at = ways[at]->to;
	} while (at != start);
	do {
		ways[at]->count -= rounds;
		at = ways[at]->to;
	} while (at != start);
	return rounds;
}

bool cp_line_executions(struct cp_line_counter *counter, const struct cp_coverage_image *c,
			const struct cp_coverage_function *f, uint64_t *ret)
{
	const struct cp_line_edge *e;
	uint64_t count = 0, within = 0, rounds;
	const uint32_t *block;

	if (!find_edges(counter, c, f))
		return false;
	cp_vec_for_each(&counter->blocks, block)
		count += known(c->blocks[*block].count);
	cp_vec_for_each(&counter->edges, e)
		within += e->count;
	count = count > within ? count - within : 0;
	while (counter->blocks.count && counter->blocks.count <= MAX_LOOPS &&
	       (rounds = take_loop(counter)))
		count += rounds;
	*ret = count;
	return true;
}

void cp_line_counter_free(struct cp_line_counter *counter)
{
	cp_vec_free(&counter->blocks);
	cp_vec_free(&counter->edges);
}
