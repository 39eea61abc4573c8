/* SPDX-License-Identifier: MIT */
#include "report/coverage/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/coverage/coverage.h"
#include "report/coverage/json.h"
#include "report/coverage/sources.h"
#include "report/look/table.h"
#include "report/look/title.h"
#include "report/profile/left.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

#define NAMES_SHOWN 3 /* of files, in a sentence */

/* A file, or a program without line tables. */
struct row {
	const char *name;
	const struct cp_coverage_totals *totals, *changed; /* changed: NULL for programs */
};

/* The percentage that a row is sorted by: of lines, else of functions. */
static double worth(const struct row *r)
{
	const struct cp_coverage_totals *t = r->totals;

	if (t->lines)
		return cp_coverage_percent(t->lines_covered, t->lines);
	return cp_coverage_percent(t->functions_covered, t->functions);
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;
	double x = worth(a), y = worth(b);
	uint64_t left_a = a->totals->lines - a->totals->lines_covered;
	uint64_t left_b = b->totals->lines - b->totals->lines_covered;

	if (x < y || x > y)
		return x < y ? -1 : 1;
	if (left_a != left_b)
		return left_a > left_b ? -1 : 1;
	return strcmp(a->name, b->name);
}

static struct row *sorted_rows(const struct cp_coverage *c, size_t *count_ret)
{
	struct row *rows = calloc(c->files.count + c->binaries.count + 1, sizeof(*rows));
	const struct cp_covered_binary *b;
	const struct cp_covered_file *f;
	size_t n = 0;

	if (!rows)
		return NULL;
	cp_vec_for_each(&c->files, f)
		rows[n++] = (struct row){ f->name, &f->totals, &f->changed };
	cp_vec_for_each(&c->binaries, b)
		rows[n++] = (struct row){ b->name, &b->totals, NULL };
	qsort(rows, n, sizeof(*rows), compare_rows);
	*count_ret = n;
	return rows;
}

/* ---- cells ---- */

static enum cp_paint paint_of(uint64_t covered, uint64_t of)
{
	double percent = cp_coverage_percent(covered, of);

	return percent < 50 ? CP_PAINT_HOT : percent < 80 ? CP_PAINT_WARM : CP_PAINT_COOL;
}

/* Only all is 100%, only nothing 0%. */
static void percent_cell(struct cp_table *t, uint64_t covered, uint64_t of)
{
	double percent = cp_coverage_percent(covered, of);

	if (!of) {
		cp_table_cell(t, CP_PAINT_DIM, "-");
		return;
	}
	if (covered < of && percent > 99.9)
		percent = 99.9;
	if (covered && percent < 0.1)
		percent = 0.1;
	cp_table_cell(t, paint_of(covered, of), "%.1f%%", percent);
}

static void bar_cell(struct cp_table *t, uint64_t covered, uint64_t of)
{
	cp_table_bar(t, covered, of, of);
	if (t->cells.count)
		t->cells.items[t->cells.count - 1].paint = paint_of(covered, of);
}

static void amount_cell(struct cp_table *t, uint64_t covered, uint64_t of)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (of) {
		cp_add_count(&text, covered);
		cp_buf_u8(&text, '/');
		cp_add_count(&text, of);
	}
	cp_table_cell(t, CP_PAINT_PLAIN, "%s", text.bytes ? text.bytes : "");
}

static void unknown_cell(struct cp_table *t, uint64_t count)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (count)
		cp_add_count(&text, count);
	cp_table_cell(t, CP_PAINT_PLAIN, "%s", text.bytes ? text.bytes : "");
}

/* The columns that the table has. */
struct shape {
	struct cp_column columns[9];
	size_t count;
	bool branches, unknown, changed;
};

static struct shape shape_of(const struct cp_coverage *c)
{
	struct shape s = { .branches = !c->no_branches && cp_branches_all(&c->totals),
			   .unknown = !c->no_branches && c->totals.branches_unknown,
			   .changed = c->changed.lines };

