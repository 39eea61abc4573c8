/* SPDX-License-Identifier: MIT
 *
 * Most of a program is reached by none of a hundred processes, and to place it all in each
 * of them takes longer than they live. So after the first one a process has sites only
 * where it can leave what is known:
 *
 *     entry ──► reached ──► reached
 *                  │           └──► not reached: a site, which holds the thread until
 *                  ▼                the rest of the function is placed
 *               not reached ──► not reached      no site: nobody gets there otherwise
 *                a site           └──► ...
 *
 * That takes knowing all ways into a block. Entries are places to begin at; so is, once
 * a function runs, what exceptions and computed jumps may lead to. Where others jump into
 * the middle of a function, functions lie on top of each other, or some block can have no
 * breakpoint, all of the function is placed, as it is in processes that were there before
 * cprof.
 */
#include "engine/families/frontier.h"

#include <stdlib.h>
#include <string.h>

#include "engine/families/inferred.h"
#include "engine/target/state.h"
#include "probe/functions.h"

#define REACHED 1u
#define LED_TO 2u /* by one that was reached */

struct engine_frontier {
	struct engine_cover_sites sites;
	bool made, retries; /* made: for so many counts, and for such a process */
	uint64_t counted;
	uint8_t *whole; /* owned; of each function: is all of it to be placed? */
	uint8_t *marks; /* owned; of each block of the function at hand */
	size_t room; /* in `marks` */
};

void engine_frontier_free(struct engine_frontier *frontier)
{
	if (!frontier)
		return;
	cp_vec_free(&frontier->sites.items);
	free(frontier->whole);
	free(frontier->marks);
	free(frontier);
}

/* ---- which functions are entered at their entries alone ---- */

struct piece {
	uint64_t start, end;
	uint64_t entry; /* of the function */
	size_t function;
};

struct pieces {
	CP_VEC(struct piece) items;
};

