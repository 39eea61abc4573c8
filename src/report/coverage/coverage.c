/* SPDX-License-Identifier: MIT
 *
 * From sums to files, lines, functions and branches, in order, with the marks
 * of the sources, and their totals.
 */
#include "report/coverage/coverage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/coverage/covered.h"
#include "report/coverage/sources.h"
#include "report/coverage/structors.h"
#include "report/coverage/sums.h"
#include "report/profile/left.h"
#include "report/profile/recorded.h"

double cp_coverage_percent(uint64_t covered, uint64_t of)
{
	return of ? 100.0 * (double)covered / (double)of : 100.0;
}

/* ---- order ---- */

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct cp_covered_line *a = pa, *b = pb;

	return order(a->line, b->line);
}

static int compare_branches(const void *pa, const void *pb)
{
	const struct cp_covered_branch *a = pa, *b = pb;

	return a->line != b->line ? order(a->line, b->line) : order(a->number, b->number);
}

static int compare_functions(const void *pa, const void *pb)
{
	const struct cp_covered_function *a = pa, *b = pb;
	int c = a->line != b->line ? order(a->line, b->line) : strcmp(a->name, b->name);

	return c ? c : strcmp(a->linkage, b->linkage);
}

static int compare_files(const void *pa, const void *pb)
{
	const struct cp_covered_file *a = pa, *b = pb;
	int c = strcmp(a->name, b->name);

	return c ? c : strcmp(a->path, b->path);
}

static int compare_binaries(const void *pa, const void *pb)
{
	const struct cp_covered_binary *a = pa, *b = pb;
	int c = strcmp(a->name, b->name);

	return c ? c : strcmp(a->path, b->path);
}

/* ---- marks ---- */

static unsigned marks_of(const struct cp_source_file *source, uint32_t line)
{
	unsigned marks, got = 0;

	if (!source || !line)
		return 0;
	marks = line <= source->marks.count ? source->marks.items[line - 1] : 0;
	got |= marks & CP_LINE_EXCLUDED ? CP_COVERED_EXCLUDED : 0;
	got |= marks & CP_LINE_NO_BRANCHES ? CP_COVERED_NO_BRANCHES : 0;
	if (source->all_changed || marks & CP_LINE_CHANGED)
		got |= CP_COVERED_CHANGED;
	return got;
}

static bool changed_between(const struct cp_source_file *source, uint32_t line, uint32_t end)
{
	if (source && source->all_changed)
		return true;
	for (; source && line && line <= end && line <= source->marks.count; line++)
		if (source->marks.items[line - 1] & CP_LINE_CHANGED)
			return true;
	return false;
}

/* ---- from sums ---- */

/* A count as reports tell it: 1 where only reached or not is known, since a larger number would
 * pretend to be exact. */
static uint64_t told(const struct cp_coverage *c, uint64_t count)
{
	return cp_is_covered(count) && !c->counted ? 1 : count;
}

/* Nothing is left of it but a place or moved code; or what ran does not say
 * whether it was reached. */
static bool in_doubt(const struct cp_line_sum *sum)
{
	uint64_t count = cp_line_sum_count(sum);

	if (!sum->begins || !sum->has_code)
		return true;
	return count ? cp_is_covered(count) && !sum->sure : sum->strayed;
}

static bool add_lines(struct cp_coverage *c, struct cp_covered_file *f,
		      const struct cp_file_sum *from)
{
	size_t i;

	if (!cp_vec_reserve(&f->lines, from->lines.count))
		return false;
	for (i = 0; i < from->lines.count; i++) {
		const struct cp_line_sum *sum = &from->lines.items[i];

		f->lines.items[f->lines.count++] = (struct cp_covered_line){
			.line = sum->line,
			.count = told(c, cp_line_sum_count(sum)),
			.flags = marks_of(f->source, sum->line) |
				 (in_doubt(sum) ? CP_COVERED_SHARED : 0),
			.blocks = sum->blocks,
			.blocks_covered = (uint32_t)__builtin_popcountll(sum->covered),
			.tests = sum->tests,
		};
	}
	cp_vec_sort(&f->lines, compare_lines);
	return true;
}