	s.columns[s.count++] = (struct cp_column){ .title = "lines", .right = true };
	s.columns[s.count++] = (struct cp_column){ .title = "", .spare = true };
	s.columns[s.count++] = (struct cp_column){ .title = "covered", .right = true };
	if (s.changed)
		s.columns[s.count++] = (struct cp_column){ .title = "changed", .right = true };
	if (s.branches) {
		s.columns[s.count++] = (struct cp_column){ .title = "branches", .right = true };
		s.columns[s.count++] = (struct cp_column){ .title = "taken", .right = true };
	}
	if (s.unknown)
		s.columns[s.count++] = (struct cp_column){ .title = "unknown", .right = true };
	s.columns[s.count++] = (struct cp_column){ .title = "functions", .right = true };
	s.columns[s.count++] = (struct cp_column){ .title = "file" };
	return s;
}

static void add_row(struct cp_table *t, const struct shape *s, const struct row *r,
		    enum cp_paint name)
{
	const struct cp_coverage_totals *of = r->totals;

	percent_cell(t, of->lines_covered, of->lines);
	bar_cell(t, of->lines_covered, of->lines);
	amount_cell(t, of->lines_covered, of->lines);
	if (s->changed)
		percent_cell(t, r->changed ? r->changed->lines_covered : 0,
			     r->changed ? r->changed->lines : 0);
	if (s->branches) {
		percent_cell(t, of->branches_covered, cp_branches_all(of));
		amount_cell(t, of->branches_covered, cp_branches_all(of));
	}
	if (s->unknown)
		unknown_cell(t, of->branches_unknown);
	percent_cell(t, of->functions_covered, of->functions);
	cp_table_name(t, name, r->name);
}

/* ---- what is to be known besides ---- */

static void note(struct cp_buf *out, const struct cp_look *look, struct cp_buf *text)
{
	cp_buf_str(out, "  ");
	cp_paint(out, look, CP_PAINT_WARNING, "! ");
	cp_add_wrapped(out, look, 4, 4, text->bytes ? text->bytes : "");
	cp_buf_clear(text);
}

static void count_note(struct cp_buf *out, const struct cp_look *look, uint64_t count,
		       const char *one, const char *many)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!count)
		return;
	cp_add_plural(&text, count, one, many);
	note(out, look, &text);
}

/* Files for which `is` holds, the first ones by name. */
static void file_note(struct cp_buf *out, const struct cp_look *look, const struct cp_coverage *c,
		      bool (*is)(const struct cp_covered_file *f), const char *one,
		      const char *many)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_covered_file *f;
	size_t n = 0;

	cp_vec_for_each(&c->files, f) {
		if (!is(f))
			continue;
		if (n < NAMES_SHOWN) {
			cp_buf_str(&text, n ? ", " : "");
			cp_add_name(&text, f->name);
		}
		n++;
	}
	if (!n)
		return;
	if (n > NAMES_SHOWN) {
		cp_buf_str(&text, " and ");
		cp_add_count(&text, n - NAMES_SHOWN);
		cp_buf_str(&text, " more");
	}
	cp_buf_str(&text, n == 1 ? one : many);
	note(out, look, &text);
}

static void left_note(const struct cp_coverage *c, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!c->left.count)
		return;
	cp_lefts_add(&text, &c->left);
	cp_buf_str(&text, "; what is reached later is not here");
	note(out, look, &text);
}

static bool is_newer(const struct cp_covered_file *f)
{
	return f->newer;
}

static bool is_missing(const struct cp_covered_file *f)
{
	return f->missing;
}

