/* SPDX-License-Identifier: MIT
 *
 * Coverage from sections that anybody may have written. A unit's numbers take
 * a byte each at least, so nothing is allocated beyond a fixed multiple of
 * what was unpacked. What is kept is in order: pieces within their arrays,
 * blocks of rows those of the function.
 */
#include "record/coverage_decode.h"

#include <stdlib.h>
#include <string.h>

#include "record/coverage_encode.h"

static void *alloc(struct cp_record_decoder *d, size_t count, size_t size)
{
	void *got = cp_record_alloc(&d->record->arena, count * size);

	cp_record_decode_ok(d, got);
	return got;
}

static uint64_t unit_key(uint64_t image, uint64_t revision, uint64_t index)
{
	return cp_hash_u64(image ^ cp_hash_u64(revision ^ cp_hash_u64(index)));
}

static struct cp_record_unit *find_unit(struct cp_record_decoder *d, uint64_t image,
					uint64_t revision, uint64_t index)
{
	uint64_t *place = cp_map_get(&d->unit_places, unit_key(image, revision, index));
	struct cp_record_unit *u = place ? &d->units.items[*place] : NULL;

	return u && u->image == image && u->revision == revision && u->index == index ? u : NULL;
}

/* ---- a unit ---- */

/* A unit being read. */
struct reading {
	struct cp_record_decoder *d;
	struct cp_cursor *c;
	struct cp_record_unit u;
	struct cp_coverage_block *blocks; /* of `u` */
	size_t count; /* of each column read last */
	bool missing; /* a string is */
};

static bool get(struct reading *r, size_t count, unsigned columns)
{
	r->count = count;
	return cp_record_decode_columns(r->d, r->c, count, columns);
}

static uint64_t at(const struct reading *r, unsigned column, size_t i)
{
	return r->d->column.items[column * r->count + i];
}

/* The place of a string + 1, or 0. */
static uint64_t string_ref(struct reading *r, uint64_t ref)
{
	uint64_t place;

	if (!ref)
		return 0;
	place = cp_record_place(&r->d->rows[CP_RECORD_STRINGS], ref - 1);
	if (place == CP_RECORD_MISSING)
		r->missing = true;
	return place + 1;
}

static const char *string(struct reading *r, uint64_t ref)
{
	uint64_t place = string_ref(r, ref);

	return place ? r->d->strings.items[place - 1] : "";
}

/* Takes `count` of what is left of an array. */
static bool piece(uint64_t count, uint32_t *next, size_t of, uint32_t *first_ret,
		  uint32_t *count_ret)
{
	*first_ret = *next;
	if (count > of - *next)
		return false;
	*count_ret = (uint32_t)count;
	*next += (uint32_t)count;
	return true;
}

static bool get_functions(struct reading *r)
{
	struct cp_coverage_image *c = &r->u.c;
	uint32_t block = 0, row = 0, branch = 0, inlined = 0;
	size_t i;

	if (!get(r, c->function_count, CP_COVER_FUNCTION_COLUMNS))
		return false;
	r->u.functions = alloc(r->d, c->function_count, sizeof(*r->u.functions));
	for (i = 0; r->u.functions && i < c->function_count; i++) {
		struct cp_coverage_function f = {
			.name = string(r, at(r, CP_COVER_FUNCTION_NAME, i)),
			.linkage = string(r, at(r, CP_COVER_FUNCTION_LINKAGE, i)),
			.address = at(r, CP_COVER_FUNCTION_ADDRESS, i),
			.file = (uint32_t)string_ref(r, at(r, CP_COVER_FUNCTION_FILE, i)),
			.line = (uint32_t)at(r, CP_COVER_FUNCTION_LINE, i),
			.flags = (uint32_t)at(r, CP_COVER_FUNCTION_FLAGS, i),
		};
		uint64_t entry = at(r, CP_COVER_FUNCTION_ENTRY, i);

		if (!piece(at(r, CP_COVER_FUNCTION_BLOCKS, i), &block, c->block_count,
			   &f.first_block, &f.block_count) ||
		    !piece(at(r, CP_COVER_FUNCTION_ROWS, i), &row, c->row_count, &f.first_row,
			   &f.row_count) ||
		    !piece(at(r, CP_COVER_FUNCTION_BRANCHES, i), &branch, c->branch_count,
			   &f.first_branch, &f.branch_count) ||
		    !piece(at(r, CP_COVER_FUNCTION_INLINES, i), &inlined, c->inline_count,
			   &f.first_inline, &f.inline_count) ||
		    (entry >= f.block_count && entry))
			return false;
		f.entry = f.first_block + (uint32_t)entry;
		r->u.functions[i] = f;
	}
	c->functions = r->u.functions;
	return r->u.functions && block == c->block_count && row == c->row_count &&
	       branch == c->branch_count && inlined == c->inline_count;
}

