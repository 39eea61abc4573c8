/* SPDX-License-Identifier: MIT
 *
 * A line of the source may have code in many places: in instances of a
 * template, in every program that includes a header, inlined here and there.
 * Each such instance of a function has its blocks of the line, and its
 * conditional jumps, in the order of their addresses; the first ones of all
 * instances are taken for the same, the second ones, ...
 *
 *     for (i = 0; i < n; i++)     f<int>     f<char>   inlined in g
 *       first block               ran        not        not         ran
 *       second                    ran        not        ran         ran
 *
 * Within an instance a line was executed as often as its most often executed
 * block, or, by exact counts, as often as it was begun; instances add up.
 *
 * What ran of an optimised line need not have been the line: the compiler moves
 * instructions to where others run, too, and leaves a row that says where the
 * statement would have begun (EMPTY: it has none of the instructions there).
 *
 *     if (a)                  10 statement    test        ran
 *                             11              load b      ran: moved up
 *             c = *b;         11 statement    store c     not
 *
 * So a line was reached where one of its statements began, or was jumped into.
 * That is beyond doubt if instructions of its own ran as well; of a line that
 * begins nowhere, its instructions are all there is to go by.
 *
 * Which instance a row belongs to is known by where functions are declared: of
 * those that are inlined into a function, and itself, the last one declared
 * before the row's line has it; of several inlined instances of that, the last
 * one that begins before the row.
 */
#include "report/coverage/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "record/coverage_tests.h"
#include "report/coverage/count.h"
#include "report/coverage/coverage.h"
#include "report/coverage/names.h"
#include "report/coverage/sources.h"

#define LEFT_OUT CP_RECORD_NONE

/* A function that is inlined into the one that is added, or that one itself (start 0). */
struct owner {
	uint32_t file, line; /* declared */
	uint32_t start; /* block that it begins in */
	uint32_t function; /* sum, or CP_RECORD_NONE: left out */
};

/* A row: code of a line in a block. */
struct spot {
	uint64_t place; /* file << 32 | line */
	uint32_t owner;
	uint32_t block;
	uint32_t flags; /* of the row, and */
};
#define SPOT_INLINES (UINT32_C(1) << 31) /* an inlined function follows in the block */

/* A block that is an owner's. */
struct owned {
	uint32_t owner, block;
};

/* An image being added, and the function of it. */
struct adding {
	struct cp_sums *s;
	const struct cp_coverage_image *c;
	uint32_t *files; /* of the image: sums, or LEFT_OUT */
	const struct cp_coverage_function *f;
	uint32_t file, line; /* of `f` */
	uint32_t self; /* owner */
	CP_VEC(struct owner) owners; /* by file, line, start */
	CP_VEC(struct spot) spots;
	CP_VEC(struct owned) owned;
	struct cp_line_counter counter;
};

static bool ok(struct cp_sums *s, bool is)
{
	if (!is)
		s->no_memory = true;
	return is;
}

static const char *copy(struct cp_sums *s, const char *text, size_t size)
{
	const char *got = cp_arena_copy(s->arena, text, size);

	return ok(s, got) ? got : "";
}

/* ---- files ---- */

static uint32_t new_file(struct cp_sums *s, const char *recorded)
{
	const struct cp_source_file *source = NULL;
	struct cp_file_sum sum = { 0 };
	char *path = NULL;
	uint32_t n = LEFT_OUT;
	bool fresh = false;

	if (s->sources)
		source = cp_sources_file(s->sources, recorded);
	else
		path = cp_source_path(&s->paths, recorded);
	sum.path = source ? source->path : path;
	if (ok(s, sum.path && cp_intern(&s->settled, sum.path, strlen(sum.path), &n, &fresh)) &&
	    fresh) {
		sum.source = source;
		sum.name = source ? source->name : cp_source_name(&s->paths, path);
		sum.name = copy(s, sum.name, strlen(sum.name));
		sum.path = copy(s, sum.path, strlen(sum.path));
		ok(s, cp_vec_push(&s->files, sum));
	}
	free(path);
	return n;
}

