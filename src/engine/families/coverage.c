/* SPDX-License-Identifier: MIT
 *
 * Which blocks and branches of an object get counters, and which of them still
 * need a breakpoint.
 *
 * A direction of a conditional jump is told by the block behind it, where that
 * is reached in no other way; else the jump has a site of its own, until that
 * direction was seen.
 */
#include "engine/families/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/families/cover_kept.h"
#include "engine/families/inferred.h"
#include "engine/probes/objects.h"
#include "engine/probes/plans.h"
#include "engine/probes/sites.h"
#include "engine/probes/trace.h"
#include "engine/target/family.h"
#include "engine/target/profilers.h"
#include "engine/target/sources.h"
#include "engine/target/state.h"
#include "probe/overlap.h"

/* Hits of a branch that always goes the same way, before it is given up. Each costs a
 * stop, and a direction not seen in so many is rarely seen in ten times as many. */
#define BUDGET 32
/* The same, in all, where there were processes before: they have shown most of what there
 * is, and a suite of many short ones takes longer for these stops than for all else. */
#define BUDGET_LATER 8
/* The same while nobody came to the block that the direction leads to: it was not taken so far,
 * and what is missed is which of the ways there the first one took. */
#define BUDGET_UNREACHED 2
/* One process in so many looks again at branches that were given up. */
#define RETRIES 16
#define MARKS_MAX (UINT64_C(1) << 30)

struct engine_coverage *engine_coverage_get(cprof_session *s)
{
	if (s && !s->coverage && engine_calls_get(s))
		s->coverage = calloc(1, sizeof(*s->coverage));
	return s ? s->coverage : NULL;
}

void engine_coverage_free(cprof_session *s)
{
	uint64_t name, made;
	size_t at = 0;

	if (!s->coverage)
		return;
	while (cp_map_next(&s->coverage->names, &at, &name, &made))
		free((char *)(uintptr_t)made);
	cp_map_free(&s->coverage->names);
	cp_vec_free(&s->coverage->direct);
	free(s->coverage);
	s->coverage = NULL;
}

bool engine_coverage_wanted(const cprof_session *s)
{
	return s->coverage && s->coverage->enabled && s->coverage->filters;
}

void engine_cover_free(struct engine_cover *cover)
{
	if (!cover)
		return;
	cp_vec_free(&cover->functions);
	cp_vec_free(&cover->blocks);
	cp_vec_free(&cover->branches);
	cp_vec_free(&cover->watched);
	cp_vec_free(&cover->cases);
	cp_vec_free(&cover->outside);
	cp_vec_free(&cover->cuts);
	cp_vec_free(&cover->landings);
	free(cover->awaited);
	free(cover->marks);
	free(cover);
}

/* ---- choosing ---- */

/* Does any filter choose the function? Each is asked, whatever the others say. */
static bool chosen(cprof_session *s, cprof_image *image, struct cp_probe_function *f)
{
	const struct engine_calling outer = s->calling;
	const struct cprof_profiler_desc *p;
	const cprof_function *function;
	bool yes = false;

	if (f->kind == CP_PROBE_PLT)
		return false;
	function = engine_probe_function(s, image, f);
	for (p = function ? s->profilers : NULL; p; p = p->next) {
		cprof_coverage_filter_fn filter = p->coverage_filter;

		if (!filter)
			continue;
		s->calling = (struct engine_calling){ p->desc, "coverage_filter" };
		yes |= filter(p->prof, function);
		s->calling = outer;
	}
	return yes;
}

/* The kernel and unwinders know code that returns from signals by its bytes. */
static bool is_sigreturn(const struct cp_reader *file, const struct cp_probe_function *f)
{
	uint8_t code[32];
	size_t size, skip;

	if (f->size > sizeof(code))
		return false;
	size = file->read(file->ctx, f->address, code, sizeof(code));
	for (skip = 0; skip < 2 && skip < size; skip++)
		if (cp_arch_host()->is_sigreturn(code + skip, size - skip))
			return true;
	return false;
}

