/* SPDX-License-Identifier: MIT
 *
 * An image's coverage is written in units of some functions each, so that no
 * chunk gets too large, and a lost one takes few with it. What they consist of
 * (the layout) is written once, the counts each time that they changed:
 *
 *     image, revision, unit | functions | blocks | rows | branches | inlines
 *     image, revision, unit | part | counts of blocks, of branches
 *
 * An image whose layout changes gets a new revision, of which all units are
 * written; earlier ones are forgotten by readers.
 */
#include "record/coverage_encode.h"

#include <string.h>

#include "record/encode.h"

/* Functions, blocks, rows, branches and inlines of a unit, about; of one
 * function, at most: one with more is told without any. */
#define UNIT_ITEMS ((size_t)1 << 16)
#define FUNCTION_ITEMS ((size_t)1 << 20)

void cp_record_put_coverage(struct cp_record_encoder *e)
{
	cp_buf_add(&e->payload, e->covering.sections.bytes, e->covering.sections.size);
	cp_buf_clear(&e->covering.sections);
}

void cp_record_covering_free(struct cp_record_encoder *e)
{
	struct cp_record_covering *c = &e->covering;
	size_t i;

	for (i = 0; i < c->images.count; i++)
		cp_vec_free(&c->images.items[i].counts);
	cp_vec_free(&c->images);
	cp_vec_free(&c->column);
	cp_buf_free(&c->body);
	cp_buf_free(&c->sections);
}

static size_t items(const struct cp_coverage_function *f)
{
	return (size_t)f->block_count + f->row_count + f->branch_count + f->inline_count;
}

/* ---- a unit ---- */

/* A unit being written: the functions from `first` up to `end`. */
struct unit {
	struct cp_record_encoder *e;
	const struct cp_coverage_image *c;
	size_t first, end;
	bool writing; /* or just looking whether it changed */
	uint32_t last_file; /* + 1; its reference is last_ref */
	uint64_t last_ref;
};

static void push(struct unit *u, uint64_t value)
{
	cp_record_encode_ok(u->e, cp_vec_push(&u->e->covering.column, value));
}

/* Ends a column. */
static void put(struct unit *u)
{
	struct cp_record_covering *to = &u->e->covering;

	cp_record_put_column(&to->body, to->column.items, to->column.count);
	to->column.count = 0;
}

static uint64_t string(struct unit *u, const char *text)
{
	uint64_t ref = cp_record_encode_string(u->e, text);

	if (ref && u->writing)
		cp_record_encode_use(u->e, CP_RECORD_STRINGS, ref - 1);
	return ref;
}

static uint64_t file(struct unit *u, uint32_t n)
{
	if (n >= u->c->file_count)
		return 0;
	if (u->last_file != n + 1) {
		u->last_ref = string(u, u->c->files[n]);
		u->last_file = n + 1;
	}
	return u->last_ref;
}

static uint64_t function_value(struct unit *u, const struct cp_coverage_function *f,
			       unsigned column)
{
	switch (column) {
	case CP_COVER_FUNCTION_NAME:
		return string(u, f->name);
	case CP_COVER_FUNCTION_LINKAGE:
		return string(u, f->linkage);
	case CP_COVER_FUNCTION_ADDRESS:
		return f->address;
	case CP_COVER_FUNCTION_FILE:
		return file(u, f->file);
	case CP_COVER_FUNCTION_LINE:
		return f->line;
	case CP_COVER_FUNCTION_ENTRY:
		return f->block_count ? f->entry - f->first_block : 0;
	case CP_COVER_FUNCTION_FLAGS:
		return f->flags;
	case CP_COVER_FUNCTION_BLOCKS:
		return f->block_count;
	case CP_COVER_FUNCTION_ROWS:
		return f->row_count;
	case CP_COVER_FUNCTION_BRANCHES:
		return f->branch_count;
	default:
		return f->inline_count;
	}
}

static void put_blocks(struct unit *u, const struct cp_coverage_function *f, unsigned column)
{
	const struct cp_coverage_block *b = u->c->blocks + f->first_block;
	uint64_t expected = f->address;
	uint32_t i;

	for (i = 0; i < f->block_count; i++, b++) {
		push(u, column == CP_COVER_BLOCK_ADDRESS ? b->address - expected
			: column == CP_COVER_BLOCK_SIZE	 ? b->size
			: column == CP_COVER_BLOCK_NEXT	 ? b->next
							 : b->landing);
		expected = b->address + b->size;
	}
}

