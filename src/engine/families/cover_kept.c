/* SPDX-License-Identifier: MIT
 *
 * To find the blocks of a large program takes longer than many a program runs. What is
 * kept are the arrays of struct engine_cover as they lie in memory: only the very build of
 * cprof that wrote them reads them (base/cache.h). Each number in them is checked before
 * it is believed.
 *
 *     counts │ functions │ blocks │ branches │ cases │ outside
 */
#include "engine/families/cover_kept.h"

#include <string.h>

#include "base/cursor.h"
#include "engine/probes/plans.h"
#include "engine/target/kept.h"
#include "engine/target/state.h"

#define FORMAT 1

struct counts {
	uint32_t functions, blocks, branches, cases, outside;
};

/* A struct engine_covered. */
struct function {
	uint32_t number; /* of the object's functions */
	uint32_t blocks, branches, cases; /* so many */
	uint32_t entry;
	uint32_t complete;
};

static struct engine_kept_key key_of(const cprof_session *s, const cprof_assembly *a,
				     const struct engine_cover_chosen *chosen)
{
	const uint64_t words[] = {
		cp_probe_functions_hash(&a->plans->functions),
		cp_hash_bytes(chosen->items.items,
			      chosen->items.count * sizeof(*chosen->items.items)),
		s->coverage->branches == CPROF_COVERAGE_BRANCHES_NONE,
	};

	return (struct engine_kept_key){ "coverage", FORMAT, cp_hash_bytes(words, sizeof(words)) };
}

bool engine_cover_watch(struct engine_cover *cover, const struct cp_probe_branch *b)
{
	/* Both directions may be told by the blocks behind the branch. */
	bool told = b->taken_block != CP_NO_BLOCK && b->passed_block != CP_NO_BLOCK;

	return cp_vec_push(&cover->watched, told ? CP_NO_BLOCK : cover->watched_count++);
}

/* ---- writing ---- */

#define ADD_ALL(out, vec) cp_buf_add(out, (vec)->items, (vec)->count * sizeof(*(vec)->items))

static void save_functions(const cprof_assembly *a, const struct engine_cover *cover,
			   struct cp_buf *out)
{
	const struct engine_covered *f;

	cp_vec_for_each(&cover->functions, f) {
		const struct function made = {
			.number = (uint32_t)(f->function - a->plans->functions.items),
			.blocks = f->block_count,
			.branches = f->branch_count,
			.cases = f->case_count,
			.entry = f->entry,
			.complete = f->complete,
		};

		cp_buf_add(out, &made, sizeof(made));
	}
}

void engine_cover_save(cprof_session *s, const cprof_assembly *a,
		       const struct engine_cover_chosen *chosen, const struct engine_cover *cover)
{
	const struct engine_kept_key key = key_of(s, a, chosen);
	const struct counts counts = {
		(uint32_t)cover->functions.count, (uint32_t)cover->blocks.count,
		(uint32_t)cover->branches.count,  (uint32_t)cover->cases.count,
		(uint32_t)cover->outside.count,
	};
	struct cp_buf out = { 0 };

	if (!s->kept)
		return;
	cp_buf_add(&out, &counts, sizeof(counts));
	save_functions(a, cover, &out);
	ADD_ALL(&out, &cover->blocks);
	ADD_ALL(&out, &cover->branches);
	ADD_ALL(&out, &cover->cases);
	ADD_ALL(&out, &cover->outside);
	engine_kept_put(s, a, &key, &out);
}

/* ---- reading ---- */

#define TAKE_ALL(from, n, vec) \
	(cp_vec_reserve(vec, n) && take_bytes(from, (n) * sizeof(*(vec)->items), (vec)->items) && \
	 ((vec)->count = (n), true))

static bool take_bytes(struct cp_cursor *from, size_t size, void *to)
{
	const void *bytes = cp_cursor_bytes(from, size);

	if (!bytes && size)
		return false;
	if (size)
		memcpy(to, bytes, size);
	return true;
}

static bool is_block(const struct engine_covered *f, uint32_t number)
{
	return number - f->first_block < f->block_count;
}

static bool may_be_block(const struct engine_covered *f, uint32_t number)
{
	return number == CP_NO_BLOCK || is_block(f, number);
}

static bool blocks_ok(const cprof_assembly *a, const struct engine_cover *cover,
		      const struct engine_covered *f)
{
	struct cp_vaddr start = { 0 }, end = { 0 };
	uint32_t i;

	for (i = f->first_block; i < f->first_block + f->block_count; i++) {
		const struct cp_probe_block *b = &cover->blocks.items[i];
		struct cp_vaddr at = { b->address };

		if (at.v < start.v || at.v >= end.v) {
			start = at;
			if (!cp_image_code(a->image, at, &end) && b->insn_size)
				return false;
		}
		if ((i > f->first_block && b[-1].address >= b->address) ||
		    b->insn_size > sizeof(b->code) || b->next > f->block_count ||
		    b->size > UINT64_MAX - b->address)
			return false;
	}
	return f->entry < f->block_count;
}