/* ---- planning ---- */

struct planning {
	cprof_session *s;
	struct engine_cover *cover;
	struct cp_reader file;
	struct cp_code code;
	struct cp_probe_blocks found;
	struct cp_probe_overlaps *overlaps;
};

/* Counters that one more function would make. */
static uint64_t counters_with(const struct planning *p)
{
	return p->s->coverage->counters + p->cover->blocks.count + p->found.blocks.count +
	       2 * (p->cover->branches.count + p->found.branches.count);
}

static uint32_t rebased(uint32_t block, uint32_t first)
{
	return block == CP_NO_BLOCK ? block : block + first;
}

static bool add_ways(struct engine_cover *cover, const struct cp_probe_blocks *found,
		     uint32_t first_block)
{
	const struct cp_probe_case *way;
	const uint64_t *to;

	cp_vec_for_each(&found->cases, way)
		if (!cp_vec_push(&cover->cases,
				 (struct cp_probe_case){ rebased(way->from, first_block),
							 rebased(way->to, first_block) }))
			return false;
	cp_vec_for_each(&found->outside, to)
		if (!cp_vec_push(&cover->outside, *to))
			return false;
	return true;
}

static bool add_function(struct planning *p, struct cp_probe_function *f)
{
	struct engine_cover *cover = p->cover;
	const struct cp_probe_blocks *found = &p->found;
	size_t blocks = cover->blocks.count, branches = cover->branches.count, i;
	struct engine_covered made = {
		.function = f,
		.first_block = (uint32_t)blocks,
		.block_count = (uint32_t)found->blocks.count,
		.first_branch = (uint32_t)branches,
		.branch_count = (uint32_t)found->branches.count,
		.first_case = (uint32_t)cover->cases.count,
		.case_count = (uint32_t)found->cases.count,
		.entry = found->entry,
		.complete = found->complete,
	};

	if (!cp_vec_reserve(&cover->blocks, blocks + found->blocks.count) ||
	    !cp_vec_reserve(&cover->branches, branches + found->branches.count) ||
	    !cp_vec_reserve(&cover->watched, branches + found->branches.count) ||
	    !cp_vec_push(&cover->functions, made))
		return false;
	memcpy(cover->blocks.items + blocks, found->blocks.items,
	       found->blocks.count * sizeof(*found->blocks.items));
	cover->blocks.count += found->blocks.count;
	for (i = 0; i < found->branches.count; i++) {
		struct cp_probe_branch *b = &cover->branches.items[cover->branches.count++];

		*b = found->branches.items[i];
		b->block = rebased(b->block, made.first_block);
		b->taken_block = rebased(b->taken_block, made.first_block);
		b->passed_block = rebased(b->passed_block, made.first_block);
		engine_cover_watch(cover, b); /* there is room */
	}
	return add_ways(cover, found, made.first_block);
}

/* Plans a function. False: no more can be planned. */
static bool plan_function(struct planning *p, struct engine_plans *plans,
			  struct cp_probe_function *f)
{
	struct cp_error *err;

	if (is_sigreturn(&p->file, f))
		return true;
	err = cp_probe_blocks_find(&p->code, p->s->calls->decoder, &p->file, &plans->functions, f,
				   &p->found);
	if (!err)
		err = cp_probe_overlaps_check(p->overlaps, &p->code, p->s->calls->decoder, &p->file,
					      f, &p->found);
	if (err) {
		cp_error_free(err);
		return false;
	}
	if (!p->found.blocks.count)
		return true;
	if (p->s->coverage->branches == CPROF_COVERAGE_BRANCHES_NONE)
		p->found.branches.count = 0;
	if (counters_with(p) >= CP_LINK_COUNTERS - 1) {
		engine_warn(p->s, "the program is too large: what is behind '%s' is not measured",
			    f->linkage_name);
		return false;
	}
	return add_function(p, f);
}

/* False without memory. */
static bool choose(cprof_session *s, cprof_image *image, struct engine_plans *plans,
		   struct engine_cover_chosen *ret)
{
	size_t i;