static void put_landings(struct unit *u, const struct cp_coverage_function *f, unsigned column)
{
	put_blocks(u, f, CP_COVER_BLOCK_LANDING + column);
}

static bool has_landings(const struct unit *u)
{
	const struct cp_coverage_function *f;
	uint32_t i;

	for (f = u->c->functions + u->first; f < u->c->functions + u->end; f++)
		for (i = 0; i < f->block_count; i++)
			if (u->c->blocks[f->first_block + i].landing)
				return true;
	return false;
}

static void put_rows(struct unit *u, const struct cp_coverage_function *f, unsigned column)
{
	const struct cp_coverage_row *r;
	uint32_t i;

	for (i = 0; i < f->row_count; i++) {
		r = &u->c->rows[f->first_row + i];
		push(u, column == CP_COVER_ROW_BLOCK  ? r->block - f->first_block
			: column == CP_COVER_ROW_FILE ? file(u, r->file)
			: column == CP_COVER_ROW_LINE ? r->line
						      : r->flags);
	}
}

static void put_branches(struct unit *u, const struct cp_coverage_function *f, unsigned column)
{
	const struct cp_coverage_branch *b;
	uint32_t i;

	for (i = 0; i < f->branch_count; i++) {
		b = &u->c->branches[f->first_branch + i];
		push(u, column == CP_COVER_BRANCH_BLOCK	 ? b->block - f->first_block
			: column == CP_COVER_BRANCH_FILE ? file(u, b->file)
			: column == CP_COVER_BRANCH_LINE ? b->line
			: column == CP_COVER_BRANCH_TARGET
				? b->target
				: b->address - u->c->blocks[b->block].address);
	}
}

static void put_inlines(struct unit *u, const struct cp_coverage_function *f, unsigned column)
{
	const struct cp_coverage_inline *n =
		f->inline_count ? u->c->inlines + f->first_inline : NULL;
	uint32_t i;

	for (i = 0; i < f->inline_count; i++, n++)
		push(u, column == CP_COVER_INLINE_BLOCK	 ? n->block - f->first_block
			: column == CP_COVER_INLINE_NAME ? string(u, n->name)
			: column == CP_COVER_INLINE_FILE ? file(u, n->file)
							 : n->line);
}

static void put_counts(struct unit *u, const struct cp_coverage_function *f, unsigned column)
{
	const struct cp_coverage_branch *b;
	uint32_t i;

	for (i = 0; !column && i < f->block_count; i++)
		push(u, u->c->blocks[f->first_block + i].count + CP_COVER_COUNT_BIAS);
	for (i = 0; column && i < f->branch_count; i++) {
		b = &u->c->branches[f->first_branch + i];
		push(u, (column == 1 ? b->taken : b->passed) + CP_COVER_COUNT_BIAS);
	}
}

typedef void (*put_fn)(struct unit *u, const struct cp_coverage_function *f, unsigned column);

static void put_all(struct unit *u, put_fn one, unsigned columns)
{
	unsigned k;
	size_t i;

	for (k = 0; k < columns; k++) {
		for (i = u->first; i < u->end; i++)
			one(u, &u->c->functions[i], k);
		put(u);
	}
}

static void put_functions(struct unit *u, const struct cp_coverage_function *f, unsigned column)
{
	push(u, function_value(u, f, column));
}

static void put_layout(struct unit *u)
{
	struct cp_buf *body = &u->e->covering.body;
	uint64_t sums[4] = { 0 };
	size_t i;

	for (i = u->first; i < u->end; i++) {
		sums[0] += u->c->functions[i].block_count;
		sums[1] += u->c->functions[i].row_count;
		sums[2] += u->c->functions[i].branch_count;
		sums[3] += u->c->functions[i].inline_count;
	}
	cp_buf_uleb(body, u->c->written_ns);
	cp_buf_uleb(body, u->end - u->first);
	for (i = 0; i < 4; i++)
		cp_buf_uleb(body, sums[i]);
	put_all(u, put_functions, CP_COVER_FUNCTION_COLUMNS);
	put_all(u, put_blocks, CP_COVER_BLOCK_COLUMNS);
	put_all(u, put_rows, CP_COVER_ROW_COLUMNS);
	put_all(u, put_branches, CP_COVER_BRANCH_COLUMNS);
	put_all(u, put_inlines, CP_COVER_INLINE_COLUMNS);
	if (has_landings(u))
		put_all(u, put_landings, 1);
}

/* ---- sections ---- */

