/* SPDX-License-Identifier: MIT
 *
 * A line is executed as often as it is begun: entered from another line, or
 * once more round a loop that is all on it. So gcov counts, too.
 *
 *     1: i = 0 ──► 3: i < n ──► (body: another line)
 *                    ▲                │            for (i = 0; i < n; i++)
 *                    └── 2: i++ ◄─────┘            1 and 2 are entered: 1 + n
 *
 * Blocks count that end with the line, which is the last one that comes up for the first time
 * in them; where none does, all that have code of it. A call
 * that throws goes on at its landing pad, which is no entry where that is on the same line.
 */
#include "report/coverage/count.h"

#include <string.h>

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

/* ---- ways of a function ---- */

static bool falls_into(const struct cp_coverage_image *c, const struct cp_coverage_function *f,
		       uint32_t block, uint32_t next)
{
	return c->blocks[block].address + c->blocks[block].size ==
	       c->blocks[f->first_block + next - 1].address;
}

/* `to` counts from 1 among the function's blocks. */
static struct cp_line_entry *entry_of(struct cp_line_counter *counter, uint32_t to)
{
	return to && to <= counter->entries.count ? &counter->entries.items[to - 1] : NULL;
}

static void add_entry(struct cp_line_counter *counter, uint32_t to, uint64_t count)
{
	struct cp_line_entry *e = entry_of(counter, to);

	if (!e)
		return;
	e->jumps += known(count);
	e->jumped_to = true;
}

static void find_entries(struct cp_line_counter *counter, const struct cp_coverage_image *c,
			 const struct cp_coverage_function *f)
{
	struct cp_line_entry *e;
	uint32_t i, next;

	for (i = f->first_branch; i < f->first_branch + f->branch_count; i++) {
		add_entry(counter, c->branches[i].target, c->branches[i].taken);
		counter->entries.items[c->branches[i].block - f->first_block].forks = true;
	}
	for (i = f->first_block; i < f->first_block + f->block_count; i++) {
		next = c->blocks[i].next;
		if (next && next <= f->block_count && !falls_into(c, f, i, next))
			add_entry(counter, next, c->blocks[i].count);
		e = entry_of(counter, c->blocks[i].landing);
		if (e)
			e->landed_at = true;
	}
}

bool cp_line_counter_begin(struct cp_line_counter *counter, const struct cp_coverage_image *c,
			   const struct cp_coverage_function *f)
{
	counter->c = c;
	counter->f = f;
	counter->entries.count = counter->ends.count = 0;
	if (!cp_vec_reserve(&counter->entries, f->block_count) ||
	    !cp_vec_reserve(&counter->ends, f->block_count))
		return false;
	counter->entries.count = counter->ends.count = f->block_count;
	if (f->block_count) {
		memset(counter->entries.items, 0, f->block_count * sizeof(*counter->entries.items));
		memset(counter->ends.items, 0, f->block_count * sizeof(*counter->ends.items));
	}
	find_entries(counter, c, f);
	return true;
}

static struct cp_line_end *end_of(struct cp_line_counter *counter, uint32_t block)
{
	return &counter->ends.items[block - counter->f->first_block];
}

/* Has the block of the last row the line already? */
static bool was_seen(const struct cp_line_counter *counter, uint64_t place)
{
	size_t i = counter->seen.count;

	/* Mostly lines follow each other. */
	if (!i || counter->highest < place)
		return false;
	while (i && counter->seen.items[i - 1] != place)
		i--;
	return i;
}

bool cp_line_counter_row(struct cp_line_counter *counter, uint32_t block, uint64_t place, bool byte)
{
	struct cp_line_end *end;

	if (!counter->ends.count)
		return true;
	end = end_of(counter, block);
	if (!end->place) {
		counter->seen.count = 0;
		end->begin = place;
		end->pause = byte ? place : 0;
	}
	if (was_seen(counter, place))
		return true;
	end->before = end->place;
	end->place = place;
	if (!counter->seen.count || counter->highest < place)
		counter->highest = place;
	return cp_vec_push(&counter->seen, place);
}

/* Does the block end with a jump back to the line that the jump is of? So compilers close a
 * loop without a condition at its end; the line is its first one, and is not begun there. */
static bool closes_loop(struct cp_line_counter *counter, size_t i)
{
	const struct cp_coverage_block *b = &counter->c->blocks[counter->f->first_block + i];
	const struct cp_line_end *end = &counter->ends.items[i], *to;

	if (!b->next || b->next > i + 1 || counter->entries.items[i].forks)
		return false;
	to = &counter->ends.items[b->next - 1];
	return to->begin == end->place && (end->before || to->place != end->place);
}