	for (i = 0; i < plans->functions.count; i++) {
		if (!chosen(s, image, &plans->functions.items[i]))
			continue;
		if (!ret->items.count)
			engine_sources_prefetch(image->assembly); /* meanwhile */
		if (!cp_vec_push(&ret->items, (uint32_t)i))
			return false;
	}
	return true;
}

/* False: not all of them could be planned. */
static bool plan_all(struct planning *p, struct engine_plans *plans,
		     const struct engine_cover_chosen *chosen)
{
	const uint32_t *number;

	p->overlaps = cp_probe_overlaps_create(&plans->functions);
	cp_vec_for_each(&chosen->items, number)
		if (!p->overlaps || !plan_function(p, plans, &plans->functions.items[*number]))
			return false;
	return true;
}

static struct engine_cover *plan(cprof_image *image, struct engine_plans *plans)
{
	cprof_session *s = image->process->session;
	cprof_assembly *a = image->assembly;
	struct planning p = {
		.s = s,
		.cover = calloc(1, sizeof(*p.cover)),
		.file = cp_probe_file_reader(a->image),
	};
	struct engine_cover_chosen chosen = { 0 };

	if (p.cover && choose(s, image, plans, &chosen) && chosen.items.count) {
		engine_plans_pads(a, plans); /* begin blocks, too */
		if (!engine_cover_load(s, a, &chosen, p.cover) && plan_all(&p, plans, &chosen) &&
		    p.cover->functions.count)
			engine_cover_save(s, a, &chosen, p.cover);
	}
	cp_vec_free(&chosen.items);
	cp_code_free(&p.code);
	cp_probe_blocks_free(&p.found);
	cp_probe_overlaps_destroy(p.overlaps);
	if (!p.cover)
		return NULL;
	p.cover->first_counter = s->coverage->counters;
	s->coverage->counters += (uint32_t)(p.cover->blocks.count + 2 * p.cover->branches.count);
	cp_info("%s: %zu functions, %zu blocks, %zu branches", image->assembly->path,
		p.cover->functions.count, p.cover->blocks.count, p.cover->branches.count);
	return p.cover;
}

struct engine_cover *engine_coverage_plan(cprof_image *image)
{
	cprof_session *s = image->process->session;
	cprof_assembly *a = image->assembly;
	struct engine_plans *plans;

	if (!engine_coverage_wanted(s))
		return NULL;
	plans = a->cover ? NULL : engine_plans_of(a);
	if (plans && engine_plans_read(a, plans) && engine_decoder(s->calls))
		a->cover = plan(image, plans);
	return a->cover && a->cover->blocks.count ? a->cover : NULL;
}

/* ---- what is still needed ---- */

uint64_t engine_cover_count(const cprof_session *s, uint32_t counter)
{
	uint64_t n = atomic_load_explicit(&s->link.counters[counter], memory_order_relaxed);
	const struct engine_coverage *c = s->coverage;
	uint64_t direct = counter < c->direct.count ? c->direct.items[counter] : 0;

	if (n == CP_COUNT_GAVE_UP)
		return direct ? direct : CPROF_COVERAGE_UNKNOWN;
	n = (n & ~CP_COUNT_WHOLE) + direct;
	return s->coverage->mode == CPROF_COVERAGE_ONESHOT && n ? 1 : n;
}

bool engine_cover_whole(const cprof_session *s, uint32_t counter)
{
	uint64_t n = atomic_load_explicit(&s->link.counters[counter], memory_order_relaxed);

	return n != CP_COUNT_GAVE_UP && n & CP_COUNT_WHOLE;
}

bool engine_cover_seen(const cprof_session *s, uint32_t counter)
{
	uint64_t n;

	/* Before the first count, reading a counter would only have its page made. */
	if (!s->link.shared->stats.counted && !s->coverage->known.count &&
	    !s->coverage->direct.count)
		return false;
	n = engine_cover_count(s, counter);
	return n && n != CPROF_COVERAGE_UNKNOWN;
}

