/* SPDX-License-Identifier: MIT
 *
 * Blocks that were left in the middle: an instruction failed, and the program went
 * on elsewhere, or nowhere.
 *
 *     block   counter        1
 *       mov   (%rax),%edx       failed
 *     ─ cut ─ counter        0, or unknown
 *       add   $1,%ecx
 *
 * A block is counted where it begins, once. So the piece behind the instruction gets a
 * counter of its own, in all processes, while the thread is held. Whether the piece ran
 * before is known
 *
 *     yes     where a thread that counted the block came to another one by itself
 *     no      where nothing that the block goes on to was ever reached
 *
 * Else it is unknown, until the piece is counted; but where the thread that failed
 * counted the block itself, saw nothing new since, and nothing there leads back to the
 * block, the piece hardly ran. With exact counts it ran as often as the block was
 * counted, but for this time.
 */
#include "engine/families/cuts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/families/counting.h"
#include "engine/families/coverage.h"
#include "engine/families/inferred.h"
#include "engine/probes/added.h"
#include "engine/probes/arm.h"
#include "engine/probes/sites.h"
#include "engine/target/images.h"
#include "engine/target/process.h"
#include "engine/target/state.h"
#include "link/coverage.h"

/* Cuts of an object; what is behind further faults is unknown. */
#define CUTS_MAX 1024

/* A block that an instruction failed in. */
struct failed {
	cprof_session *s;
	struct engine_cover *cover;
	const struct engine_covered *function;
	uint32_t block;
	uint32_t piece; /* of the block */
	struct cp_insn last; /* of the block */
	bool fresh; /* the thread that failed counted the piece, and nothing since */
};

/* ---- pieces ---- */

uint32_t engine_cuts_of(const struct engine_cover *cover, uint32_t block, uint32_t *first_ret)
{
	size_t first = cp_vec_partition(&cover->cuts, c, c->block < block);
	size_t end = cp_vec_partition(&cover->cuts, c, c->block <= block);

	*first_ret = (uint32_t)first;
	return (uint32_t)(end - first);
}

static uint32_t counter_of(const struct engine_cover *cover, uint32_t block, uint32_t piece)
{
	uint32_t first;

	if (!piece)
		return cover->first_counter + block;
	engine_cuts_of(cover, block, &first);
	return cover->cuts.items[first + piece - 1].counter;
}

static bool is_executed(uint64_t count)
{
	return count && count != CPROF_COVERAGE_UNKNOWN;
}

uint64_t engine_piece_count(const cprof_session *s, const struct engine_cover *cover,
			    uint32_t block, uint32_t n)
{
	uint32_t first, cuts = engine_cuts_of(cover, block, &first), i;
	uint64_t own = engine_cover_count(s, counter_of(cover, block, n));
	bool ran = false;

	if (s->coverage->mode == CPROF_COVERAGE_COUNT)
		return n && own != CPROF_COVERAGE_UNKNOWN
			       ? own + cover->cuts.items[first + n - 1].before
			       : own;
	/* A thread that executes a later piece, or an earlier one to its end, executes
	 * this one. */
	for (i = 0; i <= cuts && !is_executed(own); i++) {
		uint32_t counter = counter_of(cover, block, i);

		ran |= i < n ? engine_cover_whole(s, counter) : engine_cover_seen(s, counter);
	}
	return ran ? 1 : own;
}

/* ---- what is known ---- */

static bool never_reached(const struct failed *f, uint64_t address)
{
	const struct cp_probe_block *blocks = f->cover->blocks.items + f->function->first_block;
	uint32_t i;

	for (i = 0; i < f->function->block_count; i++)
		if (blocks[i].address == address)
			return !engine_cover_count(f->s, f->cover->first_counter +
								 f->function->first_block + i);
	return false;
}

static const struct cp_probe_branch *branch_of(const struct failed *f, uint32_t *number_ret)
{
	uint32_t i;

	for (i = 0; i < f->function->branch_count; i++) {
		*number_ret = f->function->first_branch + i;
		if (f->cover->branches.items[*number_ret].block == f->block)
			return &f->cover->branches.items[*number_ret];
	}
	return NULL;
}

