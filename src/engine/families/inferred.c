/* SPDX-License-Identifier: MIT
 *
 * Blocks that need no breakpoint of their own: where both ways out of one are seen, it
 * was reached if one of them was gone.
 *
 *     a ── jle ─┬─ b: reached in no other way ──┐
 *               └─ the jump's own site          │    a = b or jle
 *                                               ▼
 *
 * No call is in a block, so what leaves it otherwise is a fault, of which the tracer
 * tells (cuts.c), or the end of the process between two instructions. Exact counts don't
 * go this way.
 *
 * Where such a block is reached in several ways, branches may wait for somebody to come there
 * (tracer/hits/unreached.c): it gets a breakpoint when one does.
 */
#include "engine/families/inferred.h"

#include <stdlib.h>

#include "engine/families/coverage.h"
#include "engine/target/state.h"

bool engine_cover_inferred(const cprof_session *s, const struct engine_cover *cover,
			   uint32_t branch)
{
	const struct cp_probe_branch *b = &cover->branches.items[branch];

	return s->coverage->mode == CPROF_COVERAGE_ONESHOT &&
	       (cover->watched.items[branch] == CP_NO_BLOCK || b->size);
}

/* ---- waited for ---- */

static void await(struct engine_cover *cover, const struct engine_covered *f)
{
	uint8_t *awaited = cover->awaited + f->first_block;
	uint32_t i, next;

	for (i = f->first_branch; i < f->first_branch + f->branch_count; i++) {
		const struct cp_probe_branch *b = &cover->branches.items[i];

		next = cover->blocks.items[b->block].next;
		if (b->taken_block == CP_NO_BLOCK && b->target_block)
			awaited[b->target_block - 1] = true;
		if (b->passed_block == CP_NO_BLOCK && next)
			awaited[next - 1] = true;
	}
}

void engine_cover_await(struct engine_cover *cover)
{
	const struct engine_covered *f;

	if (cover->awaited || !cover->watched_count)
		return;
	cover->awaited = calloc(cover->blocks.count, 1);
	cp_vec_for_each(&cover->functions, f)
		if (cover->awaited)
			await(cover, f);
}

static bool has_site(const cprof_session *s, const struct engine_cover *cover, uint32_t block)
{
	size_t n = cp_vec_partition(&cover->branches, b, b->block < block);

	return block != CP_NO_BLOCK && cover->blocks.items[block].insn_size &&
	       (n == cover->branches.count || cover->branches.items[n].block != block ||
		!engine_cover_inferred(s, cover, (uint32_t)n));
}

bool engine_cover_later(const cprof_session *s, const struct engine_cover *cover, uint32_t branch,
			struct engine_cover_site *site)
{
	const struct cp_probe_branch *b = &cover->branches.items[branch];

	if (!site->size || !cover->awaited || !cover->awaited[b->block])
		return false;
	if (cover->watched.items[branch] != CP_NO_BLOCK) {
		site->ways[0] = engine_cover_own(cover, branch);
		site->ways[1] = site->ways[0] + 1;
	} else if (has_site(s, cover, b->taken_block) && has_site(s, cover, b->passed_block)) {
		site->ways[0] = cover->first_counter + b->taken_block;
		site->ways[1] = cover->first_counter + b->passed_block;
	} else {
		return false;
	}
	site->flags |= CP_SITE_LATER;
	return true;
}

/* ---- told ---- */

/* What a direction's counter says of the block before it. */
struct ways {
	bool gone, unknown;
};

static void add_way(const cprof_session *s, uint32_t counter, struct ways *w)
{
	uint64_t n = engine_cover_count(s, counter);

	w->unknown |= n == CPROF_COVERAGE_UNKNOWN;
	w->gone |= n && n != CPROF_COVERAGE_UNKNOWN;
}

static struct ways ways_of(const cprof_session *s, const struct engine_cover *cover,
			   uint32_t branch)
{
	const struct cp_probe_branch *b = &cover->branches.items[branch];
	struct ways w = { 0 };

	if (b->taken_block != CP_NO_BLOCK)
		add_way(s, cover->first_counter + b->taken_block, &w);
	if (b->passed_block != CP_NO_BLOCK)
		add_way(s, cover->first_counter + b->passed_block, &w);
	if (cover->watched.items[branch] != CP_NO_BLOCK) {
		add_way(s, engine_cover_own(cover, branch), &w);
		add_way(s, engine_cover_own(cover, branch) + 1, &w);
	}
	return w;
}

static bool infer(const cprof_session *s, const struct engine_cover *cover, uint32_t branch)
{
	uint32_t number = cover->first_counter + cover->branches.items[branch].block;
	_Atomic uint64_t *counter = &s->link.counters[number];
	uint64_t before = *counter, now = before;
	struct ways w;

	if (before & CP_COUNT_WHOLE && before != CP_COUNT_GAVE_UP)
		return false;
	w = ways_of(s, cover, branch);
	if (w.gone) /* and so it was left at its end */
		now = CP_COUNT_WHOLE | 1;
	else if (w.unknown && !before)
		now = CP_COUNT_GAVE_UP;
	*counter = now;
	return now != before;
}

void engine_cover_infer(const cprof_session *s, const struct engine_cover *cover,
			const struct engine_covered *f)
{
	bool more = s->link.shared->stats.counted || s->coverage->known.count;
	uint32_t i;

	/* Blocks mostly lead on, so one round does for nearly all. */
	while (more) {
		more = false;
		for (i = f->first_branch + f->branch_count; i > f->first_branch; i--)
			more |= engine_cover_inferred(s, cover, i - 1) && infer(s, cover, i - 1);
	}
}

void engine_cover_infer_all(const cprof_session *s, const struct engine_cover *cover)
{
	const struct engine_covered *f;

	cp_vec_for_each(&cover->functions, f)
		engine_cover_infer(s, cover, f);
}

void engine_cover_enter(const cprof_session *s, const struct engine_cover *cover,
			const struct engine_covered *f, uint32_t block)
{
	_Atomic uint64_t *counter = &s->link.counters[cover->first_counter + block];
	uint32_t i;

	for (i = f->first_branch; i < f->first_branch + f->branch_count; i++)
		if (cover->branches.items[i].block == block && engine_cover_inferred(s, cover, i) &&
		    (!*counter || *counter == CP_COUNT_GAVE_UP))
			*counter = 1;
}
