/* SPDX-License-Identifier: MIT
 *
 *     first recording    [ rows 1 2 3 4       ][ 5 ]
 *     second             [ 1 2 ][ (2) 3 4     ][ 5 ]      (2): CUT
 *     third              [ 1 2 3    ][ (3) 4  ][ 5 ]
 *     together           [ 1 2 ][ (2) 3 ][ (3) 4 ][ 5 ]
 *
 * Rows have no addresses; but each is in one block of each recording, and where it is
 * when they are put together is what is left of all these: it begins with the last one
 * of them.
 */
#include "record/merge_cuts.h"

#include <stdlib.h>

struct joining {
	const struct cp_cut_function *all;
	size_t count;
	const struct cp_cut_function *best;
	struct cp_joined_cuts *to;
	bool no_memory;
};

static const struct cp_coverage_block *blocks_of(const struct cp_cut_function *of)
{
	return of->c->blocks + of->f->first_block;
}

uint32_t cp_cuts_block(const struct cp_cut_function *of, uint64_t address)
{
	const struct cp_coverage_block *b = blocks_of(of);
	uint32_t low = 0, high = of->f->block_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (b[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low ||
	    (address != b[low - 1].address && address - b[low - 1].address >= b[low - 1].size))
		return CP_RECORD_NONE;
	return low - 1;
}

/* ---- blocks ---- */

static int compare_starts(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* 1 + the number of the joined block that begins there. */
static uint32_t number_at(const struct joining *j, uint64_t address)
{
	const struct cp_cut_function joined = { &j->to->c, &j->to->f };
	uint32_t n = cp_cuts_block(&joined, address);

	return n == CP_RECORD_NONE ? 0 : n + 1;
}

/* All of them have bytes from `start` to `end` in one block. */
static bool all_have(const struct joining *j, uint64_t start, uint64_t end)
{
	size_t i;

	for (i = 0; i < j->count; i++) {
		uint32_t n = cp_cuts_block(&j->all[i], start);
		const struct cp_coverage_block *b = blocks_of(&j->all[i]);

		if (n == CP_RECORD_NONE || b[n].address + b[n].size < end)
			return false;
	}
	return true;
}

static uint64_t size_of(const struct cp_cut_function *of)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < of->f->block_count; i++)
		sum += blocks_of(of)[i].size;
	return sum;
}

/* From one of `starts` to the next, or to the end of the block. */
static bool add_blocks(struct joining *j, const uint64_t *starts, size_t count)
{
	const struct cp_coverage_block *blocks = blocks_of(j->best), *b;
	uint64_t end;
	uint32_t n;
	size_t i;

	for (i = 0; i < count; i++) {
		n = cp_cuts_block(j->best, starts[i]);
		if (n == CP_RECORD_NONE)
			return false;
		b = &blocks[n];
		end = b->address + b->size;
		if (i + 1 < count && starts[i + 1] < end)
			end = starts[i + 1];
		if (!all_have(j, starts[i], end))
			return false;
		if (!cp_vec_push(&j->to->blocks, (struct cp_coverage_block){
							 .address = starts[i],
							 .size = (uint32_t)(end - starts[i]),
							 .next = b->next,
							 .landing = b->landing,
						 })) {
			j->no_memory = true;
			return false;
		}
	}
	j->to->c.blocks = j->to->blocks.items;
	j->to->c.block_count = j->to->blocks.count;
	j->to->f.first_block = 0;
	j->to->f.block_count = (uint32_t)count;
	return true;
}

/* The number + 1 of a block, from that in the best one; 0: none of these. */
static uint32_t moved(struct joining *j, uint32_t number)
{
	return number && number <= j->best->f->block_count
		       ? number_at(j, blocks_of(j->best)[number - 1].address)
		       : number;
}

static void set_nexts(struct joining *j)
{
	const struct cp_coverage_block *blocks = blocks_of(j->best), *from;
	size_t i;

	for (i = 0; i < j->to->blocks.count; i++) {
		struct cp_coverage_block *b = &j->to->blocks.items[i];

		from = &blocks[cp_cuts_block(j->best, b->address)];
		if (b->address + b->size < from->address + from->size) {
			b->next = (uint32_t)i + 2;
			b->landing = 0;
			continue;
		}
		b->next = moved(j, b->next);
		b->landing = moved(j, b->landing);
	}
}

static bool set_blocks(struct joining *j)
{
	CP_VEC(uint64_t) starts = { 0 };
	size_t i, k, n = 0;
	bool ok = true;

	for (i = 0; i < j->count; i++) {
		for (k = 0; k < j->all[i].f->block_count; k++)
			j->no_memory |= !cp_vec_push(&starts, blocks_of(&j->all[i])[k].address);
		ok &= size_of(&j->all[i]) == size_of(j->best);
	}
	ok &= !j->no_memory && starts.count;
	if (ok)
		qsort(starts.items, starts.count, sizeof(*starts.items), compare_starts);
	for (i = 0; ok && i < starts.count; i++)
		if (!n || starts.items[n - 1] != starts.items[i])
			starts.items[n++] = starts.items[i];
	ok = ok && add_blocks(j, starts.items, n);
	cp_vec_free(&starts);
	if (ok)
		set_nexts(j);
	return ok;
}

/* ---- what is in them ---- */

/* The n-th row that is none of a cut; NULL: there is none. Goes on behind *at. */
static const struct cp_coverage_row *next_row(const struct cp_cut_function *of, uint32_t *at)
{
	while (*at < of->f->row_count) {
		const struct cp_coverage_row *row = &of->c->rows[of->f->first_row + (*at)++];

		if (!(row->flags & CP_COVERAGE_ROW_CUT))
			return row;
	}
	return NULL;
}