uint32_t engine_cover_budget(const cprof_session *s, const struct engine_cover *cover)
{
	if (s->coverage->branches != CPROF_COVERAGE_BRANCHES_BUDGET)
		return 0;
	return cover->processes > 1 ? BUDGET_LATER : BUDGET;
}

/* In the first processes, and in fewer and fewer of those that follow: what always goes
 * one way costs a stop each time. */
void engine_cover_begin(struct engine_cover *cover)
{
	uint32_t n = ++cover->processes;

	cover->retries = !(n & (n - 1)) || n % RETRIES == 0;
}

bool engine_cover_block(const cprof_session *s, const struct engine_cover *cover, uint32_t number,
			struct engine_cover_site *ret)
{
	const struct cp_probe_block *b = &cover->blocks.items[number];
	bool once = s->coverage->mode == CPROF_COVERAGE_ONESHOT;

	ret->address = b->address;
	ret->code = b->code;
	ret->size = b->insn_size;
	ret->flags = CP_SITE_COUNT | (once ? CP_SITE_ONCE : 0);
	ret->counter = cover->first_counter + number;
	return !once || !engine_cover_seen(s, ret->counter);
}

static void refuse(const cprof_session *s, uint32_t counter)
{
	uint64_t none = 0;

	atomic_compare_exchange_strong(&s->link.counters[counter], &none, CP_COUNT_GAVE_UP);
}

/* Hits of a branch that is watched, in all processes. */
static uint64_t hits_of(const cprof_session *s, uint32_t first)
{
	uint64_t n = 0, one;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		one = atomic_load_explicit(&s->link.counters[first + i], memory_order_relaxed);
		n += one == CP_COUNT_GAVE_UP ? 0 : one;
	}
	return n;
}

uint32_t engine_cover_behind(const struct engine_cover *cover, uint32_t branch, bool passed)
{
	const struct cp_probe_branch *b = &cover->branches.items[branch];
	size_t n = cp_vec_partition(&cover->functions, f, f->first_block <= b->block);
	uint32_t to = passed ? cover->blocks.items[b->block].next : b->target_block;

	return n && to ? cover->functions.items[n - 1].first_block + to - 1 : CP_NO_BLOCK;
}

/* Does the direction lead to a block that can tell of it, to which nobody came? */
static bool leads_nowhere(const cprof_session *s, const struct engine_cover *cover, uint32_t branch,
			  bool passed)
{
	uint32_t behind = engine_cover_behind(cover, branch, passed);

	return behind != CP_NO_BLOCK && cover->blocks.items[behind].insn_size &&
	       !engine_cover_count(s, cover->first_counter + behind);
}

/* Is the direction no longer waited for? Where a branch was given up in another process,
 * it is looked at once more in some (engine_cover_begin()): there it gives up soon. One
 * that was never counted could not have its breakpoint. */
static bool given_up(const cprof_session *s, const struct engine_cover *cover, uint32_t branch,
		     bool passed)
{
	uint32_t first = engine_cover_own(cover, branch);
	uint64_t hits;

	if (!engine_cover_seen(s, first + !passed))
		return false;
	hits = hits_of(s, first);
	if (cover->processes > 1 && engine_cover_budget(s, cover) && hits >= BUDGET_UNREACHED &&
	    leads_nowhere(s, cover, branch, passed)) {
		refuse(s, first + passed); /* who comes there next is not seen to do so */
		return true;
	}
	return !cover->retries && hits >= BUDGET_LATER &&
	       engine_cover_count(s, first + passed) == CPROF_COVERAGE_UNKNOWN;
}

static bool waits(const cprof_session *s, const struct engine_cover *cover, uint32_t number,
		  bool passed)
{
	const struct cp_probe_branch *b = &cover->branches.items[number];

	return (passed ? b->passed_block : b->taken_block) == CP_NO_BLOCK &&
	       !engine_cover_seen(s, engine_cover_own(cover, number) + passed) &&
	       !given_up(s, cover, number, passed);
}