static uint32_t find_file(struct cp_sums *s, const char *recorded)
{
	uint32_t number;
	bool fresh = false;

	if (!ok(s, cp_intern(&s->recorded, recorded, strlen(recorded), &number, &fresh)))
		return LEFT_OUT;
	if (fresh) {
		uint32_t file = !s->sources || cp_sources_wanted(s->sources, recorded)
					? new_file(s, recorded)
					: LEFT_OUT;

		ok(s, cp_vec_push(&s->found, file));
	}
	return number < s->found.count ? s->found.items[number] : LEFT_OUT;
}

static bool set_files(struct adding *a)
{
	size_t i;
	uint32_t n;

	a->files = malloc((a->c->file_count + 1) * sizeof(*a->files));
	if (!ok(a->s, a->files))
		return false;
	for (i = 0; i < a->c->file_count && !a->s->no_memory; i++) {
		a->files[i] = n = find_file(a->s, a->c->files[i]);
		if (n < a->s->files.count) {
			struct cp_file_sum *file = &a->s->files.items[n];

			file->newer |= file->source && a->c->written_ns &&
				       file->source->written_ns > a->c->written_ns;
		}
	}
	return !a->s->no_memory;
}

/* The file that has a number in the recording. */
static uint32_t file_of(const struct adding *a, uint32_t recorded)
{
	return recorded < a->c->file_count ? a->files[recorded] : LEFT_OUT;
}

/* ---- functions ---- */

static struct cp_function_sum *function_sum(struct cp_sums *s, uint32_t n)
{
	return n < s->functions.count ? &s->functions.items[n] : NULL;
}

/* The sum of all that is called so and declared there. */
static uint32_t find_function(struct cp_sums *s, uint32_t file, uint32_t line, const char *name,
			      const char *linkage)
{
	struct cp_buf key = { 0 };
	struct cp_function_sum sum = { .file = file, .line = line, .end_line = line };
	uint32_t n = CP_RECORD_NONE;
	bool fresh = false;
	size_t head, base;

	if (file == LEFT_OUT)
		return CP_RECORD_NONE;
	cp_buf_u32(&key, file);
	cp_buf_u32(&key, line);
	head = key.size;
	cp_name_base(&key, name);
	base = key.size - head;
	if (!key.failed)
		cp_name_structor(key.bytes + head, linkage, sum.structor);
	cp_buf_str(&key, sum.structor);
	if (ok(s, !key.failed && cp_intern(&s->function_keys, key.bytes, key.size, &n, &fresh)) &&
	    fresh) {
		sum.base = copy(s, key.bytes + head, base);
		ok(s, cp_vec_push(&s->functions, sum));
	}
	cp_buf_free(&key);
	return n;
}

/* Gives the sum a name; those of symbols come before those of inlined ones. */
static void name_function(struct cp_sums *s, struct cp_function_sum *sum, const char *name,
			  const char *linkage)
{
	struct cp_buf text = { 0 };

	cp_name_unclone(&text, name);
	if (!ok(s, !text.failed && text.bytes))
		text.size = 0;
	if (!sum->name || (linkage && !sum->real)) {
		sum->name = copy(s, text.size ? text.bytes : "", text.size);
		sum->differ = false;
	} else if (sum->real == (linkage != NULL) && text.size && strcmp(sum->name, text.bytes)) {
		sum->differ = true;
	}
	sum->real |= linkage != NULL;
	cp_buf_clear(&text);
	if (linkage) {
		cp_name_unclone(&text, linkage);
		if (ok(s, !text.failed) && text.size &&
		    (!sum->linkage || strcmp(text.bytes, sum->linkage) < 0))
			sum->linkage = copy(s, text.bytes, text.size);
	}
	cp_buf_free(&text);
}

/* Adds an instance with these blocks. */
static void add_blocks(struct cp_sums *s, struct cp_function_sum *sum,
		       const struct cp_coverage_image *c, const struct owned *owned, size_t count)
{
	struct cp_variant *v;
	size_t i;

	for (v = sum->variants; v && v->blocks != count;)
		v = v->next;
	if (!v) {
		v = cp_arena_alloc(s->arena, sizeof(*v));
		if (!ok(s, v))
			return;
		v->covered = cp_arena_alloc(s->arena, count + 1);
		v->blocks = v->covered ? (uint32_t)count : 0;
		v->next = sum->variants;
		sum->variants = v;
		ok(s, v->covered);
	}
	for (i = 0; i < v->blocks; i++)
		v->covered[i] |= cp_is_covered(c->blocks[owned[i].block].count);
}

