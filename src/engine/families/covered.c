/* SPDX-License-Identifier: MIT
 *
 * Coverage as profilers see it: its settings, and counters turned into functions with
 * blocks, rows and branches.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/families/counting.h"
#include "engine/families/coverage.h"
#include "engine/families/cuts.h"
#include "engine/families/inferred.h"
#include "engine/families/landings.h"
#include "engine/probes/sites.h"
#include "engine/target/family.h"
#include "engine/target/sources.h"
#include "engine/target/state.h"

/* ---- settings ---- */

/* The session's coverage, while it may still be set; else NULL. */
static struct engine_coverage *may_set(cprof_session *s)
{
	return engine_may_ask(s) ? engine_coverage_get(s) : NULL;
}

bool cprof_profiler_enable_coverage(void)
{
	struct engine_coverage *c = may_set(cprof_session_current());

	if (c)
		c->enabled = true;
	return c != NULL;
}

void cprof_profiler_set_coverage_filter_callback(cprof_profiler_handle handle,
						 cprof_coverage_filter_fn cb)
{
	struct engine_coverage *c = may_set(cprof_session_current());

	if (handle)
		handle->coverage_filter = cb;
	if (c && cb && handle)
		c->filters = true;
}

bool cprof_profiler_set_coverage_mode(cprof_profiler_handle handle, cprof_coverage_mode mode)
{
	struct engine_coverage *c = may_set(cprof_session_current());

	if (!c || (mode != CPROF_COVERAGE_ONESHOT && mode != CPROF_COVERAGE_COUNT))
		return false;
	if (c->mode_by && c->mode_by != handle)
		return c->mode == mode;
	c->mode_by = handle;
	c->mode = mode;
	return true;
}

bool cprof_profiler_set_coverage_branches(cprof_profiler_handle handle,
					  cprof_coverage_branches branches)
{
	struct engine_coverage *c = may_set(cprof_session_current());

	if (!c ||
	    (branches != CPROF_COVERAGE_BRANCHES_BUDGET &&
	     branches != CPROF_COVERAGE_BRANCHES_EXACT && branches != CPROF_COVERAGE_BRANCHES_NONE))
		return false;
	if (c->branches_by && c->branches_by != handle)
		return c->branches == branches;
	c->branches_by = handle;
	c->branches = branches;
	return true;
}

/* ---- one function ---- */

/* Room for what is told of a function, used again for the next one. */
struct telling {
	cprof_session *s;
	cprof_assembly *assembly;
	const struct engine_cover *cover;
	const struct engine_sources *sources; /* NULL: no debug information */
	size_t next_row; /* behind the rows of the last block: mostly the next block's first */
	CP_VEC(uint32_t) pieces; /* by block: its first piece in `blocks`; then the end */
	CP_VEC(cprof_coverage_block) blocks; /* cut in pieces (cuts.c) */
	CP_VEC(bool) unsure; /* of each piece */
	CP_VEC(cprof_coverage_row) rows;
	CP_VEC(cprof_coverage_branch) branches;
	CP_VEC(cprof_coverage_inline) inlines;
};

static void telling_free(struct telling *t)
{
	cp_vec_free(&t->pieces);
	cp_vec_free(&t->blocks);
	cp_vec_free(&t->unsure);
	cp_vec_free(&t->rows);
	cp_vec_free(&t->branches);
	cp_vec_free(&t->inlines);
}

static uint64_t block_count(const struct telling *t, uint32_t block)
{
	return engine_cover_count(t->s, t->cover->first_counter + block);
}

/* How often a direction was taken, by the block behind it or by the jump's own
 * counters. One that was given up was not taken all the same if nobody ever came to
 * where it leads. */
static uint64_t direction_count(const struct telling *t, uint32_t number, bool passed)
{
	const struct cp_probe_branch *b = &t->cover->branches.items[number];
	uint32_t behind = passed ? b->passed_block : b->taken_block, first;
	uint64_t own;

	if (!engine_piece_count(t->s, t->cover, b->block,
				engine_cuts_of(t->cover, b->block, &first)))
		return 0;
	if (behind != CP_NO_BLOCK)
		return block_count(t, behind);
	own = engine_cover_count(t->s, engine_cover_own(t->cover, number) + passed);
	behind = own == CPROF_COVERAGE_UNKNOWN ? engine_cover_behind(t->cover, number, passed)
					       : CP_NO_BLOCK;
	return behind != CP_NO_BLOCK && !block_count(t, behind) ? 0 : own;
}