/* After the lines: they get their branches, the branches their marks. */
static bool add_branches(struct cp_coverage *c, struct cp_covered_file *f,
			 const struct cp_file_sum *from)
{
	size_t i, line = 0;

	if (c->no_branches || !from->branches.count)
		return true;
	if (!cp_vec_reserve(&f->branches, from->branches.count))
		return false;
	for (i = 0; i < from->branches.count; i++) {
		const struct cp_branch_sum *sum = &from->branches.items[i];

		f->branches.items[f->branches.count++] = (struct cp_covered_branch){
			.line = sum->line,
			.number = sum->number,
			.taken = told(c, sum->taken),
			.passed = told(c, sum->passed),
		};
	}
	cp_vec_sort(&f->branches, compare_branches);
	for (i = 0; i < f->branches.count; i++) {
		struct cp_covered_branch *b = &f->branches.items[i];
		struct cp_covered_line *l;

		while (f->lines.items[line].line < b->line)
			line++; /* each branch's line is there */
		l = &f->lines.items[line];
		if (!l->branch_count++)
			l->first_branch = (uint32_t)i;
		b->block = (uint32_t)i;
		b->flags = l->flags;
	}
	return true;
}

static struct cp_covered_function function_of(const struct cp_coverage *c,
					      const struct cp_function_sum *sum)
{
	uint64_t count = sum->count;
	struct cp_covered_function f = {
		.name = sum->differ ? sum->base
			: sum->name ? sum->name
				    : "",
		.linkage = sum->linkage ? sum->linkage : "",
		.line = sum->line,
		.end_line = sum->end_line,
		.flags = (sum->code ? 0 : CP_COVERED_REMOVED) |
			 (sum->uncertain ? CP_COVERED_SHARED : 0),
	};
	const struct cp_variant *v;
	uint32_t i;

	/* A thread that ran a piece of it came through its entry, if not through that of
	 * an instance that we know. */
	if (!cp_is_covered(count) && sum->piece_count)
		count = sum->piece_count;
	f.count = told(c, count);
	for (v = sum->variants; v; v = v->next) {
		f.blocks += v->blocks;
		for (i = 0; i < v->blocks; i++)
			f.blocks_covered += v->covered[i];
	}
	return f;
}

static bool add_functions(struct cp_coverage *c, const struct cp_sums *s)
{
	const struct cp_function_sum *sum;
	struct cp_covered_file *file;

	cp_vec_for_each(&s->functions, sum) {
		struct cp_covered_function f = function_of(c, sum);

		if (sum->merged)
			continue;
		file = &c->files.items[sum->file];
		f.flags |=
			marks_of(file->source, f.line) & (CP_COVERED_EXCLUDED | CP_COVERED_CHANGED);
		if (changed_between(file->source, f.line, f.end_line))
			f.flags |= CP_COVERED_CHANGED;
		if (!cp_vec_push(&file->functions, f))
			return false;
	}
	return true;
}

/* ---- totals ---- */

/* Adds up the lines that count: all, or those that have `mark`. */
static void total_lines(const struct cp_covered_file *f, uint32_t mark,
			struct cp_coverage_totals *t)
{
	const struct cp_covered_branch *b;
	const struct cp_covered_line *l;

	cp_vec_for_each(&f->lines, l) {
		bool in_total = !(l->flags & (CP_COVERED_EXCLUDED | CP_COVERED_REMOVED));

		if ((l->flags & mark) != mark || !in_total)
			continue;
		t->lines_unknown += l->count == CP_COVERAGE_UNKNOWN;
		t->lines += cp_line_counts(l);
		t->lines_covered += cp_line_counts(l) && cp_is_covered(l->count);
		t->uncertain += cp_line_counts(l) && l->flags & CP_COVERED_SHARED;
		cp_branches_for_each(f, l, b)
		{
			struct cp_directions d = cp_branch_directions(b);

			t->branches += d.known;
			t->branches_covered += d.covered;
			t->branches_unknown += 2 - d.known;
		}
	}
}