/* ---- whose rows are whose ---- */

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_owners(const void *pa, const void *pb)
{
	const struct owner *a = pa, *b = pb;

	if (a->file != b->file)
		return order(a->file, b->file);
	return a->line != b->line ? order(a->line, b->line) : order(a->start, b->start);
}

static void set_owners(struct adding *a)
{
	const struct cp_coverage_function *f = a->f;
	struct owner self = { a->file, a->line, 0, CP_RECORD_NONE };
	uint32_t i;

	if (!cp_name_is_thunk(f->name))
		self.function = find_function(a->s, a->file, a->line, f->name, f->linkage);
	a->owners.count = 0;
	ok(a->s, cp_vec_push(&a->owners, self));
	for (i = 0; i < f->inline_count; i++) {
		const struct cp_coverage_inline *in = &a->c->inlines[f->first_inline + i];
		uint32_t file = file_of(a, in->file);
		uint32_t n = cp_name_is_thunk(in->name)
				     ? CP_RECORD_NONE
				     : find_function(a->s, file, in->line, in->name, NULL);
		struct cp_function_sum *sum = function_sum(a->s, n);

		/* Libraries have functions that are always inlined. */
		a->s->optimised |= file != LEFT_OUT;
		ok(a->s,
		   cp_vec_push(&a->owners, (struct owner){ file, in->line, in->block + 1, n }));
		if (!sum)
			continue;
		name_function(a->s, sum, in->name, NULL);
		sum->code = true;
		sum->count = cp_coverage_add(sum->count, a->c->blocks[in->block].count);
	}
	if (a->s->no_memory)
		return;
	cp_vec_sort(&a->owners, compare_owners);
	for (i = 0; i < a->owners.count; i++)
		if (!a->owners.items[i].start)
			a->self = i;
}