static bool get_blocks(struct reading *r)
{
	struct cp_coverage_block *blocks;
	size_t i, k;

	if (!get(r, r->u.c.block_count, CP_COVER_BLOCK_COLUMNS))
		return false;
	blocks = alloc(r->d, r->count, sizeof(*blocks));
	for (i = 0; blocks && i < r->u.c.function_count; i++) {
		const struct cp_coverage_function *f = &r->u.functions[i];
		uint64_t expected = f->address;

		for (k = f->first_block; k < f->first_block + f->block_count; k++) {
			blocks[k] = (struct cp_coverage_block){
				.address = expected + at(r, CP_COVER_BLOCK_ADDRESS, k),
				.size = (uint32_t)at(r, CP_COVER_BLOCK_SIZE, k),
				.count = CP_COVERAGE_UNKNOWN,
				.next = (uint32_t)at(r, CP_COVER_BLOCK_NEXT, k),
			};
			expected = blocks[k].address + blocks[k].size;
		}
	}
	r->u.c.blocks = r->blocks = blocks;
	return blocks;
}

/* The last column, which earlier versions lack, and units without exceptions. */
static bool get_landings(struct reading *r)
{
	size_t i;

	if (!cp_cursor_left(r->c))
		return true;
	if (!get(r, r->u.c.block_count, 1))
		return false;
	for (i = 0; i < r->count; i++)
		r->blocks[i].landing = (uint32_t)at(r, 0, i);
	return true;
}

static bool get_rows(struct reading *r)
{
	struct cp_coverage_row *rows;
	size_t i, k;

	if (!get(r, r->u.c.row_count, CP_COVER_ROW_COLUMNS))
		return false;
	rows = alloc(r->d, r->count, sizeof(*rows));
	for (i = 0; rows && i < r->u.c.function_count; i++) {
		const struct cp_coverage_function *f = &r->u.functions[i];

		for (k = f->first_row; k < f->first_row + f->row_count; k++) {
			if (at(r, CP_COVER_ROW_BLOCK, k) >= f->block_count)
				return false;
			rows[k] = (struct cp_coverage_row){
				.block = f->first_block + (uint32_t)at(r, CP_COVER_ROW_BLOCK, k),
				.file = (uint32_t)string_ref(r, at(r, CP_COVER_ROW_FILE, k)),
				.line = (uint32_t)at(r, CP_COVER_ROW_LINE, k),
				.flags = (uint32_t)at(r, CP_COVER_ROW_FLAGS, k),
			};
		}
	}
	r->u.c.rows = rows;
	return rows;
}

static bool get_branches(struct reading *r)
{
	struct cp_coverage_branch *branches;
	size_t i, k;

	if (!get(r, r->u.c.branch_count, CP_COVER_BRANCH_COLUMNS))
		return false;
	branches = alloc(r->d, r->count, sizeof(*branches));
	for (i = 0; branches && i < r->u.c.function_count; i++) {
		const struct cp_coverage_function *f = &r->u.functions[i];

		for (k = f->first_branch; k < f->first_branch + f->branch_count; k++) {
			uint64_t block = at(r, CP_COVER_BRANCH_BLOCK, k);

			if (block >= f->block_count)
				return false;
			block += f->first_block;
			branches[k] = (struct cp_coverage_branch){
				.address = r->u.c.blocks[block].address +
					   at(r, CP_COVER_BRANCH_ADDRESS, k),
				.block = (uint32_t)block,
				.file = (uint32_t)string_ref(r, at(r, CP_COVER_BRANCH_FILE, k)),
				.line = (uint32_t)at(r, CP_COVER_BRANCH_LINE, k),
				.target = (uint32_t)at(r, CP_COVER_BRANCH_TARGET, k),
				.taken = CP_COVERAGE_UNKNOWN,
				.passed = CP_COVERAGE_UNKNOWN,
			};
		}
	}
	r->u.c.branches = branches;
	return branches;
}

static bool get_inlines(struct reading *r)
{
	struct cp_coverage_inline *inlines;
	size_t i, k;

	if (!get(r, r->u.c.inline_count, CP_COVER_INLINE_COLUMNS))
		return false;
	inlines = alloc(r->d, r->count, sizeof(*inlines));
	for (i = 0; inlines && i < r->u.c.function_count; i++) {
		const struct cp_coverage_function *f = &r->u.functions[i];

		for (k = f->first_inline; k < f->first_inline + f->inline_count; k++) {
			if (at(r, CP_COVER_INLINE_BLOCK, k) >= f->block_count)
				return false;
			inlines[k] = (struct cp_coverage_inline){
				.name = string(r, at(r, CP_COVER_INLINE_NAME, k)),
				.file = (uint32_t)string_ref(r, at(r, CP_COVER_INLINE_FILE, k)),
				.line = (uint32_t)at(r, CP_COVER_INLINE_LINE, k),
				.block = f->first_block + (uint32_t)at(r, CP_COVER_INLINE_BLOCK, k),
			};
		}
	}
	r->u.c.inlines = inlines;
	return inlines;
}