/* Has certainly nobody ever come to the end of the block? */
static bool never_left(const struct failed *f)
{
	uint64_t next = f->last.pc + f->last.size;
	uint32_t number, own;

	switch ((enum cp_flow)f->last.flow) {
	case CP_FLOW_BRANCH:
		/* A jump with a site of its own says so itself. */
		if (branch_of(f, &number) && f->cover->watched.items[number] != CP_NO_BLOCK) {
			own = engine_cover_own(f->cover, number);
			return !engine_cover_count(f->s, own) && !engine_cover_count(f->s, own + 1);
		}
		return never_reached(f, next) && never_reached(f, f->last.target);
	case CP_FLOW_JUMP:
		return never_reached(f, f->last.target);
	case CP_FLOW_ON:
		return never_reached(f, next);
	case CP_FLOW_CALL:
	case CP_FLOW_CALL_INDIRECT:
	case CP_FLOW_SYSCALL:
		/* The function that was called, or the system call, need not have
		 * returned. */
		return f->fresh && never_reached(f, next);
	case CP_FLOW_JUMP_INDIRECT:
	case CP_FLOW_RETURN:
	case CP_FLOW_END:
		break;
	}
	return false;
}

/* Did a thread come to the end of the piece? */
static bool was_left(const struct failed *f)
{
	uint32_t first, cuts = engine_cuts_of(f->cover, f->block, &first);

	return engine_cover_whole(f->s, counter_of(f->cover, f->block, f->piece)) ||
	       (f->piece < cuts &&
		is_executed(engine_piece_count(f->s, f->cover, f->block, f->piece + 1)));
}

/* Is it known whether what is behind a new cut ran before? */
static bool is_known(const struct failed *f)
{
	uint32_t first, cuts = engine_cuts_of(f->cover, f->block, &first);

	if (f->s->coverage->mode == CPROF_COVERAGE_COUNT)
		return true;
	if (f->piece + 1 < cuts)
		return !engine_piece_count(f->s, f->cover, f->block, f->piece + 2);
	return never_left(f);
}

static void visit(const struct failed *f, uint64_t address, uint8_t *visited)
{
	const struct cp_probe_block *blocks = f->cover->blocks.items + f->function->first_block;
	uint32_t i;

	for (i = 0; i < f->function->block_count; i++)
		if (blocks[i].address == address &&
		    engine_cover_count(f->s,
				       f->cover->first_counter + f->function->first_block + i))
			visited[i] |= 1;
}

/* Do blocks that were reached lead from the end of the block back to its beginning? */
static bool leads_back(const struct failed *f)
{
	const struct cp_probe_block *blocks = f->cover->blocks.items + f->function->first_block;
	uint32_t count = f->function->block_count, i, k, self = f->block - f->function->first_block;
	uint8_t *visited = calloc(count, 1);
	bool more = visited, back;

	for (i = self; more; i = k) {
		const struct cp_probe_branch *b;

		if (blocks[i].next)
			visit(f, blocks[blocks[i].next - 1].address, visited);
		for (k = 0; k < f->function->branch_count; k++) {
			b = &f->cover->branches.items[f->function->first_branch + k];
			if (b->block - f->function->first_block == i)
				visit(f, b->target, visited);
		}
		for (k = 0; k < count && visited[k] != 1;)
			k++;
		more = k < count;
		if (more)
			visited[k] |= 2;
	}
	back = !visited || visited[self];
	free(visited);
	return back;
}

/* ---- cutting ---- */

static bool needed(const cprof_session *s, const struct engine_cut *cut)
{
	return s->coverage->mode == CPROF_COVERAGE_COUNT || !engine_cover_seen(s, cut->counter);
}

static void give_up(const cprof_session *s, uint32_t counter)
{
	uint64_t none = 0;

	atomic_compare_exchange_strong(&s->link.counters[counter], &none, CP_COUNT_GAVE_UP);
}

static void arm(cprof_image *image, const struct engine_cut *cut)
{
	const cprof_session *s = image->process->session;
	bool once = s->coverage->mode == CPROF_COVERAGE_ONESHOT;
	struct engine_counting site = {
		.address = cut->address,
		.counter = cut->counter,
		.flags = (uint16_t)(CP_SITE_COUNT | CP_SITE_MIDDLE | (once ? CP_SITE_ONCE : 0)),
		.size = cut->size,
		.code = cut->code,
	};
	uint32_t armed;
	int errnum = engine_arm_counting(image, &site, 1,
					 engine_cover_budget(s, image->assembly->cover), &armed);

	if (!errnum && site.refused)
		errnum = EINVAL;
	if (!errnum || errnum == ESRCH)
		return;
	cp_debug("behind %" PRIx64 " in %d: %s", cut->address, image->process->pid,
		 strerror(errnum));
	if (engine_process(image->process->session, image->process->pid) == image->process)
		give_up(image->process->session, cut->counter);
}

void engine_cuts_arm(cprof_image *image)
{
	const struct engine_cover *cover = image->assembly->cover;
	size_t i;

	for (i = 0; cover && i < cover->cuts.count; i++)
		if (needed(image->process->session, &cover->cuts.items[i]))
			arm(image, &cover->cuts.items[i]);
}