bool engine_cover_branch(const cprof_session *s, const struct engine_cover *cover, uint32_t number,
			 struct engine_cover_site *ret)
{
	const struct cp_probe_branch *b = &cover->branches.items[number];
	unsigned flags = CP_SITE_BRANCH | CP_SITE_ONCE;

	ret->address = b->address;
	ret->code = b->code;
	ret->size = b->size;
	ret->flags = CP_SITE_BRANCH;
	ret->counter = engine_cover_own(cover, number);
	if (s->coverage->mode == CPROF_COVERAGE_COUNT)
		return true;
	if (waits(s, cover, number, false))
		flags |= CP_SITE_TAKEN;
	if (waits(s, cover, number, true))
		flags |= CP_SITE_PASSED;
	ret->flags = (uint16_t)flags;
	return flags & (CP_SITE_TAKEN | CP_SITE_PASSED);
}

/* A branch ends its block, so its site comes before that of the next block. */
bool engine_cover_next(const cprof_session *s, const struct engine_cover *cover,
		       struct engine_cover_cursor *at, struct engine_cover_site *ret)
{
	for (;;) {
		uint32_t branch = at->branch;

		ret->slot = at->block + at->watched;
		if (branch < cover->branches.count &&
		    cover->branches.items[branch].block < at->block) {
			at->branch++;
			if (cover->watched.items[branch] == CP_NO_BLOCK)
				continue;
			at->watched++;
			if (engine_cover_branch(s, cover, branch, ret))
				return true;
		} else if (at->block < cover->blocks.count) {
			bool inferred = branch < cover->branches.count &&
					cover->branches.items[branch].block == at->block &&
					engine_cover_inferred(s, cover, branch);

			at->block++;
			if (engine_cover_block(s, cover, at->block - 1, ret) &&
			    (!inferred || engine_cover_later(s, cover, branch, ret)))
				return true;
		} else {
			return false;
		}
	}
}

void engine_cover_refuse(cprof_session *s, const struct engine_cover_site *site)
{
	refuse(s, site->counter);
	if (site->flags & CP_SITE_BRANCH)
		refuse(s, site->counter + 1);
}

void engine_cover_refuse_all(cprof_session *s, const struct engine_cover *cover)
{
	struct engine_cover_cursor cursor = { 0 };
	struct engine_cover_site site;

	while (engine_cover_next(s, cover, &cursor, &site))
		engine_cover_refuse(s, &site);
}

/* ---- where sites are ---- */

static void mark(struct engine_cover *cover, uint64_t address)
{
	uint64_t at = address - cover->low;

	cover->marks[at / 8] |= (uint8_t)(1u << at % 8);
}

/* A bit for each byte between the first site and the last. */
static void make_marks(struct engine_cover *cover)
{
	uint64_t low = UINT64_MAX, high = 0;
	size_t i;

	for (i = 0; i < cover->blocks.count; i++) {
		const struct cp_probe_block *b = &cover->blocks.items[i];

		low = b->address < low ? b->address : low;
		high = b->address + b->size >= high ? b->address + b->size + 1 : high;
	}
	if (high - low >= MARKS_MAX)
		return;
	cover->marks = calloc((high - low) / 8 + 1, 1);
	if (!cover->marks)
		return;
	cover->low = low;
	cover->span = high - low;
	for (i = 0; i < cover->blocks.count; i++)
		mark(cover, cover->blocks.items[i].address);
	for (i = 0; i < cover->branches.count; i++)
		if (cover->branches.items[i].address - low < cover->span)
			mark(cover, cover->branches.items[i].address);
}

bool engine_cover_has(struct engine_cover *cover, uint64_t address)
{
	uint64_t at;

	if (!cover->marks)
		make_marks(cover);
	at = address - cover->low;
	/* Without marks any address may be a site: the file has the right bytes. */
	return !cover->marks || (at < cover->span && cover->marks[at / 8] >> at % 8 & 1);
}
