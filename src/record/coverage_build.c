/* SPDX-License-Identifier: MIT
 *
 * An image's coverage of its units, and its counts of those of its parts.
 */
#include "record/coverage_build.h"

#include <stdlib.h>
#include <string.h>

#include "record/coverage_encode.h"

/* Counts are told for all of an image, also those of a part that knows little
 * of it: so much more than was in the file, or so many. */
#define EXPAND_RATIO ((size_t)64)
#define EXPAND_FREE ((size_t)16 << 20)

/* The units of an image, of its last revision, and what they come to. */
struct joining {
	struct cp_record_decoder *d;
	struct cp_record_coverage to;
	struct cp_map files; /* place of the string + 1: number */
	CP_VEC(const char *) names;
	struct cp_coverage_function *functions;
	struct cp_coverage_block *blocks;
	struct cp_coverage_row *rows;
	struct cp_coverage_branch *branches;
	struct cp_coverage_inline *inlines;
	size_t budget; /* numbers that counts may still take */
	bool no_memory;
};

static int compare_units(const void *pa, const void *pb)
{
	const struct cp_record_unit *a = pa, *b = pb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (a->revision != b->revision)
		return a->revision > b->revision ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static int compare_functions(const void *pa, const void *pb)
{
	const struct cp_coverage_function *a = pa, *b = pb;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	/* Pieces are in the order of the file: what is equal stays so. */
	if (a->first_block != b->first_block)
		return a->first_block < b->first_block ? -1 : 1;
	return a->first_row < b->first_row ? -1 : a->first_row > b->first_row;
}

static uint32_t file_number(struct joining *j, uint32_t place)
{
	uint64_t *known;

	if (!place)
		return CP_RECORD_NONE;
	known = cp_map_get(&j->files, place);
	if (known)
		return (uint32_t)*known;
	if (!cp_map_put(&j->files, place, j->names.count) ||
	    !cp_vec_push(&j->names, j->d->strings.items[place - 1])) {
		j->no_memory = true;
		return CP_RECORD_NONE;
	}
	return (uint32_t)j->names.count - 1;
}

static void *array(struct joining *j, size_t count, size_t size)
{
	void *got = cp_record_alloc(&j->d->record->arena, count * size);

	if (!got)
		j->no_memory = true;
	return got;
}

static bool make_arrays(struct joining *j, const struct cp_record_unit *units, size_t count)
{
	struct cp_coverage_image *c = &j->to.c;
	size_t i;

	j->budget = EXPAND_FREE;
	for (i = 0; i < count; i++) {
		size_t numbers = units[i].c.block_count + 2 * units[i].c.branch_count;

		j->budget += units[i].counts.count * numbers * EXPAND_RATIO;
		c->function_count += units[i].c.function_count;
		c->block_count += units[i].c.block_count;
		c->row_count += units[i].c.row_count;
		c->branch_count += units[i].c.branch_count;
		c->inline_count += units[i].c.inline_count;
	}
	c->functions = j->functions = array(j, c->function_count, sizeof(*j->functions));
	c->blocks = j->blocks = array(j, c->block_count, sizeof(*j->blocks));
	c->rows = j->rows = array(j, c->row_count, sizeof(*j->rows));
	c->branches = j->branches = array(j, c->branch_count, sizeof(*j->branches));
	c->inlines = j->inlines = array(j, c->inline_count, sizeof(*j->inlines));
	c->image = units->image;
	c->written_ns = units->c.written_ns;
	return !j->no_memory && c->block_count < CP_RECORD_NONE && c->row_count < CP_RECORD_NONE &&
	       c->branch_count < CP_RECORD_NONE && c->inline_count < CP_RECORD_NONE;
}

/* How much of the arrays is filled. */
struct filled {
	uint32_t functions, blocks, rows, branches, inlines;
};

static void add_unit(struct joining *j, const struct cp_record_unit *u, struct filled *at)
{
	const struct cp_coverage_image *c = &u->c;
	size_t i;

	for (i = 0; i < c->function_count; i++) {
		struct cp_coverage_function *f = &j->functions[at->functions + i];

		*f = c->functions[i];
		f->file = file_number(j, f->file);
		f->entry += at->blocks;
		f->first_block += at->blocks;
		f->first_row += at->rows;
		f->first_branch += at->branches;
		f->first_inline += at->inlines;
	}
	for (i = 0; i < c->block_count; i++)
		j->blocks[at->blocks + i] = c->blocks[i];
	for (i = 0; i < c->row_count; i++) {
		j->rows[at->rows + i] = c->rows[i];
		j->rows[at->rows + i].block += at->blocks;
		j->rows[at->rows + i].file = file_number(j, c->rows[i].file);
	}
	for (i = 0; i < c->branch_count; i++) {
		j->branches[at->branches + i] = c->branches[i];
		j->branches[at->branches + i].block += at->blocks;
		j->branches[at->branches + i].file = file_number(j, c->branches[i].file);
	}
	for (i = 0; i < c->inline_count; i++) {
		j->inlines[at->inlines + i] = c->inlines[i];
		j->inlines[at->inlines + i].block += at->blocks;
		j->inlines[at->inlines + i].file = file_number(j, c->inlines[i].file);
	}
	at->functions += (uint32_t)c->function_count;
	at->blocks += (uint32_t)c->block_count;
	at->rows += (uint32_t)c->row_count;
	at->branches += (uint32_t)c->branch_count;
	at->inlines += (uint32_t)c->inline_count;
}

/* ---- counts ---- */

/* The image's counts of `part`, made when there are none. */
static struct cp_record_counts *counts_of(struct joining *j, const struct cp_record_counts *of)
{
	size_t n = j->to.c.block_count + 2 * j->to.c.branch_count, i;
	struct cp_record_counts new = { of->part, of->flags, NULL }, *it;

	cp_vec_for_each(&j->to.counts, it) {
		if (it->part == of->part)
			return it;
	}
	if (n > j->budget)
		return NULL;
	j->budget -= n;
	new.values = malloc((n + 1) * sizeof(*new.values));
	if (!new.values || !cp_vec_push(&j->to.counts, new)) {
		free(new.values);
		j->no_memory = true;
		return NULL;
	}
	for (i = 0; i < n; i++)
		new.values[i] = CP_COVER_ABSENT;
	return &j->to.counts.items[j->to.counts.count - 1];
}

static void add_counts(struct joining *j, const struct cp_record_unit *u, const struct filled *at)
{
	size_t blocks = u->c.block_count, branches = u->c.branch_count;
	const struct cp_record_counts *from;
	struct cp_record_counts *to;
	uint64_t *values;

	cp_vec_for_each(&u->counts, from) {
		to = counts_of(j, from);
		if (!to) {
			j->d->record->own.dropped++;
			continue;
		}
		to->flags &= from->flags;
		values = to->values;
		if (blocks)
			memcpy(values + at->blocks, from->values, blocks * sizeof(*values));
		if (!branches)
			continue;
		values += j->to.c.block_count;
		memcpy(values + at->branches, from->values + blocks, branches * sizeof(*values));
		values += j->to.c.branch_count;
		memcpy(values + at->branches, from->values + blocks + branches,
		       branches * sizeof(*values));
	}
}

static uint64_t add(uint64_t a, uint64_t b)
{
	if (a == CP_COVER_ABSENT || b == CP_COVER_ABSENT)
		return a == CP_COVER_ABSENT ? b : a;
	return cp_coverage_add(a, b);
}

static uint64_t total(const struct joining *j, size_t place)
{
	uint64_t sum = CP_COVER_ABSENT;
	size_t i;

	for (i = 0; i < j->to.counts.count; i++)
		sum = add(sum, j->to.counts.items[i].values[place]);
	if (sum == CP_COVER_ABSENT)
		return CP_COVERAGE_UNKNOWN;
	/* A sum of counts of 0 and 1 would pretend to be a number of executions. */
	return sum && sum != CP_COVERAGE_UNKNOWN && !(j->to.c.flags & CP_COVERAGE_COUNTED) ? 1
											   : sum;
}

static int compare_counts(const void *pa, const void *pb)
{
	const struct cp_record_counts *a = pa, *b = pb;

	return a->part < b->part ? -1 : a->part > b->part;
}

static void total_counts(struct joining *j)
{
	struct cp_coverage_image *c = &j->to.c;
	size_t i;

	c->flags = j->to.counts.count ? UINT32_MAX : 0;
	for (i = 0; i < j->to.counts.count; i++)
		c->flags &= j->to.counts.items[i].flags;
	if (j->to.counts.count)
		qsort(j->to.counts.items, j->to.counts.count, sizeof(*j->to.counts.items),
		      compare_counts);
	for (i = 0; i < c->block_count; i++)
		j->blocks[i].count = total(j, i);
	for (i = 0; i < c->branch_count; i++) {
		j->branches[i].taken = total(j, c->block_count + i);
		j->branches[i].passed = total(j, c->block_count + c->branch_count + i);
	}
}

/* ---- images ---- */

static bool join(struct cp_record_decoder *d, const struct cp_record_unit *units, size_t count)
{
	struct joining j = { .d = d };
	struct filled at = { 0 };
	size_t i;

	if (!make_arrays(&j, units, count)) {
		d->record->own.dropped += j.to.c.function_count;
		return !j.no_memory;
	}
	for (i = 0; i < count && !j.no_memory; i++) {
		struct filled before = at;

		add_unit(&j, &units[i], &at);
		add_counts(&j, &units[i], &before);
	}
	if (!j.no_memory) {
		total_counts(&j);
		qsort(j.functions, j.to.c.function_count, sizeof(*j.functions), compare_functions);
		j.to.c.files =
			cp_record_alloc(&d->record->arena, j.names.count * sizeof(*j.names.items));
		j.to.c.file_count = j.names.count;
		if (j.to.c.files && j.names.count)
			memcpy((void *)(uintptr_t)j.to.c.files, j.names.items,
			       j.names.count * sizeof(*j.names.items));
		j.no_memory = !j.to.c.files || !cp_vec_push(&d->record->coverage, j.to);
	}
	if (j.no_memory) {
		for (i = 0; i < j.to.counts.count; i++)
			free(j.to.counts.items[i].values);
		cp_vec_free(&j.to.counts);
	}
	cp_vec_free(&j.names);
	cp_map_free(&j.files);
	return !j.no_memory;
}

bool cp_record_build_coverage(struct cp_record_decoder *d)
{
	size_t n = d->units.count, i, end;
	struct cp_record_unit *u = d->units.items;

	if (!n)
		return true;
	cp_map_free(&d->unit_places); /* they move */
	qsort(u, n, sizeof(*u), compare_units);
	for (i = 0; i < n; i = end) {
		for (end = i;
		     end < n && u[end].image == u[i].image && u[end].revision == u[i].revision;)
			end++;
		if (!join(d, u + i, end - i))
			return false;
		while (end < n && u[end].image == u[i].image)
			end++; /* of earlier revisions */
	}
	return true;
}

size_t cp_record_coverage_count(const struct cp_record *r)
{
	return r->coverage.count;
}

const struct cp_coverage_image *cp_record_get_coverage(const struct cp_record *r, size_t n)
{
	return n < r->coverage.count ? &r->coverage.items[n].c : NULL;
}