static bool branches_ok(const struct engine_cover *cover, const struct engine_covered *f)
{
	uint32_t i;

	for (i = f->first_branch; i < f->first_branch + f->branch_count; i++) {
		const struct cp_probe_branch *b = &cover->branches.items[i];

		if (!is_block(f, b->block) || b->size > sizeof(b->code) ||
		    b->target_block > f->block_count || !may_be_block(f, b->taken_block) ||
		    !may_be_block(f, b->passed_block) ||
		    (i > f->first_branch && b[-1].block >= b->block))
			return false;
	}
	for (i = f->first_case; i < f->first_case + f->case_count; i++)
		if (!is_block(f, cover->cases.items[i].from) ||
		    !is_block(f, cover->cases.items[i].to))
			return false;
	return true;
}

/* The function that is next, of counts that add up to no more than there are. */
static bool add_function(const cprof_assembly *a, const struct function *from,
			 const struct counts *counts, struct engine_cover *cover)
{
	const struct engine_covered *last =
		cover->functions.count ? &cover->functions.items[cover->functions.count - 1] : NULL;
	struct engine_covered f = {
		.first_block = last ? last->first_block + last->block_count : 0,
		.block_count = from->blocks,
		.first_branch = last ? last->first_branch + last->branch_count : 0,
		.branch_count = from->branches,
		.first_case = last ? last->first_case + last->case_count : 0,
		.case_count = from->cases,
		.entry = from->entry,
		.complete = from->complete,
	};

	if (from->number >= a->plans->functions.count ||
	    f.block_count > counts->blocks - f.first_block ||
	    f.branch_count > counts->branches - f.first_branch ||
	    f.case_count > counts->cases - f.first_case)
		return false;
	f.function = &a->plans->functions.items[from->number];
	return (!last || last->function < f.function) && cp_vec_push(&cover->functions, f);
}

static bool take_functions(const cprof_assembly *a, const struct counts *counts,
			   struct cp_cursor *from, struct engine_cover *cover)
{
	const struct engine_covered *last;
	struct function f;
	uint32_t i;

	for (i = 0; i < counts->functions; i++)
		if (!take_bytes(from, sizeof(f), &f) || !add_function(a, &f, counts, cover))
			return false;
	last = cover->functions.count ? &cover->functions.items[cover->functions.count - 1] : NULL;
	return last && last->first_block + last->block_count == counts->blocks &&
	       last->first_branch + last->branch_count == counts->branches &&
	       last->first_case + last->case_count == counts->cases;
}

static bool take(const cprof_session *s, const cprof_assembly *a, struct cp_cursor *from,
		 struct engine_cover *cover)
{
	const struct engine_covered *f;
	struct counts counts;
	size_t i;

	if (!take_bytes(from, sizeof(counts), &counts) ||
	    s->coverage->counters + (uint64_t)counts.blocks + UINT64_C(2) * counts.branches >=
		    CP_LINK_COUNTERS - 1 ||
	    !take_functions(a, &counts, from, cover) ||
	    !TAKE_ALL(from, counts.blocks, &cover->blocks) ||
	    !TAKE_ALL(from, counts.branches, &cover->branches) ||
	    !TAKE_ALL(from, counts.cases, &cover->cases) ||
	    !TAKE_ALL(from, counts.outside, &cover->outside) || cp_cursor_left(from))
		return false;
	cp_vec_for_each(&cover->functions, f)
		if (!blocks_ok(a, cover, f) || !branches_ok(cover, f))
			return false;
	for (i = 0; i < cover->branches.count; i++)
		if (!engine_cover_watch(cover, &cover->branches.items[i]))
			return false;
	return true;
}

static void clear(struct engine_cover *cover)
{
	cover->functions.count = cover->blocks.count = cover->branches.count = 0;
	cover->cases.count = cover->outside.count = cover->watched.count = 0;
	cover->watched_count = 0;
}

bool engine_cover_load(cprof_session *s, const cprof_assembly *a,
		       const struct engine_cover_chosen *chosen, struct engine_cover *cover)
{
	struct engine_kept_key key;
	struct cp_buf bytes = { 0 };
	struct cp_cursor from;
	bool ok = false;

	if (!s->kept)
		return false;
	key = key_of(s, a, chosen);
	if (engine_kept_get(s, a, &key, &bytes)) {
		from = cp_cursor(bytes.bytes, bytes.size);
		ok = take(s, a, &from, cover);
		if (!ok)
			clear(cover);
	}
	cp_buf_free(&bytes);
	return ok;
}