static int by_start(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Blocks that follow each other are one piece. */
static bool find_pieces(const struct engine_cover *cover, struct pieces *ret)
{
	size_t i, k;

	for (i = 0; i < cover->functions.count; i++) {
		const struct engine_covered *f = &cover->functions.items[i];

		for (k = f->first_block; k < f->first_block + f->block_count; k++) {
			const struct cp_probe_block *b = &cover->blocks.items[k];
			struct piece *last =
				k > f->first_block ? &ret->items.items[ret->items.count - 1] : NULL;

			if (last && last->end == b->address)
				last->end += b->size;
			else if (!cp_vec_push(&ret->items,
					      (struct piece){ b->address, b->address + b->size,
							      f->function->address, i }))
				return false;
		}
	}
	if (ret->items.count)
		qsort(ret->items.items, ret->items.count, sizeof(*ret->items.items), by_start);
	return true;
}

/* Functions on top of each other. */
static void judge_overlaps(const struct pieces *pieces, uint8_t *whole)
{
	const struct piece *last = NULL, *p;

	cp_vec_for_each(&pieces->items, p) {
		if (last && p->start < last->end && p->function != last->function)
			whole[p->function] = whole[last->function] = 1;
		if (!last || p->end > last->end)
			last = p;
	}
}

/* Functions that others lead into the middle of. */
static void judge_ways(const struct engine_cover *cover, const struct pieces *pieces,
		       uint8_t *whole)
{
	const uint64_t *to;
	size_t n;

	cp_vec_for_each(&cover->outside, to) {
		const struct piece *p;

		n = cp_vec_partition(&pieces->items, piece, piece->start <= *to);
		p = n ? &pieces->items.items[n - 1] : NULL;
		if (p && *to < p->end && *to != p->entry)
			whole[p->function] = 1;
	}
}

static bool may_stand(const struct engine_cover *cover, const struct engine_covered *f)
{
	uint32_t i;

	for (i = f->first_block; i < f->first_block + f->block_count; i++)
		if (!cover->blocks.items[i].insn_size)
			return false;
	return f->complete;
}

static bool judge(const struct engine_cover *cover, struct engine_frontier *frontier)
{
	size_t count = cover->functions.count, i;
	struct pieces pieces = { 0 };

	frontier->whole = calloc(count + 1, 1);
	if (!frontier->whole || !find_pieces(cover, &pieces)) {
		cp_vec_free(&pieces.items);
		return false;
	}
	judge_overlaps(&pieces, frontier->whole);
	judge_ways(cover, &pieces, frontier->whole);
	for (i = 0; i < count; i++)
		frontier->whole[i] |= !may_stand(cover, &cover->functions.items[i]);
	cp_vec_free(&pieces.items);
	return true;
}

static struct engine_frontier *frontier_of(struct engine_cover *cover)
{
	struct engine_frontier *made = calloc(1, sizeof(*made));

	if (made && !judge(cover, made)) {
		engine_frontier_free(made);
		made = NULL;
	}
	cover->frontier = made;
	return made;
}

/* ---- one function ---- */

struct function {
	const cprof_session *s;
	const struct engine_cover *cover;
	const struct engine_covered *f;
	uint8_t *marks; /* by block of the function */
	bool entered; /* some block was reached */
	bool unsure; /* of some block it can't be told whether it was */
};

static void lead_to(const struct function *fn, uint32_t block)
{
	fn->marks[block - fn->f->first_block] |= LED_TO;
}

static bool is_reached(const struct function *fn, uint32_t block)
{
	return fn->marks[block - fn->f->first_block] & REACHED;
}

static void mark(struct function *fn)
{
	const struct engine_covered *f = fn->f;
	uint32_t i;

	for (i = f->first_block; i < f->first_block + f->block_count; i++) {
		uint64_t n = engine_cover_count(fn->s, fn->cover->first_counter + i);

		fn->unsure |= n == CPROF_COVERAGE_UNKNOWN;
		if (!n || n == CPROF_COVERAGE_UNKNOWN)
			continue;
		fn->entered = true;
		fn->marks[i - f->first_block] |= REACHED;
		if (fn->cover->blocks.items[i].next)
			lead_to(fn, f->first_block + fn->cover->blocks.items[i].next - 1);
	}
	for (i = f->first_branch; i < f->first_branch + f->branch_count; i++) {
		const struct cp_probe_branch *b = &fn->cover->branches.items[i];

		if (b->target_block && is_reached(fn, b->block))
			lead_to(fn, f->first_block + b->target_block - 1);
	}
	for (i = f->first_case; i < f->first_case + f->case_count; i++)
		if (is_reached(fn, fn->cover->cases.items[i].from))
			lead_to(fn, fn->cover->cases.items[i].to);
}

/* Can the block, which was not reached, be entered next? */
static bool is_next(const struct function *fn, uint32_t block)
{
	return block == fn->f->first_block + fn->f->entry ||
	       fn->marks[block - fn->f->first_block] & LED_TO ||
	       (fn->entered && fn->cover->blocks.items[block].open);
}

/* The branch that ends the block; its number, or that of the next one. */
static bool ends_in(const struct function *fn, uint32_t block, uint32_t branch)
{
	return branch < fn->f->first_branch + fn->f->branch_count &&
	       fn->cover->branches.items[branch].block == block;
}

/* All that is still needed. */
static bool add_all(const struct function *fn, uint32_t again, struct engine_cover_sites *ret)
{
	const struct engine_covered *f = fn->f;
	uint32_t i, branch = f->first_branch;
	struct engine_cover_site site = { 0 };
	bool ok = true;

	for (i = f->first_block; ok && i < f->first_block + f->block_count; i++) {
		bool ends = ends_in(fn, i, branch);
		bool inferred = ends && engine_cover_inferred(fn->s, fn->cover, branch);

		if ((engine_cover_block(fn->s, fn->cover, i, &site) && !inferred) || i == again)
			ok = cp_vec_push(&ret->items, site);
		if (ok && ends && fn->cover->watched.items[branch] != CP_NO_BLOCK &&
		    engine_cover_branch(fn->s, fn->cover, branch, &site))
			ok = cp_vec_push(&ret->items, site);
		branch += ends;
	}
	return ok;
}

/* What can be entered next. *rest_ret: is there more? */
static bool add_next(const struct function *fn, struct engine_cover_sites *ret, bool *rest_ret)
{
	const struct engine_covered *f = fn->f;
	uint32_t i, branch = f->first_branch;
	struct engine_cover_site site = { 0 };
	bool ok = true;

	for (i = f->first_block; ok && i < f->first_block + f->block_count; i++) {
		bool ends = ends_in(fn, i, branch), reached = is_reached(fn, i);
		bool next = !reached && is_next(fn, i);
		const struct cp_probe_branch *b = ends ? &fn->cover->branches.items[branch] : NULL;

		*rest_ret |= !reached && !next;
		if (next && engine_cover_block(fn->s, fn->cover, i, &site))
			ok = cp_vec_push(&ret->items, site);
		if (ok && ends && fn->cover->watched.items[branch] != CP_NO_BLOCK &&
		    engine_cover_branch(fn->s, fn->cover, branch, &site)) {
			/* The thread that is held at a block's first instruction has that
			 * behind it. */
			if (reached || (next && b->address == fn->cover->blocks.items[i].address))
				ok = cp_vec_push(&ret->items, site);
			else
				*rest_ret = true;
		}
		branch += ends;
	}
	return ok;
}

static bool add_function(const cprof_session *s, const struct engine_cover *cover, size_t number)
{
	struct engine_frontier *frontier = cover->frontier;
	struct function fn = {
		.s = s,
		.cover = cover,
		.f = &cover->functions.items[number],
		.marks = frontier->marks,
	};
	size_t first = frontier->sites.items.count, i;
	bool rest = false;

	memset(fn.marks, 0, fn.f->block_count);
	mark(&fn);
	if (frontier->whole[number] || fn.unsure)
		return add_all(&fn, CP_NO_BLOCK, &frontier->sites);
	if (!add_next(&fn, &frontier->sites, &rest))
		return false;
	for (i = first; rest && i < frontier->sites.items.count; i++)
		if (frontier->sites.items.items[i].flags & CP_SITE_COUNT)
			frontier->sites.items.items[i].flags |= CP_SITE_HOLD;
	return true;
}

/* ---- all of them ---- */

static bool reserve_marks(const struct engine_cover *cover)
{
	struct engine_frontier *frontier = cover->frontier;
	const struct engine_covered *f;
	size_t most = 1;

	if (frontier->marks)
		return true;
	cp_vec_for_each(&cover->functions, f)
		most = f->block_count > most ? f->block_count : most;
	frontier->marks = malloc(most);
	return frontier->marks != NULL;
}

const struct engine_cover_sites *engine_frontier(const cprof_session *s, struct engine_cover *cover)
{
	struct engine_frontier *frontier = cover->frontier ?: frontier_of(cover);
	uint64_t counted = s->link.shared->stats.counted; /* before it is looked */
	size_t i;

	if (!frontier || !reserve_marks(cover))
		return NULL;
	if (frontier->made && frontier->counted == counted && frontier->retries == cover->retries)
		return &frontier->sites;
	frontier->made = false;
	frontier->sites.items.count = 0;
	engine_cover_infer_all(s, cover);
	for (i = 0; i < cover->functions.count; i++)
		if (!add_function(s, cover, i))
			return NULL;
	frontier->counted = counted;
	frontier->retries = cover->retries;
	frontier->made = true;
	return &frontier->sites;
}

size_t engine_frontier_size(const struct engine_cover *cover)
{
	return cover->frontier ? cover->frontier->sites.items.count : 0;
}

bool engine_frontier_open(const cprof_session *s, const struct engine_cover *cover,
			  const struct engine_covered *function, uint32_t block,
			  struct engine_cover_sites *ret)
{
	const struct function fn = { .s = s, .cover = cover, .f = function };

	return add_all(&fn, block, ret);
}
