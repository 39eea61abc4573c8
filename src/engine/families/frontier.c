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
 *
 * Nothing leads from one function to another, so what was found of one is kept until one of
 * its counters has changed.
 */
#include "engine/families/frontier.h"

#include <stdlib.h>
#include <string.h>

#include "engine/families/inferred.h"
#include "engine/target/state.h"
#include "probe/functions.h"

#define REACHED 1u
#define LED_TO 2u /* by one that was reached */

/* What decides beside counters. */
struct terms {
	uint64_t direct_changes;
	bool counted, retries, later; /* anything; engine_cover_begin(); not the first process */
};

/* A function's, in the list of all. */
struct part {
	size_t first, count;
};

struct engine_frontier {
	struct engine_cover_sites sites, last; /* last: those before */
	bool made; /* for so many counts, on these terms */
	uint64_t counted;
	struct terms terms;
	struct part *parts; /* owned; of each function, in `sites` */
	uint64_t *counters; /* owned; what they were when that was made */
	uint8_t *whole; /* owned; of each function: is all of it to be placed? */
	uint8_t *marks; /* owned; of each block of the function at hand */
	size_t room; /* in `marks` */
};

void engine_frontier_free(struct engine_frontier *frontier)
{
	if (!frontier)
		return;
	cp_vec_free(&frontier->sites.items);
	cp_vec_free(&frontier->last.items);
	free(frontier->parts);
	free(frontier->counters);
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

static size_t counters_of(const struct engine_cover *cover)
{
	return cover->blocks.count + 2 * (size_t)cover->watched_count;
}

static bool reserve(struct engine_cover *cover)
{
	struct engine_frontier *frontier = cover->frontier;
	const struct engine_covered *f;
	size_t most = 1;

	if (frontier->marks)
		return true;
	if (!frontier->parts)
		frontier->parts = calloc(cover->functions.count + 1, sizeof(*frontier->parts));
	if (!frontier->counters)
		frontier->counters = calloc(counters_of(cover) + 1, sizeof(*frontier->counters));
	if (!frontier->parts || !frontier->counters)
		return false;
	cp_vec_for_each(&cover->functions, f)
		most = f->block_count > most ? f->block_count : most;
	frontier->marks = malloc(most);
	return frontier->marks != NULL;
}

static bool same_terms(const struct terms *a, const struct terms *b)
{
	return a->direct_changes == b->direct_changes && a->counted == b->counted &&
	       a->retries == b->retries && a->later == b->later;
}

/* Notes the counters from `first` on, by number among the object's; true: one has changed. */
static bool note(const cprof_session *s, const struct engine_cover *cover, size_t first,
		 size_t count)
{
	uint64_t *seen = cover->frontier->counters + first, now, changed = 0;
	_Atomic uint64_t *counter = &s->link.counters[cover->first_counter + first];
	size_t i;

	for (i = 0; i < count; i++) {
		now = atomic_load_explicit(&counter[i], memory_order_relaxed);
		changed |= now ^ seen[i];
		seen[i] = now;
	}
	return changed != 0;
}

/* Those of a function: of its blocks, and of its branches that are watched, which are
 * numbered in a row. */
static bool note_function(const cprof_session *s, const struct engine_cover *cover,
			  const struct engine_covered *f)
{
	bool changed = note(s, cover, f->first_block, f->block_count);
	uint32_t i, first = 0, count = 0;

	for (i = f->first_branch; i < f->first_branch + f->branch_count; i++)
		if (cover->watched.items[i] != CP_NO_BLOCK && !count++)
			first = cover->watched.items[i];
	if (count)
		changed |=
			note(s, cover, cover->blocks.count + 2 * (size_t)first, 2 * (size_t)count);
	return changed;
}

static bool keep_part(struct engine_frontier *frontier, const struct part *was)
{
	const struct engine_cover_site *from = frontier->last.items.items + was->first;
	struct engine_cover_sites *to = &frontier->sites;

	if (!was->count)
		return true;
	if (!cp_vec_reserve(&to->items, to->items.count + was->count))
		return false;
	memcpy(to->items.items + to->items.count, from, was->count * sizeof(*from));
	to->items.count += was->count;
	return true;
}

static bool add_part(const cprof_session *s, const struct engine_cover *cover, size_t number,
		     bool anew)
{
	const struct engine_covered *f = &cover->functions.items[number];
	struct part *part = &cover->frontier->parts[number], was = *part;
	bool ok;

	part->first = cover->frontier->sites.items.count;
	if (note_function(s, cover, f) || anew) {
		engine_cover_infer(s, cover, f);
		ok = add_function(s, cover, number);
	} else {
		ok = keep_part(cover->frontier, &was);
	}
	part->count = cover->frontier->sites.items.count - part->first;
	return ok;
}

const struct engine_cover_sites *engine_frontier(const cprof_session *s, struct engine_cover *cover)
{
	struct engine_frontier *frontier = cover->frontier ?: frontier_of(cover);
	uint64_t counted = s->link.shared->stats.counted; /* before it is looked */
	struct terms terms = {
		.direct_changes = s->coverage->direct_changes,
		.counted = counted || s->coverage->known.count,
		.retries = cover->retries,
		.later = cover->processes > 1,
	};
	struct engine_cover_sites last;
	bool anew;
	size_t i;

	if (!frontier || !reserve(cover))
		return NULL;
	anew = !frontier->made || !same_terms(&terms, &frontier->terms);
	if (!anew && frontier->counted == counted)
		return &frontier->sites;
	frontier->made = false;
	last = frontier->last;
	frontier->last = frontier->sites;
	frontier->sites = last;
	frontier->sites.items.count = 0;
	for (i = 0; i < cover->functions.count; i++)
		if (!add_part(s, cover, i, anew))
			return NULL;
	frontier->counted = counted;
	frontier->terms = terms;
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