/* The number + 1 of a block's first piece, from the block's own + 1; 0: none. */
static uint32_t renumbered(const struct telling *t, uint32_t block)
{
	return block ? t->pieces.items[block - 1] + 1 : 0;
}

/* The last piece of a block. */
static uint32_t end_of(const struct telling *t, uint32_t block)
{
	return t->pieces.items[block + 1] - 1;
}

static bool add_pieces(struct telling *t, uint32_t block)
{
	const struct cp_probe_block *b = &t->cover->blocks.items[block];
	uint32_t first, cuts = engine_cuts_of(t->cover, block, &first), i;
	uint64_t at = b->address, end = at + b->size;

	for (i = 0; i <= cuts; i++) {
		uint64_t to = i < cuts ? t->cover->cuts.items[first + i].address : end;

		if (!cp_vec_push(&t->blocks,
				 (cprof_coverage_block){
					 .address = at,
					 .size = (uint32_t)(to - at),
					 .count = engine_piece_count(t->s, t->cover, block, i),
					 .next = i < cuts ? (uint32_t)t->blocks.count + 2 : b->next,
				 }) ||
		    !cp_vec_push(&t->unsure, i && t->cover->cuts.items[first + i - 1].unsure))
			return false;
		at = to;
	}
	return true;
}

static bool tell_blocks(struct telling *t, const struct engine_covered *f)
{
	uint32_t i;

	t->blocks.count = t->pieces.count = t->unsure.count = 0;
	for (i = 0; i < f->block_count; i++)
		if (!cp_vec_push(&t->pieces, (uint32_t)t->blocks.count) ||
		    !add_pieces(t, f->first_block + i))
			return false;
	if (!cp_vec_push(&t->pieces, (uint32_t)t->blocks.count))
		return false;
	for (i = 0; i < f->block_count; i++) {
		cprof_coverage_block *last = &t->blocks.items[end_of(t, i)];

		last->next = renumbered(t, last->next);
		if (t->cover->landings.count)
			last->landing = renumbered(t, t->cover->landings.items[f->first_block + i]);
	}
	return true;
}

/* Is the row a statement's? gcc begins a row that is none where just the discriminator is
 * another one: in the arms of a switch, or of a macro, that are on one line. */
static bool is_statement(const struct cp_line_table *lines, size_t number)
{
	const struct cp_line_row *row = &lines->rows.items[number];

	for (; number && !(row->flags & CP_LINE_STATEMENT); number--, row--)
		if (row[-1].flags & CP_LINE_END || row[-1].file != row->file ||
		    row[-1].line != row->line || row[-1].column != row->column)
			return false;
	return row->flags & CP_LINE_STATEMENT;
}

/* The row before `next`, if the line that it begins reaches on to there. */
static const struct cp_line_row *row_before(const struct cp_line_table *lines, size_t next)
{
	const struct cp_line_row *row = next ? &lines->rows.items[next - 1] : NULL;

	return row && !(row->flags & CP_LINE_END) && row->line ? row : NULL;
}

/* The first row at `address` or behind it, after those that end there. */
static size_t row_at(struct telling *t, uint64_t address)
{
	const struct cp_line_table *lines = &t->sources->lines;
	const struct cp_line_row *rows = lines->rows.items;
	size_t next = t->next_row;

	if (!next || next >= lines->rows.count || rows[next - 1].address >= address ||
	    rows[next].address < address)
		next = engine_first_row(lines, address);
	while (next < lines->rows.count && lines->rows.items[next].address == address &&
	       lines->rows.items[next].flags & CP_LINE_END)
		next++;
	return next;
}

static bool add_row(struct telling *t, const struct cp_line_row *row, uint32_t block,
		    uint64_t address, unsigned flags)
{
	if (t->unsure.items[block])
		flags |= CPROF_COVERAGE_ROW_UNSURE;
	return cp_vec_push(&t->rows, (cprof_coverage_row){
					     .block = block,
					     .file = t->sources->lines.files.items[row->file],
					     .line = row->line,
					     .column = row->column,
					     .discriminator = row->discriminator,
					     .address = address,
					     .flags = flags,
				     });
}