static void notes(const struct cp_coverage *c, const struct cp_look *look, struct cp_buf *out)
{
	const struct cp_coverage_totals *t = &c->totals;
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	left_note(c, look, out);
	if (c->counted && c->optimised) {
		cp_buf_str(&text,
			   "code is optimised: it was run as often as said, its lines may have "
			   "been more or less often");
		note(out, look, &text);
	}
	file_note(out, look, c, is_newer,
		  " was changed after the program was built: its lines may be others by now",
		  " were changed after the program was built: their lines may be others by now");
	file_note(out, look, c, is_missing, " can't be read: markers in it have no effect",
		  " can't be read: markers in them have no effect");
	count_note(out, look, c->no_branches ? 0 : t->branches_unknown,
		   "direction of a branch is unknown: of all, but not taken; files for others "
		   "leave it out",
		   "directions of branches are unknown: of all, but not taken; files for others "
		   "leave them out");
	count_note(out, look, t->lines_unknown,
		   "line can't be told and counts nowhere: no breakpoint could stand there, or "
		   "something before it failed",
		   "lines can't be told and count nowhere: no breakpoint could stand there, or "
		   "something before them failed");
	count_note(out, look, t->functions_unknown, "function can't be told and counts nowhere",
		   "functions can't be told and count nowhere");
	count_note(out, look, t->uncertain,
		   "line is uncertain: the compiler merged or moved its code, or something before "
		   "it failed",
		   "lines are uncertain: the compiler merged or moved their code, or something "
		   "before them failed");
	count_note(out, look, t->removed, "function counts nowhere: no code is left of it",
		   "functions count nowhere: no code is left of them");
	count_note(out, look, t->partial,
		   "function could not be decoded to its end: lines of it may be missing",
		   "functions could not be decoded to their ends: lines of them may be missing");
}

void cp_report_coverage(const struct cp_coverage *c, uint64_t limit, const struct cp_look *look,
			struct cp_buf *out)
{
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const struct row total = { "total", &c->totals, &c->changed };
	struct shape shape = shape_of(c);
	size_t count = 0, shown, i;
	CP_FREE struct row *rows = sorted_rows(c, &count);

	if (!rows) {
		out->failed = true;
		return;
	}
	shown = limit && limit < count ? (size_t)limit : count;
	cp_table_init(&t, shape.columns, shape.count);
	for (i = 0; i < shown; i++)
		add_row(&t, &shape, &rows[i], CP_PAINT_PLAIN);
	add_row(&t, &shape, &total, CP_PAINT_BOLD);
	cp_table_print(&t, look, out);
	if (shown < count) {
		cp_buf_str(&text, "  the total is also of ");
		cp_add_plural(&text, count - shown, "file that is covered better",
			      "files that are covered better");
		cp_buf_str(&text, "\n");
		cp_paint(out, look, CP_PAINT_DIM, text.bytes ? text.bytes : "");
	}
	notes(c, look, out);
}

/* ---- of a recording ---- */

static CP_ERROR build(const struct cp_profile *p, const struct cp_report_options *o,
		      struct cp_sources **sources_ret, struct cp_coverage *ret)
{
	const struct cp_source_rules rules = { 0 };

	if (!o->sources)
		CP_TRY(cp_sources_create(&rules, sources_ret));
	return cp_coverage_build(p->record, o->sources ? o->sources : *sources_ret, ret);
}

CP_ERROR cp_report_covered(const struct cp_profile *p, const struct cp_report_options *o,
			   const struct cp_look *look, struct cp_buf *out)
{
	struct cp_sources *sources = NULL;
	struct cp_coverage c = { 0 };
	struct cp_error *err = build(p, o, &sources, &c);

	cp_report_title(out, look, "Coverage", "the worst files first");
	if (!err)
		cp_report_coverage(&c, o->limit, look, out);
	cp_coverage_deinit(&c);
	cp_sources_destroy(sources);
	return err;
}

CP_ERROR cp_report_covered_json(const struct cp_profile *p, const struct cp_report_options *o,
				struct cp_json *j)
{
	struct cp_sources *sources = NULL;
	struct cp_coverage c = { 0 };
	struct cp_error *err = build(p, o, &sources, &c);

	if (!err)
		cp_report_coverage_json(&c, j);
	cp_coverage_deinit(&c);
	cp_sources_destroy(sources);
	return err;
}