static struct cp_record_covered *state_of(struct cp_record_encoder *e, uint32_t image)
{
	struct cp_record_covering *to = &e->covering;

	if (image >= e->tables[CP_RECORD_IMAGES].written.count)
		return NULL;
	while (to->images.count <= image)
		if (!cp_record_encode_ok(e, cp_vec_push(&to->images, (struct cp_record_covered){
									     .revision = 0 })))
			return NULL;
	return &to->images.items[image];
}

/* The next unit of `u`'s image. */
static bool next_unit(struct unit *u)
{
	size_t sum = 0;

	u->first = u->end;
	u->last_file = 0;
	while (u->end < u->c->function_count && sum < UNIT_ITEMS)
		sum += 1 + items(&u->c->functions[u->end++]);
	return u->end > u->first && !cp_record_sink_failed(u->e->sink);
}

/* Puts e->covering.body behind the numbers that say of what it is. */
static void put_section(struct cp_record_encoder *e, enum cp_record_section tag, uint32_t image,
			uint32_t index)
{
	struct cp_record_covering *to = &e->covering;
	struct cp_buf head = { 0 };
	size_t size;

	cp_record_encode_use(e, CP_RECORD_IMAGES, image);
	cp_buf_uleb(&head, image);
	cp_buf_uleb(&head, to->images.items[image].revision);
	cp_buf_uleb(&head, index);
	size = head.size + to->body.size + 2 * CP_RECORD_NUMBER_MAX;
	if (e->pending + size > CP_RECORD_RAW_MAX - CP_RECORD_RAW_MAX / 8)
		cp_record_encode_flush(e);
	cp_buf_uleb(&to->sections, tag);
	cp_buf_uleb(&to->sections, head.size + to->body.size);
	cp_buf_add(&to->sections, head.bytes, head.size);
	cp_buf_add(&to->sections, to->body.bytes, to->body.size);
	cp_record_encode_ok(e, !head.failed && !to->body.failed && !to->sections.failed);
	cp_buf_free(&head);
	cp_buf_clear(&to->body);
	e->pending += size;
	cp_record_encode_check(e);
}

static void add_hash(struct cp_record_hash *hash, const struct cp_buf *body)
{
	uint64_t *h = hash->h;

	h[0] = cp_hash_u64(h[0] ^ cp_hash_bytes(body->bytes, body->size));
	h[1] = cp_hash_u64(h[1] + h[0] + cp_record_crc(body->bytes, body->size));
}

static bool same(const struct cp_record_hash *a, const struct cp_record_hash *b)
{
	return a->h[0] == b->h[0] && a->h[1] == b->h[1];
}

/* Hashes, writes the layout, or both in one. */
static struct cp_record_hash do_layout(struct cp_record_encoder *e,
				       const struct cp_coverage_image *c, bool hashing,
				       bool writing)
{
	struct unit u = { .e = e, .c = c, .writing = writing };
	struct cp_record_hash hash = { { 0, 0 } };
	uint32_t index;

	if (writing)
		e->covering.images.items[c->image].revision++;
	for (index = 0; next_unit(&u); index++) {
		put_layout(&u);
		if (hashing)
			add_hash(&hash, &e->covering.body);
		if (writing)
			put_section(e, CP_RECORD_COVERAGE, c->image, index);
		cp_buf_clear(&e->covering.body);
	}
	return hash;
}

void cp_record_encode_layout(struct cp_record_encoder *e, const struct cp_coverage_image *c)
{
	struct cp_record_covered *state = state_of(e, c->image);
	struct cp_record_hash hash;
	bool first;

	if (!state || (c->same_layout && state->revision))
		return;
	first = !state->revision;
	hash = do_layout(e, c, true, first);
	if (same(&hash, &state->layout) || cp_record_sink_failed(e->sink))
		return;
	state->layout = hash;
	state->counts.count = 0;
	if (!first)
		do_layout(e, c, false, true);
}

void cp_record_encode_counts(struct cp_record_encoder *e, uint32_t part,
			     const struct cp_coverage_image *c)
{
	struct cp_record_covered *state = state_of(e, c->image);
	struct unit u = { .e = e, .c = c, .writing = true };
	const struct cp_record_hash none = { { 0, 0 } };
	struct cp_record_hash hash;
	uint32_t index;

	for (index = 0; state && next_unit(&u); index++) {
		cp_buf_uleb(&e->covering.body, part);
		cp_buf_uleb(&e->covering.body, c->flags);
		put_all(&u, put_counts, 3);
		hash = none;
		add_hash(&hash, &e->covering.body);
		if (index == state->counts.count &&
		    !cp_record_encode_ok(e, cp_vec_push(&state->counts, none)))
			return;
		if (!same(&hash, &state->counts.items[index]))
			put_section(e, CP_RECORD_COUNTS, c->image, index);
		state->counts.items[index] = hash;
		cp_buf_clear(&e->covering.body);
	}
}