/* Flags of a row in whose middle a block, or a piece of one, begins. */
static unsigned flags_inside(const struct telling *t, uint32_t number, size_t row)
{
	size_t n = cp_vec_partition(&t->pieces, first, *first < number);

	return (is_statement(&t->sources->lines, row) ? CPROF_COVERAGE_ROW_INSIDE : 0) |
	       (t->pieces.items[n] != number ? CPROF_COVERAGE_ROW_CUT : 0);
}

/* Tells the rows that begin in a block, and the one in whose middle it begins. */
static bool tell_rows_of(struct telling *t, uint32_t number)
{
	const struct cp_line_table *lines = &t->sources->lines;
	const cprof_coverage_block *b = &t->blocks.items[number];
	size_t next = row_at(t, b->address), i;
	const struct cp_line_row *before = row_before(lines, next);
	uint64_t end = b->address + (b->size ? b->size : 1);
	bool own = next < lines->rows.count && lines->rows.items[next].address == b->address &&
		   !(lines->rows.items[next].flags & CP_LINE_END);

	if (before && !own &&
	    !add_row(t, before, number, b->address, flags_inside(t, number, next - 1)))
		return false;
	for (i = next; i < lines->rows.count && lines->rows.items[i].address < end; i++) {
		const struct cp_line_row *row = &lines->rows.items[i];
		unsigned flags = row->flags & CP_LINE_STATEMENT ? CPROF_COVERAGE_ROW_STATEMENT : 0;

		if (row->flags & CP_LINE_END || !row->line)
			continue;
		if (!flags && row->address == b->address && is_statement(lines, i))
			flags = CPROF_COVERAGE_ROW_INSIDE;
		if (i + 1 < lines->rows.count && row[1].address == row->address &&
		    !(row[1].flags & CP_LINE_END))
			flags |= CPROF_COVERAGE_ROW_EMPTY;
		if (i + 1 < lines->rows.count && row[1].address == row->address + 1)
			flags |= CPROF_COVERAGE_ROW_BYTE;
		if (!add_row(t, row, number, row->address, flags))
			return false;
	}
	t->next_row = i;
	return true;
}

static bool tell_rows(struct telling *t)
{
	uint32_t i;

	t->rows.count = 0;
	for (i = 0; t->sources && i < t->blocks.count; i++)
		if (!tell_rows_of(t, i))
			return false;
	return true;
}

/* The block that has `address`; CP_NO_BLOCK. */
static uint32_t block_at(const struct telling *t, uint64_t address)
{
	size_t n = cp_vec_partition(&t->blocks, b, b->address <= address);

	return n && address - t->blocks.items[n - 1].address < t->blocks.items[n - 1].size
		       ? (uint32_t)n - 1
		       : CP_NO_BLOCK;
}

/* The demangled name, kept: names live as long as their image, and are asked for again
 * and again. */
static const char *readable_name(cprof_session *s, const char *name)
{
	struct cp_map *names = &s->coverage->names;
	const uint64_t *known = cp_map_get(names, (uintptr_t)name);
	char *made;

	if (known)
		return (const char *)(uintptr_t)*known;
	made = name ? cp_demangle(name) : NULL;
	if (made && cp_map_put(names, (uintptr_t)name, (uintptr_t)made))
		return made;
	free(made);
	return name;
}

/* The symbol to tell of a function. One constructor of whole objects (C1) and of parts
 * of derived ones (C2) has the symbol of the latter, as in other tools; destructors
 * likewise. */
static const char *symbol_of(const cprof_assembly *a, const struct cp_probe_function *f)
{
	const struct cp_probe_functions *all = a->plans ? &a->plans->functions : NULL;
	const char *own = f->linkage_name, *other;
	uint32_t i;
	size_t at;

	for (i = 0; all && i < f->alias_count; i++) {
		other = all->aliases.items[f->first_alias + i].linkage_name;
		for (at = 0; own[at] && own[at] == other[at];)
			at++;
		if (at && own[at] == '1' && other[at] == '2' && strchr("CD", own[at - 1]) &&
		    !strcmp(own + at + 1, other + at + 1))
			return other;
	}
	return own;
}

static bool tell_inlines(struct telling *t)
{
	const cprof_coverage_block *last = &t->blocks.items[t->blocks.count - 1];
	const struct cp_source_function *f;
	uint32_t block;
	size_t i;

	t->inlines.count = 0;
	if (!t->sources)
		return true;
	i = engine_first_source(&t->sources->functions, t->blocks.items[0].address);
	for (; i < t->sources->functions.items.count; i++) {
		f = &t->sources->functions.items.items[i];
		if (f->address >= last->address + last->size)
			break;
		block = f->inlined ? block_at(t, f->address) : CP_NO_BLOCK;
		if (block != CP_NO_BLOCK &&
		    !cp_vec_push(&t->inlines, (cprof_coverage_inline){ readable_name(t->s, f->name),
								       f->file, f->line, block }))
			return false;
	}
	return true;
}