static void end_before(struct cp_line_end *end)
{
	end->jump = end->place;
	end->place = end->before ? end->before : end->place;
}

/* All that returns comes through the end of a function, where its last line is its closing
 * brace, which destructors may be called at before. */
void cp_line_counter_settle(struct cp_line_counter *counter, uint32_t file)
{
	const struct cp_coverage_block *b;
	struct cp_line_end *end;
	uint64_t brace = 0;
	size_t i;

	counter->computes = false;
	cp_vec_for_each(&counter->ends, end)
		if (end->place >> 32 == file && end->place > brace)
			brace = end->place;
	for (i = 0; i < counter->ends.count; i++) {
		b = &counter->c->blocks[counter->f->first_block + i];
		end = &counter->ends.items[i];
		if (closes_loop(counter, i)) {
			end_before(end);
		} else if (!b->next && end->place == brace) {
			end->way_out = !end->before;
			end->place = end->before ? end->before : end->place;
		} else if (!b->next && !counter->entries.items[i].forks) {
			counter->computes = true;
		}
	}
}

/* How often a block without a branch was followed by its next one: a call may
 * not return, or return twice (setjmp). What comes from elsewhere does not come from
 * there. */
static uint64_t on_to_next(struct cp_line_counter *counter, const struct cp_coverage_image *c,
			   const struct cp_coverage_function *f, uint32_t block)
{
	uint32_t next = c->blocks[block].next;
	const struct cp_line_entry *e = entry_of(counter, next);
	uint64_t here = known(c->blocks[block].count), there;

	if (!e)
		return 0;
	there = known(c->blocks[f->first_block + next - 1].count);
	if (!falls_into(c, f, block, next))
		return least(here, there);
	if (e->landed_at)
		return 0;
	if (!e->jumped_to && !counter->computes)
		return there;
	return least(here, there > e->jumps ? there - e->jumps : 0);
}

/* ---- those of a line ---- */

/* The ways from a block whose end is no branch. */
static bool find_ways_on(struct cp_line_counter *counter, const struct cp_coverage_image *c,
			 const struct cp_coverage_function *f, uint32_t i)
{
	uint32_t block = counter->blocks.items[i], landing = c->blocks[block].landing;
	uint64_t here = known(c->blocks[block].count), on = on_to_next(counter, c, f, block);

	if (!add_edge(counter, f, i, c->blocks[block].next, on))
		return false;
	if (here <= on || !entry_of(counter, landing))
		return true;
	return add_edge(counter, f, i, landing,
			least(here - on, known(c->blocks[f->first_block + landing - 1].count)));
}

/* How often a block ran that no known way leads to, which may be the target of a computed jump;
 * 0 of others. */
static uint64_t computed(const struct cp_line_counter *counter, uint32_t block)
{
	uint32_t i = block - counter->f->first_block;
	const struct cp_line_entry *e = &counter->entries.items[i];

	if (!i || e->jumped_to || e->landed_at || counter->c->blocks[block - 1].next == i + 1)
		return 0;
	return known(counter->c->blocks[block].count);
}

/* Where the end of a block of the line may be a computed jump, and blocks of the line that no
 * known way leads to ran just as often, it is of a switch that is all on the line: they are not
 * begun. */
static bool find_computed(struct cp_line_counter *counter, uint32_t i)
{
	uint64_t targets = 0, count;
	uint32_t k;

	for (k = 0; k < counter->blocks.count; k++)
		targets += computed(counter, counter->blocks.items[k]);
	if (targets != known(counter->c->blocks[counter->blocks.items[i]].count))
		return true;
	for (k = 0; k < counter->blocks.count; k++) {
		count = computed(counter, counter->blocks.items[k]);
		if (count && !cp_vec_push(&counter->edges, (struct cp_line_edge){ i, k, count }))
			return false;
	}
	return true;
}