/* The numbers that all sections begin with; the image's place. */
static bool get_head(struct cp_record_decoder *d, struct cp_cursor *c, uint64_t *image_ret,
		     uint64_t *revision_ret, uint64_t *index_ret)
{
	*image_ret = cp_record_place(&d->rows[CP_RECORD_IMAGES], cp_cursor_uleb(c));
	*revision_ret = cp_cursor_uleb(c);
	*index_ret = cp_cursor_uleb(c);
	return !c->bad;
}

static bool add_unit(struct cp_record_decoder *d, const struct cp_record_unit *u)
{
	if (find_unit(d, u->image, u->revision, u->index))
		return true; /* again: the first one has the counts */
	return cp_record_decode_ok(d, cp_map_put(&d->unit_places,
						 unit_key(u->image, u->revision, u->index),
						 d->units.count) &&
					      cp_vec_push(&d->units, *u));
}

bool cp_record_decode_coverage(struct cp_record_decoder *d, struct cp_cursor *c)
{
	struct reading r = { .d = d, .c = c };
	uint64_t image, revision, index, sizes[5];
	size_t i;

	if (!get_head(d, c, &image, &revision, &index))
		return false;
	r.u.c.written_ns = cp_cursor_uleb(c);
	for (i = 0; i < 5; i++) {
		sizes[i] = cp_cursor_uleb(c);
		if (sizes[i] > CP_RECORD_RAW_MAX)
			return false;
	}
	r.u.c.function_count = (size_t)sizes[0];
	r.u.c.block_count = (size_t)sizes[1];
	r.u.c.row_count = (size_t)sizes[2];
	r.u.c.branch_count = (size_t)sizes[3];
	r.u.c.inline_count = (size_t)sizes[4];
	if (c->bad || !get_functions(&r) || !get_blocks(&r) || !get_rows(&r) || !get_branches(&r) ||
	    !get_inlines(&r) || !get_landings(&r))
		return false;
	if (image == CP_RECORD_MISSING || r.missing) {
		d->record->own.dropped += r.u.c.function_count;
		return true;
	}
	r.u.image = (uint32_t)image;
	r.u.revision = revision;
	r.u.index = index;
	return add_unit(d, &r.u);
}

/* ---- counts ---- */

/* Puts the counts of `part` (+ 1) into the unit, in the place of older ones. */
static bool put_counts(struct cp_record_decoder *d, struct cp_record_unit *u, uint32_t part,
		       uint32_t flags, uint64_t *values)
{
	struct cp_record_counts *it;

	cp_vec_for_each(&u->counts, it) {
		if (it->part != part)
			continue;
		free(it->values);
		it->values = values;
		it->flags = flags;
		return true;
	}
	if (cp_record_decode_ok(d, cp_vec_push(&u->counts,
					       (struct cp_record_counts){ part, flags, values })))
		return true;
	free(values);
	return false;
}

bool cp_record_decode_counts(struct cp_record_decoder *d, struct cp_cursor *c)
{
	uint64_t image, revision, index, part, flags, *values;
	struct cp_record_unit *u;
	size_t count, branches, i;

	if (!get_head(d, c, &image, &revision, &index))
		return false;
	part = cp_cursor_uleb(c);
	flags = cp_cursor_uleb(c);
	if (c->bad || part > CP_RECORD_PARTS_MAX)
		return false;
	u = image == CP_RECORD_MISSING ? NULL : find_unit(d, image, revision, index);
	if (!u)
		return true; /* lost with a chunk, which was counted */
	branches = u->c.branch_count;
	count = u->c.block_count + 2 * branches;
	values = malloc((count + 1) * sizeof(*values));
	if (!cp_record_decode_ok(d, values))
		return false;
	if (!cp_record_decode_columns(d, c, u->c.block_count, 1))
		goto bad;
	for (i = 0; i < u->c.block_count; i++)
		values[i] = d->column.items[i] - CP_COVER_COUNT_BIAS;
	if (!cp_record_decode_columns(d, c, branches, 2))
		goto bad;
	for (i = 0; i < 2 * branches; i++)
		values[u->c.block_count + i] = d->column.items[i] - CP_COVER_COUNT_BIAS;
	return put_counts(d, u, (uint32_t)part, (uint32_t)flags, values);
bad:
	free(values);
	return false;
}

static void free_counts(struct cp_record_counts *counts, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free(counts[i].values);
}

void cp_record_free_units(struct cp_record_decoder *d)
{
	struct cp_record_unit *u;

	cp_vec_for_each(&d->units, u) {
		free_counts(u->counts.items, u->counts.count);
		cp_vec_free(&u->counts);
	}
	cp_vec_free(&d->units);
	cp_map_free(&d->unit_places);
}

void cp_record_free_coverage(struct cp_record *r)
{
	struct cp_record_coverage *it;

	cp_vec_for_each(&r->coverage, it) {
		free_counts(it->counts.items, it->counts.count);
		cp_vec_free(&it->counts);
	}
	cp_vec_free(&r->coverage);
}