/* The row of a block that an instruction is in; NULL: of no line. */
static const cprof_coverage_row *row_of(const struct telling *t, uint32_t block, uint64_t address)
{
	size_t n = cp_vec_partition(&t->rows, row,
				    row->block < block ||
					    (row->block == block && row->address <= address));

	return n && t->rows.items[n - 1].block == block ? &t->rows.items[n - 1] : NULL;
}

static bool tell_branches(struct telling *t, const struct engine_covered *f)
{
	uint32_t i;

	t->branches.count = 0;
	if (!cp_vec_reserve(&t->branches, f->branch_count + 1))
		return false;
	for (i = f->first_branch; i < f->first_branch + f->branch_count; i++) {
		const struct cp_probe_branch *b = &t->cover->branches.items[i];
		uint32_t block = end_of(t, b->block - f->first_block);
		const cprof_coverage_row *row = row_of(t, block, b->address);

		t->branches.items[t->branches.count++] = (cprof_coverage_branch){
			.address = b->address,
			.block = block,
			.file = row ? row->file : NULL,
			.line = row ? row->line : 0,
			.taken = direction_count(t, i, false),
			.passed = direction_count(t, i, true),
			.target_block = renumbered(t, b->target_block),
		};
	}
	return true;
}

/* Of a lambda, whose code somebody wrote; debug information calls it the compiler's, as all of
 * that class. */
static bool is_call_operator(const char *name)
{
	return name && strstr(name, "operator()");
}

static bool tell(struct telling *t, const struct engine_covered *f, cprof_coverage_function *ret)
{
	const char *name = cp_probe_function_name(f->function);
	const struct cp_source_function *source =
		t->sources ? engine_source_at(&t->sources->functions, f->function->address) : NULL;

	if (!tell_blocks(t, f) || !tell_rows(t) || !tell_branches(t, f) || !tell_inlines(t))
		return false;
	*ret = (cprof_coverage_function){
		.assembly = t->assembly,
		.name = name ? name : f->function->linkage_name,
		.linkage_name = symbol_of(t->assembly, f->function),
		.address = f->function->address,
		.file = source ? source->file : NULL,
		.line = source ? source->line : 0,
		.complete = f->complete,
		.blocks = t->blocks.items,
		.entry = t->pieces.items[f->entry],
		.block_count = t->blocks.count,
		.rows = t->rows.items,
		.row_count = t->rows.count,
		.branches = t->branches.items,
		.branch_count = t->branches.count,
		.inlines = t->inlines.items,
		.inline_count = t->inlines.count,
		.artificial = source && source->artificial && !is_call_operator(name),
	};
	return true;
}

/* ---- all of them ---- */

/* What of an object is to be told; NULL where no function was chosen, as in the
 * system's libraries, of which nothing is read. */
static const struct engine_cover *cover_of(const cprof_assembly *a)
{
	return a && a->cover && a->cover->functions.count ? a->cover : NULL;
}

void cprof_coverage_each(cprof_coverage_function_fn cb, void *data)
{
	cprof_session *s = cprof_session_current();
	struct telling t = { .s = s };
	cprof_coverage_function of;
	bool more = true;
	size_t i, k;

	if (s)
		engine_counting_collect(s);
	for (i = 0; s && s->coverage && more && i < s->assemblies.count; i++) {
		t.assembly = s->assemblies.items[i];
		t.cover = cover_of(t.assembly);
		if (t.cover && s->coverage->mode == CPROF_COVERAGE_COUNT)
			engine_landings_find(t.assembly, t.assembly->cover);
		t.sources = t.cover ? engine_sources_of(t.assembly) : NULL;
		if (t.cover)
			engine_cover_infer_all(s, t.cover);
		for (k = 0; t.cover && more && k < t.cover->functions.count; k++)
			more = !tell(&t, &t.cover->functions.items[k], &of) || cb(&of, data);
	}
	telling_free(&t);
}