/* The last owner that is not behind `wanted`, + 1; 0: none. */
static size_t last_owner(const struct adding *a, struct owner wanted)
{
	size_t low = 0, high = a->owners.count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_owners(&a->owners.items[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The owner of a row of `file`, `line` in `block`. */
static uint32_t find_owner(const struct adding *a, uint32_t file, uint32_t line, uint32_t block)
{
	struct owner wanted = { .file = file, .line = line, .start = UINT32_MAX };
	size_t n = last_owner(a, wanted), begun;

	if (!n || a->owners.items[n - 1].file != file)
		return a->self;
	/* The last instance of that function that begins before the block. */
	wanted.line = a->owners.items[n - 1].line;
	wanted.start = block + 1;
	begun = last_owner(a, wanted);
	if (begun && a->owners.items[begun - 1].file == file &&
	    a->owners.items[begun - 1].line == wanted.line)
		n = begun;
	return (uint32_t)n - 1;
}

static int compare_spots(const void *pa, const void *pb)
{
	const struct spot *a = pa, *b = pb;

	if (a->place != b->place)
		return order(a->place, b->place);
	return a->owner != b->owner ? order(a->owner, b->owner) : order(a->block, b->block);
}

static int compare_owned(const void *pa, const void *pb)
{
	const struct owned *a = pa, *b = pb;

	return a->owner != b->owner ? order(a->owner, b->owner) : order(a->block, b->block);
}

/* `last` is the row before one of `owner`'s, which is inlined. */
static void set_inlines(struct spot *last, uint32_t owner, uint32_t block)
{
	if (last->block == block && last->owner != owner)
		last->flags |= SPOT_INLINES;
}

/* Sorts the function's rows by line and owner, its blocks by owner: that of
 * their first row. */
static void set_spots(struct adding *a)
{
	const struct cp_coverage_function *f = a->f;
	bool thunk = cp_name_is_thunk(f->name);
	uint32_t i, next = f->first_block, owner;
	uint64_t place;

	a->spots.count = a->owned.count = 0;
	for (i = 0; i < f->row_count; i++) {
		const struct cp_coverage_row *row = &a->c->rows[f->first_row + i];
		uint32_t file = file_of(a, row->file);

		if (!row->line)
			continue;
		place = (uint64_t)file << 32 | row->line;
		ok(a->s, cp_line_counter_row(&a->counter, row->block, place,
					     row->flags & CP_COVERAGE_ROW_BYTE));
		owner = find_owner(a, file, row->line, row->block);
		while (next < row->block) /* without rows */
			ok(a->s, cp_vec_push(&a->owned, (struct owned){ a->self, next++ }));
		if (next == row->block)
			ok(a->s, cp_vec_push(&a->owned, (struct owned){ owner, next++ }));
		/* The line of a thunk is that of a declaration. */
		if (file == LEFT_OUT || (owner == a->self && thunk))
			continue;
		if (a->spots.count && owner != a->self)
			set_inlines(&a->spots.items[a->spots.count - 1], owner, row->block);
		ok(a->s,
		   cp_vec_push(&a->spots, (struct spot){ place, owner, row->block, row->flags }));
	}
	while (next < f->first_block + f->block_count)
		ok(a->s, cp_vec_push(&a->owned, (struct owned){ a->self, next++ }));
	cp_vec_sort(&a->spots, compare_spots);
	cp_vec_sort(&a->owned, compare_owned);
}

/* ---- lines ---- */

/* Lines up to here have a place of their own; 0 is none. */
#define NEAR ((uint32_t)1 << 22)

static uint32_t find_line(const struct cp_file_sum *file, uint32_t line)
{
	const uint64_t *far;

	if (line < NEAR)
		return line < file->line_places.count ? file->line_places.items[line] : 0;
	far = cp_map_get(&file->far_places, line);
	return far ? (uint32_t)*far : 0;
}

static bool set_line(struct cp_file_sum *file, uint32_t line, uint32_t place)
{
	size_t count = file->line_places.count;

	if (line >= NEAR)
		return cp_map_put(&file->far_places, line, place);
	if (line >= count) {
		if (!cp_vec_reserve(&file->line_places, (size_t)line + 1))
			return false;
		memset(file->line_places.items + count, 0,
		       (line + 1 - count) * sizeof(*file->line_places.items));
		file->line_places.count = (size_t)line + 1;
	}
	file->line_places.items[line] = place;
	return true;
}

static struct cp_line_sum *line_sum(struct cp_sums *s, uint64_t place)
{
	struct cp_file_sum *file = &s->files.items[place >> 32];
	uint32_t line = (uint32_t)place, known = find_line(file, line);

	if (known)
		return &file->lines.items[known - 1];
	if (!ok(s, cp_vec_push(&file->lines, (struct cp_line_sum){ .line = line }) &&
			   set_line(file, line, (uint32_t)file->lines.count)))
		return NULL;
	return &file->lines.items[file->lines.count - 1];
}

/* How often the line was begun whose spots are from `i` up to `end`. *passed_ret:
 * it is only passed there, on the way to other lines. */
static uint64_t count_begun(struct adding *a, size_t i, size_t end, bool *passed_ret)
{
	const struct spot *it;
	uint64_t count = 0;

	cp_line_counter_clear(&a->counter);
	for (it = &a->spots.items[i]; it < a->spots.items + end; it++)
		ok(a->s, cp_line_counter_add(&a->counter, it->block, it->place,
					     it->flags & SPOT_INLINES));
	ok(a->s, cp_line_executions(&a->counter, &count, passed_ret));
	return count;
}

/* The part of a line that ran, in an instance of a function. */
struct ran {
	uint64_t most; /* count of the block that was executed most often */
	uint64_t covered; /* as in struct cp_line_sum */
	uint32_t blocks;
	bool unknown; /* what of it ran can't be told */
	bool begun, whole; /* a statement of it; one with instructions */
	bool code; /* instructions that no statement begins with */
	bool unsure; /* some may have run before a fault */
	bool passed; /* no block ends with it */
};

static void add_spot(struct ran *ran, const struct spot *it, uint64_t count, bool fresh)
{
	bool statement = it->flags & (CP_COVERAGE_ROW_STATEMENT | CP_COVERAGE_ROW_INSIDE);
	bool empty = it->flags & CP_COVERAGE_ROW_EMPTY, is = cp_is_covered(count);

	ran->begun |= is && statement;
	ran->whole |= is && statement && !empty;
	ran->code |= is && !statement && !empty;
	ran->unsure |= !is && it->flags & CP_COVERAGE_ROW_UNSURE;
	if (!fresh)
		return;
	ran->unknown |= count == CP_COVERAGE_UNKNOWN;
	if (is && ran->blocks < CP_SUM_BLOCKS)
		ran->covered |= UINT64_C(1) << ran->blocks;
	if (is && count > ran->most)
		ran->most = count;
	ran->blocks += ran->blocks < CP_SUM_BLOCKS;
}

/* `begins`: some statement of the line begins in this function. */
static void add_ran(struct cp_line_sum *line, const struct ran *ran, bool begins)
{
	bool reached = ran->begun || (!begins && ran->most);
	uint64_t count = reached ? ran->most : 0, *to;

	line->sure |= ran->whole || (ran->begun && ran->code);
	line->strayed |= (ran->most || ran->unsure) && !reached;
	line->covered |= reached ? ran->covered : 0;
	to = ran->passed ? &line->passed : &line->count;
	*to = cp_coverage_add(*to, !reached && ran->unknown ? CP_COVERAGE_UNKNOWN : count);
	line->blocks = ran->blocks > line->blocks ? ran->blocks : line->blocks;
}

/* Which tests reached the line, by the rule of add_ran(). */
static void add_tests(struct adding *a, struct cp_line_sum *line, size_t i, size_t end, bool begins)
{
	const uint32_t statement = CP_COVERAGE_ROW_STATEMENT | CP_COVERAGE_ROW_INSIDE;
	const struct cp_test_blocks *t;
	const struct spot *it;

	cp_vec_for_each(&a->s->tests.image, t) {
		for (it = &a->spots.items[i]; it < a->spots.items + end; it++)
			if ((!begins || it->flags & statement) &&
			    cp_coverage_ran(t->blocks[it->block]))
				break;
		if (it < a->spots.items + end)
			ok(a->s, cp_tests_add(&a->s->tests, a->s->arena, &line->tests, t->test));
	}
}

static bool begins_here(const struct adding *a, size_t i)
{
	uint64_t place = a->spots.items[i].place;

	for (; i < a->spots.count && a->spots.items[i].place == place; i++)
		if (a->spots.items[i].flags & CP_COVERAGE_ROW_STATEMENT)
			return true;
	return false;
}

/* The spots from `i` on that are of one line and instance; returns their end.
 * *begins is of the line, found out at its first one. */
static size_t add_line(struct adding *a, size_t i, bool *begins)
{
	const struct spot *first = &a->spots.items[i], *it;
	struct cp_line_sum *line = line_sum(a->s, first->place);
	struct ran ran = { 0 };
	uint32_t last = CP_RECORD_NONE;
	size_t begin = i;
	uint64_t count;

	if (!line)
		return a->spots.count;
	if (!i || first[-1].place != first->place)
		*begins = begins_here(a, i);
	for (; i < a->spots.count; i++) {
		it = &a->spots.items[i];
		if (it->place != first->place || it->owner != first->owner)
			break;
		line->begins |= it->flags & CP_COVERAGE_ROW_STATEMENT;
		line->has_code |= !(it->flags & CP_COVERAGE_ROW_EMPTY);
		add_spot(&ran, it, a->c->blocks[it->block].count, it->block != last);
		last = it->block;
	}
	a->s->optimised |= !line->has_code;
	/* A line that ran in part alone (a call did not return) ran. */
	if (ran.most && a->c->flags & CP_COVERAGE_COUNTED) {
		count = count_begun(a, begin, i, &ran.passed);
		ran.most = count ? count : ran.most;
	}
	add_ran(line, &ran, *begins);
	add_tests(a, line, begin, i, *begins);
	return i;
}

/* ---- branches ---- */

static void add_branch(struct adding *a, const struct spot *at, uint32_t number,
		       const struct cp_coverage_branch *b)
{
	struct cp_file_sum *file = &a->s->files.items[at->place >> 32];
	uint32_t line = (uint32_t)at->place;
	uint64_t key = (uint64_t)line << 32 | number, *known;
	struct cp_branch_sum *sum;

	/* Only lines that are there have any. */
	if (!find_line(file, line))
		return;
	known = cp_map_get(&file->branch_places, key);
	if (!known) {
		if (!ok(a->s, cp_map_put(&file->branch_places, key, file->branches.count) &&
				      cp_vec_push(&file->branches,
						  (struct cp_branch_sum){ .line = line,
									  .number = number })))
			return;
		sum = &file->branches.items[file->branches.count - 1];
	} else {
		sum = &file->branches.items[*known];
	}
	sum->taken = cp_coverage_add(sum->taken, b->taken);
	sum->passed = cp_coverage_add(sum->passed, b->passed);
}

/* Uses a->spots; `block` is the branch. */
static void add_branches(struct adding *a)
{
	const struct cp_coverage_function *f = a->f;
	uint32_t i, number = 0;

	a->spots.count = 0;
	for (i = 0; i < f->branch_count; i++) {
		const struct cp_coverage_branch *b = &a->c->branches[f->first_branch + i];
		uint32_t file = file_of(a, b->file);

		if (b->line && file != LEFT_OUT)
			ok(a->s, cp_vec_push(&a->spots,
					     (struct spot){ (uint64_t)file << 32 | b->line,
							    find_owner(a, file, b->line, b->block),
							    f->first_branch + i, 0 }));
	}
	cp_vec_sort(&a->spots, compare_spots);
	for (i = 0; i < a->spots.count; i++) {
		const struct spot *it = &a->spots.items[i];

		number = i && it[-1].place == it->place && it[-1].owner == it->owner ? number + 1
										     : 0;
		add_branch(a, it, number, &a->c->branches[it->block]);
	}
}

/* ---- */

/* The place of a function: where it is declared, else where its code begins. */
static void set_place(struct adding *a)
{
	const struct cp_coverage_function *f = a->f;
	const struct cp_coverage_row *row;
	uint32_t i;

	a->file = file_of(a, f->file);
	a->line = f->line;
	if (f->file < a->c->file_count)
		return;
	for (i = 0; i < f->row_count; i++) {
		row = &a->c->rows[f->first_row + i];
		if (!row->line || row->file >= a->c->file_count)
			continue;
		a->file = file_of(a, row->file);
		a->line = row->line;
		if (row->block == f->entry)
			return;
	}
}

static void add_end_lines(struct adding *a)
{
	struct cp_function_sum *sum;
	const struct spot *it;

	cp_vec_for_each(&a->spots, it) {
		sum = function_sum(a->s, a->owners.items[it->owner].function);
		if (sum && sum->file == it->place >> 32 && (uint32_t)it->place > sum->end_line)
			sum->end_line = (uint32_t)it->place;
	}
}

static void add_owned(struct adding *a)
{
	size_t i, end;

	for (i = 0; i < a->owned.count; i = end) {
		uint32_t owner = a->owned.items[i].owner;
		struct cp_function_sum *sum = function_sum(a->s, a->owners.items[owner].function);

		for (end = i; end < a->owned.count && a->owned.items[end].owner == owner;)
			end++;
		if (sum)
			add_blocks(a->s, sum, a->c, a->owned.items + i, end - i);
	}
}

static void add_function(struct adding *a, const struct cp_coverage_function *f)
{
	struct cp_function_sum *sum;
	bool begins = false;
	uint64_t count;
	size_t i;

	a->f = f;
	set_place(a);
	set_owners(a);
	if (a->s->no_memory)
		return;
	sum = function_sum(a->s, a->owners.items[a->self].function);
	if (sum)
		name_function(a->s, sum, f->name, f->linkage);
	if (!f->block_count)
		return; /* no code is left */
	if (sum) {
		sum->code = true;
		count = a->c->blocks[f->entry].count;
		if (cp_name_is_piece(f->linkage) || cp_name_is_piece(f->name))
			sum->piece_count = cp_coverage_add(sum->piece_count, count);
		else
			sum->count = cp_coverage_add(sum->count, count);
	}
	a->s->totals.partial += (f->flags & CP_COVERAGE_FUNCTION_PARTIAL) && sum;
	if (a->c->flags & CP_COVERAGE_COUNTED)
		ok(a->s, cp_line_counter_begin(&a->counter, a->c, f));
	set_spots(a);
	cp_line_counter_settle(&a->counter, a->file);
	add_owned(a);
	add_end_lines(a);
	for (i = 0; i < a->spots.count && !a->s->no_memory;)
		i = add_line(a, i, &begins);
	add_branches(a);
}

/* A function of an image without lines. */
static void add_binary_function(struct adding *a, uint32_t binary,
				const struct cp_coverage_function *f)
{
	struct cp_function_sum sum = { .file = binary }, *it;
	struct cp_sums *s = a->s;
	struct cp_buf key = { 0 };
	uint32_t n = 0, i;
	bool fresh = false;

	cp_buf_u32(&key, binary);
	cp_name_unclone(&key, f->name);
	a->owned.count = 0;
	for (i = 0; i < f->block_count; i++)
		ok(s, cp_vec_push(&a->owned, (struct owned){ 0, f->first_block + i }));
	if (ok(s, !key.failed && cp_intern(&s->binary_keys, key.bytes, key.size, &n, &fresh)) &&
	    fresh) {
		sum.base = copy(s, key.bytes + 4, key.size - 4);
		ok(s, cp_vec_push(&s->binary_functions, sum));
	}
	cp_buf_free(&key);
	if (s->no_memory || !f->block_count)
		return;
	it = &s->binary_functions.items[n];
	name_function(s, it, f->name, f->linkage);
	it->code = true;
	if (cp_name_is_piece(f->linkage))
		it->piece_count = cp_coverage_add(it->piece_count, a->c->blocks[f->entry].count);
	else
		it->count = cp_coverage_add(it->count, a->c->blocks[f->entry].count);
	add_blocks(s, it, a->c, a->owned.items, a->owned.count);
	s->totals.partial += (f->flags & CP_COVERAGE_FUNCTION_PARTIAL) != 0;
}

static void add_binary(struct adding *a)
{
	const struct cp_record_image *image = cp_record_get_image(a->s->record, a->c->image);
	const char *path = image ? image->path : "";
	uint32_t n;
	size_t i;

	if (!ok(a->s, cp_intern(&a->s->binaries, path, strlen(path), &n, NULL)))
		return;
	for (i = 0; i < a->c->function_count && !a->s->no_memory; i++)
		add_binary_function(a, n, &a->c->functions[i]);
}

void cp_sums_add(struct cp_sums *s, size_t image)
{
	const struct cp_coverage_image *c = cp_record_get_coverage(s->record, image);
	const uint32_t unwritten = CP_COVERAGE_FUNCTION_LEFT_OUT | CP_COVERAGE_FUNCTION_ARTIFICIAL;
	struct adding a = { .s = s, .c = c };
	size_t i;

	ok(s, cp_tests_set_image(&s->tests, s->record, image));

	if (!c->row_count && c->block_count)
		add_binary(&a);
	else if (set_files(&a))
		for (i = 0; i < c->function_count && !s->no_memory; i++)
			if (!(c->functions[i].flags & unwritten))
				add_function(&a, &c->functions[i]);
	free(a.files);
	cp_vec_free(&a.owners);
	cp_vec_free(&a.spots);
	cp_vec_free(&a.owned);
	cp_line_counter_free(&a.counter);
}

void cp_sums_free(struct cp_sums *s)
{
	struct cp_file_sum *f;

	cp_vec_for_each(&s->files, f) {
		cp_vec_free(&f->lines);
		cp_vec_free(&f->branches);
		cp_vec_free(&f->line_places);
		cp_map_free(&f->far_places);
		cp_map_free(&f->branch_places);
	}
	cp_vec_free(&s->files);
	cp_tests_free(&s->tests);
	cp_vec_free(&s->found);
	cp_vec_free(&s->functions);
	cp_vec_free(&s->binary_functions);
	cp_interner_free(&s->recorded);
	cp_interner_free(&s->settled);
	cp_interner_free(&s->binaries);
	cp_interner_free(&s->function_keys);
	cp_interner_free(&s->binary_keys);
}
