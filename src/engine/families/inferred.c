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
 */
#include "engine/families/inferred.h"

#include "engine/families/coverage.h"
#include "engine/target/state.h"

bool engine_cover_inferred(const cprof_session *s, const struct engine_cover *cover,
			   uint32_t branch)
{
	const struct cp_probe_branch *b = &cover->branches.items[branch];

	return s->coverage->mode == CPROF_COVERAGE_ONESHOT &&
	       (cover->watched.items[branch] == CP_NO_BLOCK || b->size);
}

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