bool cprof_coverage_changed(uint64_t *seen)
{
	const cprof_session *s = cprof_session_current();
	uint64_t now;
	size_t i;

	if (!s || !s->coverage)
		return false;
	engine_counting_collect(s);
	for (i = 0; i < s->assemblies.count; i++)
		if (cover_of(s->assemblies.items[i]) &&
		    !engine_sources_ready(s->assemblies.items[i]))
			return false;
	/* All these numbers only grow. */
	now = s->link.shared->stats.counted + s->coverage->counters + s->coverage->direct_changes;
	if (now == *seen)
		return false;
	*seen = now;
	return true;
}

static const struct engine_covered *find(const struct engine_cover *cover, uint64_t address)
{
	size_t lo = 0, hi = cover ? cover->functions.count : 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (cover->functions.items[mid].function->address < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return cover && lo < cover->functions.count &&
			       cover->functions.items[lo].function->address == address
		       ? &cover->functions.items[lo]
		       : NULL;
}

/* A count as Mono's API has it, in 32 bits; 0 where it can't be told. */
static uint32_t narrow(uint64_t count)
{
	if (count == CPROF_COVERAGE_UNKNOWN)
		return 0;
	return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static void tell_data(const cprof_coverage_function *of, const cprof_function *function,
		      cprof_profiler *prof, cprof_coverage_fn cb)
{
	cprof_coverage_data data = { .function = function };
	size_t i;

	for (i = 0; i < of->row_count; i++) {
		const cprof_coverage_row *row = &of->rows[i];

		if (!(row->flags & CPROF_COVERAGE_ROW_STATEMENT))
			continue;
		data.native_offset = (uint32_t)(row->address - of->address);
		data.counter = narrow(of->blocks[row->block].count);
		data.file_name = row->file;
		data.line = row->line;
		data.column = row->column;
		data.discriminator = row->discriminator;
		cb(prof, &data);
	}
	for (i = 0; !of->row_count && i < of->block_count; i++) {
		data.native_offset = (uint32_t)(of->blocks[i].address - of->address);
		data.counter = narrow(of->blocks[i].count);
		cb(prof, &data);
	}
}

bool cprof_profiler_get_coverage_data(cprof_profiler_handle handle, const cprof_function *function,
				      cprof_coverage_fn cb)
{
	cprof_session *s = cprof_session_current();
	const cprof_image *image = function ? function->image : NULL;
	struct telling t = { .s = s };
	const struct engine_covered *f;
	cprof_coverage_function of;
	bool told;

	if (!s || !s->coverage || !image || !handle)
		return false;
	engine_counting_collect(s);
	t.assembly = image->assembly;
	t.cover = image->assembly->cover;
	t.sources = t.cover ? engine_sources_of(t.assembly) : NULL;
	f = find(t.cover, function->start - image->bias);
	if (f)
		engine_cover_infer(s, t.cover, f);
	told = f && tell(&t, f, &of);
	if (told)
		tell_data(&of, function, handle->prof, cb);
	telling_free(&t);
	return told;
}

static void add_statistics(const struct telling *t, cprof_coverage_statistics *ret)
{
	const struct engine_cover *cover = t->cover;
	uint32_t i;

	engine_cover_infer_all(t->s, cover);
	ret->functions += cover->functions.count;
	ret->blocks += cover->blocks.count;
	ret->branches += cover->branches.count;
	for (i = 0; i < cover->blocks.count; i++)
		ret->refused += block_count(t, i) == CPROF_COVERAGE_UNKNOWN;
	for (i = 0; i < cover->branches.count; i++)
		ret->unknown_branches += direction_count(t, i, false) == CPROF_COVERAGE_UNKNOWN ||
					 direction_count(t, i, true) == CPROF_COVERAGE_UNKNOWN;
}

void cprof_get_coverage_statistics(cprof_coverage_statistics *ret)
{
	cprof_session *s = cprof_session_current();
	struct telling t = { .s = s };
	size_t i;

	*ret = (cprof_coverage_statistics){ 0 };
	if (!s || !s->coverage)
		return;
	engine_counting_collect(s);
	ret->sites = s->coverage->sites;
	ret->placing_ns = s->coverage->placing_ns;
	ret->hits = s->link.shared->stats.counted;
	for (i = 0; i < s->assemblies.count; i++) {
		t.cover = s->assemblies.items[i] ? s->assemblies.items[i]->cover : NULL;
		if (t.cover)
			add_statistics(&t, ret);
	}
}