/* The ways from blocks of the line to blocks of the line. */
static bool find_edges(struct cp_line_counter *counter, const struct cp_coverage_image *c,
		       const struct cp_coverage_function *f)
{
	const struct cp_coverage_branch *b;
	uint32_t i, block;

	counter->edges.count = 0;
	for (i = 0; i < counter->blocks.count; i++) {
		block = counter->blocks.items[i];
		b = branch_of(c, f, block);
		if (!b && !c->blocks[block].next && !find_computed(counter, i))
			return false;
		if (b ? !add_edge(counter, f, i, b->target, known(b->taken)) ||
				    !add_edge(counter, f, i, c->blocks[block].next,
					      known(b->passed))
		      : !find_ways_on(counter, c, f, i))
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

/* Does a call at the end of the block return to the next one? */
static bool falls_on(struct cp_line_counter *counter, uint32_t block)
{
	const struct cp_coverage_function *f = counter->f;
	uint32_t next = counter->c->blocks[block].next;

	return next && next <= f->block_count &&
	       !counter->entries.items[block - f->first_block].forks &&
	       falls_into(counter->c, f, block, next);
}

void cp_line_counter_clear(struct cp_line_counter *counter)
{
	counter->blocks.count = counter->ways_out.count = counter->closing.count = 0;
	counter->pauses.count = 0;
	counter->last = CP_RECORD_NONE;
	counter->calls = false;
	counter->passing = counter->inlining = 0;
}

bool cp_line_counter_add(struct cp_line_counter *counter, uint32_t block, uint64_t place,
			 bool inlines)
{
	const struct cp_line_end *end = end_of(counter, block);
	uint64_t count = known(counter->c->blocks[block].count);

	if (inlines && count > counter->inlining)
		counter->inlining = count;
	if (block == counter->last)
		return true;
	counter->last = block;
	if (end->jump == place)
		return cp_vec_push(&counter->closing, block);
	counter->passing += count;
	if (end->way_out)
		return cp_vec_push(&counter->ways_out, block);
	if (end->pause == place && end->place != place)
		return cp_vec_push(&counter->pauses, block);
	counter->calls |= end->place == place && falls_on(counter, block);
	return end->place != place || cp_vec_push(&counter->blocks, block);
}

/* Entries of the line's blocks from elsewhere, and loops within it. */
static uint64_t begun(struct cp_line_counter *counter)
{
	const struct cp_line_edge *e;
	uint64_t count = 0, within = 0, rounds;
	const uint32_t *block;

	cp_vec_for_each(&counter->blocks, block)
		count += known(counter->c->blocks[*block].count);
	cp_vec_for_each(&counter->edges, e)
		within += e->count;
	count = count > within ? count - within : 0;
	while (counter->blocks.count && counter->blocks.count <= MAX_LOOPS &&
	       (rounds = take_loop(counter)))
		count += rounds;
	return count;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool add_blocks(struct cp_line_counter *counter, const uint32_t *blocks, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!cp_vec_push(&counter->blocks, blocks[i]))
			return false;
	if (count)
		cp_vec_sort(&counter->blocks, by_number);
	return true;
}

/* Where a `break` ends, and what it leaves goes on: a jump of the line leads there, and others may
 * lead there at once, for a case that is empty but for it. */
static bool add_pauses(struct cp_line_counter *counter)
{
	const struct cp_coverage_function *f = counter->f;
	const uint32_t *pause;
	size_t i, n = counter->blocks.count;

	cp_vec_for_each(&counter->pauses, pause) {
		for (i = 0; i < n; i++)
			if (counter->c->blocks[counter->blocks.items[i]].next ==
			    *pause - f->first_block + 1)
				break;
		if (i < n && !add_blocks(counter, pause, 1))
			return false;
	}
	return true;
}

bool cp_line_executions(struct cp_line_counter *counter, uint64_t *ret, bool *passed_ret)
{
	bool ends;

	if (!counter->calls &&
	    !add_blocks(counter, counter->ways_out.items, counter->ways_out.count))
		return false;
	if (!counter->passing &&
	    !add_blocks(counter, counter->closing.items, counter->closing.count))
		return false;
	if (!add_pauses(counter))
		return false;
	ends = counter->blocks.count;
	if (!find_edges(counter, counter->c, counter->f))
		return false;
	*passed_ret = !ends && !counter->inlining;
	*ret = ends ? begun(counter) : counter->passing;
	if (counter->inlining > *ret)
		*ret = counter->inlining;
	return true;
}

void cp_line_counter_free(struct cp_line_counter *counter)
{
	cp_vec_free(&counter->blocks);
	cp_vec_free(&counter->ways_out);
	cp_vec_free(&counter->closing);
	cp_vec_free(&counter->pauses);
	cp_vec_free(&counter->edges);
	cp_vec_free(&counter->entries);
	cp_vec_free(&counter->ends);
	cp_vec_free(&counter->seen);
}