/* ---- copies ---- */

struct copying {
	struct cp_record_arena *arena;
	struct cp_map strings; /* each once */
	bool no_memory;
};

static const char *copy_string(struct copying *c, const char *text)
{
	uint64_t *known;
	char *got;

	if (!text)
		return "";
	known = cp_map_get(&c->strings, (uintptr_t)text);
	if (known)
		return (const char *)(uintptr_t)*known;
	got = cp_record_copy(c->arena, text, strlen(text));
	if (!got || !cp_map_put(&c->strings, (uintptr_t)text, (uintptr_t)got))
		c->no_memory = true;
	return got;
}

static void *copy_array(struct copying *c, const void *from, size_t count, size_t size)
{
	void *got = cp_record_alloc(c->arena, count * size);

	if (!got)
		c->no_memory = true;
	else if (count)
		memcpy(got, from, count * size);
	return got;
}

static bool piece_in_order(uint32_t first, uint32_t count, size_t of)
{
	return first <= of && count <= of - first;
}

/* A function's pieces are within the image's arrays, their blocks its own. */
static bool in_order(const struct cp_coverage_image *c, const struct cp_coverage_function *f)
{
	uint32_t i;

	if (!piece_in_order(f->first_block, f->block_count, c->block_count) ||
	    !piece_in_order(f->first_row, f->row_count, c->row_count) ||
	    !piece_in_order(f->first_branch, f->branch_count, c->branch_count) ||
	    !piece_in_order(f->first_inline, f->inline_count, c->inline_count) ||
	    items(f) > FUNCTION_ITEMS ||
	    (f->block_count && f->entry - f->first_block >= f->block_count))
		return false;
	for (i = 0; i < f->row_count; i++)
		if (c->rows[f->first_row + i].block - f->first_block >= f->block_count)
			return false;
	for (i = 0; i < f->branch_count; i++)
		if (c->branches[f->first_branch + i].block - f->first_block >= f->block_count)
			return false;
	for (i = 0; i < f->inline_count; i++)
		if (c->inlines[f->first_inline + i].block - f->first_block >= f->block_count)
			return false;
	return true;
}

static void copy_functions(struct copying *copying, const struct cp_coverage_image *c,
			   struct cp_coverage_image *to)
{
	struct cp_coverage_function *functions =
		cp_record_alloc(copying->arena, c->function_count * sizeof(*functions));
	size_t i, kept = 0;

	if (!functions) {
		copying->no_memory = true;
		return;
	}
	for (i = 0; i < c->function_count; i++) {
		if (!in_order(c, &c->functions[i]))
			continue;
		functions[kept] = c->functions[i];
		functions[kept].name = copy_string(copying, c->functions[i].name);
		functions[kept++].linkage = copy_string(copying, c->functions[i].linkage);
	}
	to->functions = functions;
	to->function_count = kept;
}

bool cp_record_copy_coverage(struct cp_record_arena *arena, const struct cp_coverage_image *c,
			     struct cp_coverage_image *ret)
{
	struct copying copying = { .arena = arena };
	struct cp_coverage_image to = *c;
	struct cp_coverage_inline *inlines;
	const char **files;
	size_t i;

	files = copy_array(&copying, c->files, c->file_count, sizeof(*files));
	to.blocks = copy_array(&copying, c->blocks, c->block_count, sizeof(*c->blocks));
	to.rows = copy_array(&copying, c->rows, c->row_count, sizeof(*c->rows));
	to.branches = copy_array(&copying, c->branches, c->branch_count, sizeof(*c->branches));
	inlines = copy_array(&copying, c->inlines, c->inline_count, sizeof(*inlines));
	copy_functions(&copying, c, &to);
	for (i = 0; files && i < c->file_count; i++)
		files[i] = copy_string(&copying, files[i]);
	for (i = 0; inlines && i < c->inline_count; i++)
		inlines[i].name = copy_string(&copying, inlines[i].name);
	to.files = files;
	to.inlines = inlines;
	cp_map_free(&copying.strings);
	if (!copying.no_memory)
		*ret = to;
	return !copying.no_memory;
}