static void total_function(const struct cp_covered_function *f, struct cp_coverage_totals *t)
{
	if (f->flags & CP_COVERED_EXCLUDED)
		return;
	if (f->flags & CP_COVERED_REMOVED) {
		t->removed++;
		return;
	}
	t->functions_unknown += f->count == CP_COVERAGE_UNKNOWN;
	t->functions += cp_function_counts(f);
	t->functions_covered += cp_function_counts(f) && cp_is_covered(f->count);
	t->blocks += f->blocks;
	t->blocks_covered += f->blocks_covered;
}

static void add_totals(struct cp_coverage_totals *to, const struct cp_coverage_totals *t)
{
	cp_totals_add(to, t);
	to->blocks += t->blocks;
	to->blocks_covered += t->blocks_covered;
	to->branches_unknown += t->branches_unknown;
	to->lines_unknown += t->lines_unknown;
	to->functions_unknown += t->functions_unknown;
	to->uncertain += t->uncertain;
	to->removed += t->removed;
}

static void total_all(struct cp_coverage *c)
{
	const struct cp_covered_function *function;
	struct cp_covered_binary *b;
	struct cp_covered_file *f;

	cp_vec_for_each(&c->files, f) {
		total_lines(f, 0, &f->totals);
		total_lines(f, CP_COVERED_CHANGED, &f->changed);
		cp_vec_for_each(&f->functions, function) {
			total_function(function, &f->totals);
			if (function->flags & CP_COVERED_CHANGED)
				total_function(function, &f->changed);
		}
		add_totals(&c->totals, &f->totals);
		add_totals(&c->changed, &f->changed);
	}
	cp_vec_for_each(&c->binaries, b) {
		cp_vec_for_each(&b->functions, function)
			total_function(function, &b->totals);
		add_totals(&c->totals, &b->totals);
	}
}

/* ---- */

static bool add_files(struct cp_coverage *c, const struct cp_sums *s)
{
	const struct cp_file_sum *from;

	if (!cp_vec_reserve(&c->files, s->files.count))
		return false;
	cp_vec_for_each(&s->files, from) {
		struct cp_covered_file *f = &c->files.items[c->files.count++];

		*f = (struct cp_covered_file){
			.path = from->path,
			.name = from->name,
			.source = from->source,
			.missing = from->source && !from->source->text,
			.newer = from->newer,
		};
		if (!add_lines(c, f, from) || !add_branches(c, f, from))
			return false;
	}
	return add_functions(c, s);
}

static bool add_binaries(struct cp_coverage *c, const struct cp_sums *s)
{
	const struct cp_function_sum *sum;
	size_t i;

	for (i = 0; i < s->binaries.count; i++) {
		const char *path = s->binaries.items[i].bytes;
		struct cp_covered_binary b = { .path = cp_arena_copy(c->arena, path,
								     strlen(path)) };

		b.name = b.path ? cp_source_name(&s->paths, b.path) : NULL;
		if (!b.path || !cp_vec_push(&c->binaries, b))
			return false;
	}
	cp_vec_for_each(&s->binary_functions, sum) {
		if (!sum->code)
			continue;
		if (!cp_vec_push(&c->binaries.items[sum->file].functions, function_of(c, sum)))
			return false;
	}
	return true;
}

/* Files and binaries of which nothing is left are none. */
static void sort_all(struct cp_coverage *c)
{
	struct cp_covered_binary *b;
	struct cp_covered_file *f;
	size_t kept = 0, i;

	for (i = 0; i < c->files.count; i++) {
		f = &c->files.items[i];
		if (f->lines.count || f->functions.count)
			c->files.items[kept++] = *f;
	}
	c->files.count = kept;
	for (i = kept = 0; i < c->binaries.count; i++) {
		if (c->binaries.items[i].functions.count)
			c->binaries.items[kept++] = c->binaries.items[i];
	}
	c->binaries.count = kept;
	cp_vec_for_each(&c->files, f)
		cp_vec_sort(&f->functions, compare_functions);
	cp_vec_for_each(&c->binaries, b)
		cp_vec_sort(&b->functions, compare_functions);
	cp_vec_sort(&c->files, compare_files);
	cp_vec_sort(&c->binaries, compare_binaries);
}