static void arm_everywhere(cprof_session *s, const cprof_assembly *a, const struct engine_cut *cut)
{
	size_t i, k;

	for (i = 0; i < s->processes.count; i++) {
		for (k = 0; k < s->processes.items[i]->images.count; k++) {
			cprof_image *image = s->processes.items[i]->images.items[k];

			if (image->assembly == a && image->mapped && image->armed)
				arm(image, cut);
		}
	}
}

static void cut_here(struct failed *f, cprof_image *image, struct engine_cut *cut)
{
	cprof_session *s = f->s;
	uint32_t first, counter = counter_of(f->cover, f->block, f->piece);
	uint64_t count = engine_cover_count(s, counter);
	size_t at = engine_cuts_of(f->cover, f->block, &first) ? first + f->piece : first;

	if (s->coverage->counters >= CP_LINK_COUNTERS - 1)
		return;
	cut->block = f->block;
	cut->counter = s->coverage->counters++;
	if (is_executed(count)) /* exact: all its counts but this time's */
		cut->before = engine_piece_count(s, f->cover, f->block, f->piece) - 1;
	if (!cp_vec_insert(&f->cover->cuts, at, *cut))
		return;
	if (f->cover->cuts.count > CUTS_MAX)
		give_up(s, cut->counter);
	else
		arm_everywhere(s, image->assembly, cut);
	cp_debug("%s: cut behind a fault, at %" PRIx64, image->assembly->path, cut->address);
	/* What is known is asked now, when nobody can come there unseen. */
	if (is_known(f))
		return;
	if (f->fresh && !leads_back(f))
		f->cover->cuts.items[at].unsure = true;
	else
		give_up(s, cut->counter);
}

/* Decodes the block: where the instruction at `address` ends, the one behind it, and
 * the last one. False: `address` is in the last one. */
static bool decode(struct failed *f, const cprof_image *image, uint64_t address,
		   struct engine_cut *cut)
{
	const struct cp_probe_block *b = &f->cover->blocks.items[f->block];
	struct cp_reader file = cp_probe_file_reader(image->assembly->image);
	uint64_t at = b->address;
	uint8_t code[sizeof(cut->code)];
	size_t size;

	for (; at < b->address + b->size; at += f->last.size) {
		size = file.read(file.ctx, at, code, sizeof(code));
		if (!cp_decode(f->s->calls->decoder, code, size, at, &f->last))
			return false;
		if (cut->address == at) {
			memcpy(cut->code, code, sizeof(code));
			cut->size = f->last.size;
		}
		if (at == address)
			cut->address = at + f->last.size;
	}
	return cut->size;
}

static void fail_in(struct failed *f, cprof_image *image, uint64_t address, uint32_t entered)
{
	struct engine_cut cut = { .address = 0 };
	uint32_t first, cuts = engine_cuts_of(f->cover, f->block, &first);

	if (!decode(f, image, address, &cut))
		return;
	for (f->piece = 0; f->piece < cuts; f->piece++)
		if (f->cover->cuts.items[first + f->piece].address > address)
			break;
	if (f->piece < cuts && f->cover->cuts.items[first + f->piece].address == cut.address)
		return;
	f->fresh = entered == counter_of(f->cover, f->block, f->piece) + 1;
	if (f->s->coverage->mode == CPROF_COVERAGE_COUNT || !was_left(f))
		cut_here(f, image, &cut);
}

void engine_on_fault(cprof_session *s, cprof_process *p, const struct cp_event_fault *e)
{
	const struct engine_text *text = engine_find_text(p, e->pc);
	cprof_image *image = text ? text->image : NULL;
	struct failed f = { .s = s, .cover = image ? image->assembly->cover : NULL };
	uint64_t address;
	size_t i;

	if (!f.cover || !s->coverage || !image->armed)
		return;
	address = e->pc - image->bias;
	engine_counting_failed(image, address);
	engine_counting_collect(s);
	/* Functions may lie on top of each other. */
	for (i = 0; i < f.cover->functions.count; i++) {
		f.function = &f.cover->functions.items[i];
		for (f.block = f.function->first_block;
		     f.block < f.function->first_block + f.function->block_count; f.block++) {
			const struct cp_probe_block *b = &f.cover->blocks.items[f.block];

			if (address - b->address >= b->size)
				continue;
			engine_cover_infer(s, f.cover, f.function);
			engine_cover_enter(s, f.cover, f.function, f.block);
			fail_in(&f, image, address, e->entered);
		}
	}
}

void engine_cuts_warn(cprof_session *s)
{
	uint64_t n = s->link.shared->stats.faults_untold;

	if (n && engine_coverage_wanted(s))
		engine_warn(s,
			    "%" PRIu64 " faults were not looked at, of more instructions than can "
			    "be: what follows these in their blocks counts as reached",
			    n);
}