static uint32_t plain_rows(const struct cp_cut_function *of)
{
	uint32_t at = 0, n = 0;

	while (next_row(of, &at))
		n++;
	return n;
}

/* Moves *start to where `block` of the image begins, if that is further on. */
static void begin_at(const struct cp_cut_function *of, uint32_t block, uint64_t *start)
{
	uint64_t address = of->c->blocks[block].address;

	*start = address > *start ? address : *start;
}

/* The row of a cut at the beginning of a joined block. */
static void add_cut(struct joining *j, uint32_t block)
{
	uint64_t address = j->to->blocks.items[block].address;
	size_t i;
	uint32_t k;

	for (i = 0; i < j->count; i++) {
		const struct cp_cut_function *of = &j->all[i];

		for (k = 0; k < of->f->row_count; k++) {
			struct cp_coverage_row row = of->c->rows[of->f->first_row + k];

			if (!(row.flags & CP_COVERAGE_ROW_CUT) ||
			    of->c->blocks[row.block].address != address)
				continue;
			row.block = block;
			row.file = j->to->rows.count ? j->to->rows.items[j->to->rows.count - 1].file
						     : CP_RECORD_NONE;
			j->no_memory |= !cp_vec_push(&j->to->rows, row);
			return;
		}
	}
}

static void set_rows(struct joining *j, uint32_t *at /* of each of `all` */)
{
	const struct cp_coverage_row *row;
	uint32_t plain = plain_rows(j->best), begun = 0, next;
	size_t i;

	while (!j->no_memory && (row = next_row(j->best, &at[j->best - j->all]))) {
		struct cp_coverage_row made = *row;
		uint64_t start = j->best->c->blocks[row->block].address;

		for (i = 0; i < j->count; i++) {
			const struct cp_coverage_row *same;

			if (&j->all[i] == j->best || plain_rows(&j->all[i]) != plain)
				continue;
			same = next_row(&j->all[i], &at[i]);
			if (!same)
				continue;
			begin_at(&j->all[i], same->block, &start);
			made.flags |= same->flags & CP_COVERAGE_ROW_UNSURE;
		}
		next = number_at(j, start) - 1;
		for (; begun < next; begun++)
			add_cut(j, begun + 1);
		made.block = next;
		j->no_memory |= !cp_vec_push(&j->to->rows, made);
	}
	for (; j->to->rows.count && begun + 1 < j->to->blocks.count; begun++)
		add_cut(j, begun + 1);
}

static void set_others(struct joining *j)
{
	const struct cp_coverage_image *c = j->best->c;
	const struct cp_coverage_function *f = j->best->f;
	uint32_t i;
	size_t k;

	for (i = 0; i < f->branch_count; i++) {
		struct cp_coverage_branch b = c->branches[f->first_branch + i];

		b.block = number_at(j, number_at(j, b.address) ? b.address
							       : c->blocks[b.block].address) -
			  1;
		if (b.target && b.target <= f->block_count)
			b.target = number_at(j, blocks_of(j->best)[b.target - 1].address);
		j->no_memory |= !cp_vec_push(&j->to->branches, b);
	}
	for (i = 0; i < f->inline_count; i++) {
		struct cp_coverage_inline in = c->inlines[f->first_inline + i];
		uint64_t start = c->blocks[in.block].address;

		for (k = 0; k < j->count; k++)
			if (j->all[k].f->inline_count == f->inline_count)
				begin_at(&j->all[k],
					 j->all[k].c->inlines[j->all[k].f->first_inline + i].block,
					 &start);
		in.block = number_at(j, start) - 1;
		j->no_memory |= !cp_vec_push(&j->to->inlines, in);
	}
}

static void set_image(struct joining *j)
{
	struct cp_joined_cuts *to = j->to;

	to->c.files = j->best->c->files;
	to->c.file_count = j->best->c->file_count;
	to->c.functions = &to->f;
	to->c.function_count = 1;
	to->c.rows = to->rows.items;
	to->c.row_count = to->f.row_count = (uint32_t)to->rows.count;
	to->c.branches = to->branches.items;
	to->c.branch_count = to->branches.count;
	to->c.inlines = to->inlines.items;
	to->c.inline_count = to->inlines.count;
	to->f.first_row = to->f.first_branch = to->f.first_inline = 0;
}

bool cp_cuts_join(const struct cp_cut_function *all, size_t count, size_t best,
		  struct cp_joined_cuts *ret, bool *no_memory_ret)
{
	struct joining j = { .all = all, .count = count, .best = &all[best], .to = ret };
	uint32_t *at = calloc(count, sizeof(*at));
	bool ok;

	*ret = (struct cp_joined_cuts){ .f = *all[best].f };
	j.no_memory = !at;
	ok = at && set_blocks(&j);
	if (ok) {
		ret->f.entry = number_at(&j, all[best].c->blocks[all[best].f->entry].address) - 1;
		set_rows(&j, at);
		set_others(&j);
		set_image(&j);
	}
	free(at);
	*no_memory_ret = j.no_memory;
	return ok && !j.no_memory;
}

void cp_cuts_free(struct cp_joined_cuts *joined)
{
	cp_vec_free(&joined->blocks);
	cp_vec_free(&joined->rows);
	cp_vec_free(&joined->branches);
	cp_vec_free(&joined->inlines);
}