static bool set_circumstances(struct cp_coverage *c, const struct cp_sums *s)
{
	const struct cp_record_info *info = cp_record_info(s->record);
	struct cp_buf command CP_CLEANUP(cp_buf_free) = { 0 };

	cp_report_command(s->record, &command);
	c->root = cp_arena_copy(c->arena, s->paths.root, strlen(s->paths.root));
	c->command = cp_arena_copy(c->arena, command.bytes ? command.bytes : "", command.size);
	c->version = cp_arena_copy(c->arena, info->cprof_version, strlen(info->cprof_version));
	c->timestamp_ns = info->start_real_ns;
	c->sources_seen = s->recorded.count;
	return c->root && c->command && c->version && !command.failed;
}

/* Flags that all images have are flags of the coverage. */
static void add_images(struct cp_sums *s, struct cp_coverage *c)
{
	size_t n = cp_record_coverage_count(s->record), i;
	uint32_t flags = n ? UINT32_MAX : 0;

	for (i = 0; i < n && !s->no_memory; i++) {
		const struct cp_coverage_image *image = cp_record_get_coverage(s->record, i);

		flags &= image->flags;
		cp_sums_add(s, i);
	}
	cp_sums_settle_structors(s);
	c->counted = flags & CP_COVERAGE_COUNTED;
	c->optimised = s->optimised;
	c->exact_branches = flags & CP_COVERAGE_EXACT_BRANCHES;
	c->no_branches = flags & CP_COVERAGE_NO_BRANCHES;
}

static bool add_test_names(struct cp_coverage *c, const struct cp_sums *s)
{
	size_t n = s->tests.names.count, i;
	const char **names = cp_arena_array(c->arena, n, sizeof(*names));

	for (i = 0; names && i < n; i++) {
		const char *name = s->tests.names.items[i];

		names[i] = cp_arena_copy(c->arena, name, strlen(name));
		if (!names[i])
			return false;
	}
	c->tests = names;
	c->test_count = n;
	c->tests_left_out = s->tests.left_out;
	return names;
}

static CP_ERROR build(struct cp_sums *s, struct cp_coverage *c)
{
	if (!cp_tests_find(&s->tests, s->record))
		return cp_error_nomem();
	add_images(s, c);
	if (s->no_memory || !add_test_names(c, s) || !add_files(c, s) || !add_binaries(c, s) ||
	    !set_circumstances(c, s))
		return cp_error_nomem();
	sort_all(c);
	c->totals.partial = s->totals.partial;
	total_all(c);
	return cp_lefts_of(s->record, &c->left);
}

CP_ERROR cp_coverage_build(const struct cp_record *r, struct cp_sources *sources,
			   struct cp_coverage *ret)
{
	CP_FREE char *here = sources ? NULL : realpath(".", NULL);
	struct cp_coverage c = { .arena = calloc(1, sizeof(*c.arena)) };
	struct cp_sums s = { .record = r, .sources = sources, .arena = c.arena };
	struct cp_error *err;

	s.paths.root = sources ? cp_sources_root(sources) : here ? here : "/";
	err = c.arena ? build(&s, &c) : cp_error_nomem();
	cp_sums_free(&s);
	if (err)
		cp_coverage_deinit(&c);
	else
		*ret = c;
	return err;
}

void cp_coverage_deinit(struct cp_coverage *c)
{
	struct cp_covered_binary *b;
	struct cp_covered_file *f;

	cp_vec_for_each(&c->files, f) {
		cp_vec_free(&f->lines);
		cp_vec_free(&f->functions);
		cp_vec_free(&f->branches);
	}
	cp_vec_for_each(&c->binaries, b)
		cp_vec_free(&b->functions);
	cp_vec_free(&c->files);
	cp_vec_free(&c->binaries);
	cp_lefts_free(&c->left);
	if (c->arena)
		cp_arena_free(c->arena);
	free(c->arena);
	*c = (struct cp_coverage){ 0 };
}
