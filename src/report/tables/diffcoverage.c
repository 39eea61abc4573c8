/* SPDX-License-Identifier: MIT
 *
 * What two recordings say of the same source files: less covered, more covered.
 */
#include "report/tables/diffcoverage.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/coverage/coverage.h"
#include "report/coverage/covered.h"
#include "report/coverage/json.h"
#include "report/coverage/sources.h"
#include "report/look/table.h"
#include "report/look/title.h"

/* Line numbers, in order. */
struct numbers {
	CP_VEC(uint32_t) items;
};

struct row {
	const char *name;
	const struct cp_covered_file *old, *new; /* NULL: not there */
	struct numbers less, more; /* lines that were covered and are not; the other way round */
	double points; /* percent of lines, new less old */
	bool moved; /* other lines have code: the source was changed */
};

struct diff {
	struct cp_sources *sources;
	struct cp_coverage old, new;
	CP_VEC(struct row) rows; /* by name */
};

static void diff_free(struct diff *d)
{
	struct row *row;

	cp_vec_for_each(&d->rows, row) {
		cp_vec_free(&row->less.items);
		cp_vec_free(&row->more.items);
	}
	cp_vec_free(&d->rows);
	cp_coverage_deinit(&d->old);
	cp_coverage_deinit(&d->new);
	cp_sources_destroy(d->sources);
}

static double percent_of(const struct cp_covered_file *f)
{
	return f ? cp_coverage_percent(f->totals.lines_covered, f->totals.lines) : 0;
}

/* Both files' lines in step. */
static bool compare_lines(struct row *row)
{
	size_t i = 0, k = 0;
	bool ok = true;

	while (i < row->old->lines.count && k < row->new->lines.count) {
		const struct cp_covered_line *a = &row->old->lines.items[i];
		const struct cp_covered_line *b = &row->new->lines.items[k];

		if (a->line != b->line) {
			row->moved = true;
			i += a->line < b->line;
			k += a->line > b->line;
			continue;
		}
		i++;
		k++;
		if (!cp_line_counts(a) || !cp_line_counts(b) || !a->count == !b->count)
			continue;
		ok = ok && cp_vec_push(a->count ? &row->less.items : &row->more.items, a->line);
	}
	row->moved |= i < row->old->lines.count || k < row->new->lines.count;
	return ok;
}

/* At least one of both is there. */
static bool add_row(struct diff *d, const struct cp_covered_file *old,
		    const struct cp_covered_file *new)
{
	const struct cp_covered_file *either = old ? old : new;
	struct row row = { .name = either ? either->name : "", .old = old, .new = new };
	bool ok = true;

	if (old && new) {
		row.points = percent_of(new) - percent_of(old);
		ok = compare_lines(&row);
	} else {
		row.points = old ? -percent_of(old) : percent_of(new);
	}
	if (ok && (!old || !new || row.less.items.count || row.more.items.count || row.points > 0 ||
		   row.points < 0)) {
		ok = cp_vec_push(&d->rows, row);
		if (ok)
			return true;
	}
	cp_vec_free(&row.less.items);
	cp_vec_free(&row.more.items);
	return ok;
}

static CP_ERROR build(const struct cp_record *old, const struct cp_record *new, struct diff *d)
{
	const struct cp_source_rules rules = { 0 };
	size_t i = 0, k = 0;

	CP_TRY(cp_sources_create(&rules, &d->sources));
	CP_TRY(cp_coverage_build(old, d->sources, &d->old));
	CP_TRY(cp_coverage_build(new, d->sources, &d->new));
	while (i < d->old.files.count || k < d->new.files.count) {
		const struct cp_covered_file *a =
			i < d->old.files.count ? &d->old.files.items[i] : NULL;
		const struct cp_covered_file *b =
			k < d->new.files.count ? &d->new.files.items[k] : NULL;
		int c = a && b ? strcmp(a->name, b->name) : a ? -1 : 1;

		if (!add_row(d, c <= 0 ? a : NULL, c >= 0 ? b : NULL))
			return cp_error_nomem();
		i += c <= 0;
		k += c >= 0;
	}
	return NULL;
}

/* ---- for people ---- */

/* Is it in the table of what is less (more) covered? */
static bool is_in(const struct row *row, bool less)
{
	if (less)
		return row->less.items.count || row->points < 0 || !row->new;
	return row->more.items.count || row->points > 0 || !row->old;
}

static int compare(const struct row *a, const struct row *b, bool less)
{
	size_t x = less ? a->less.items.count : a->more.items.count;
	size_t y = less ? b->less.items.count : b->more.items.count;
	double p = less ? -a->points : a->points, q = less ? -b->points : b->points;

	if (x != y)
		return x > y ? -1 : 1;
	if (p < q || p > q)
		return p > q ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_less(const void *a, const void *b)
{
	return compare(*(const struct row *const *)a, *(const struct row *const *)b, true);
}

static int compare_more(const void *a, const void *b)
{
	return compare(*(const struct row *const *)a, *(const struct row *const *)b, false);
}

static const struct row **sorted(const struct diff *d, bool less, size_t *count_ret)
{
	const struct row **rows = calloc(d->rows.count + 1, sizeof(const struct row *));
	const struct row *row;
	size_t n = 0;

	if (!rows)
		return NULL;
	cp_vec_for_each(&d->rows, row)
		if (is_in(row, less))
			rows[n++] = row;
	qsort(rows, n, sizeof(*rows), less ? compare_less : compare_more);
	*count_ret = n;
	return rows;
}

/* "7, 20-23" */
static void add_ranges(struct cp_buf *out, const struct numbers *n)
{
	size_t i, end;

	for (i = 0; i < n->items.count; i = end) {
		for (end = i + 1;
		     end < n->items.count && n->items.items[end] == n->items.items[end - 1] + 1;)
			end++;
		cp_buf_printf(out, "%s%u", i ? ", " : "", n->items.items[i]);
		if (end > i + 1)
			cp_buf_printf(out, "-%u", n->items.items[end - 1]);
	}
}

static void percent_cell(struct cp_table *t, const struct cp_covered_file *f)
{
	if (f)
		cp_table_cell(t, CP_PAINT_PLAIN, "%.1f%%", percent_of(f));
	else
		cp_table_cell(t, CP_PAINT_DIM, "-");
}

static const struct cp_column columns[] = {
	{ "change", true, 0, false },  { "old", true, 0, false },   { "new", true, 0, false },
	{ "lines", false, 12, false }, { "file", false, 0, false },
};

static CP_ERROR section(const struct diff *d, bool less, uint64_t limit, const struct cp_look *look,
			struct cp_buf *out)
{
	struct cp_table t CP_CLEANUP(cp_table_deinit) = { 0 };
	size_t count = 0, i;
	CP_FREE const struct row **rows = sorted(d, less, &count);

	if (!rows)
		return cp_error_nomem();
	cp_table_init(&t, columns, CP_ARRAY_SIZE(columns));
	for (i = 0; i < count && (!limit || i < limit); i++) {
		struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

		cp_buf_str(&text, rows[i]->moved ? "~" : "");
		add_ranges(&text, less ? &rows[i]->less : &rows[i]->more);
		cp_table_cell(&t, rows[i]->points < 0 ? CP_PAINT_HOT : CP_PAINT_COOL, "%+.1f",
			      rows[i]->points);
		percent_cell(&t, rows[i]->old);
		percent_cell(&t, rows[i]->new);
		cp_table_cell(&t, CP_PAINT_PLAIN, "%s", text.bytes ? text.bytes : "");
		cp_table_name(&t, CP_PAINT_PLAIN, rows[i]->name);
	}
	cp_report_title(out, look, less ? "Less covered" : "More covered",
			count ? NULL : "nothing");
	if (count)
		cp_table_print(&t, look, out);
	return NULL;
}

static void add_change(struct cp_buf *out, const char *what, uint64_t old_covered, uint64_t old,
		       uint64_t new_covered, uint64_t new)
{
	if (!old && !new)
		return;
	cp_buf_printf(out, "%s%s %.1f%% to %.1f%%", out->size ? ", " : "", what,
		      cp_coverage_percent(old_covered, old), cp_coverage_percent(new_covered, new));
}

CP_ERROR cp_diff_coverage_text(const struct cp_record *old, const struct cp_record *new,
			       uint64_t limit, const struct cp_look *look, struct cp_buf *out)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct diff d CP_CLEANUP(diff_free) = { 0 };
	const struct cp_coverage_totals *a = &d.old.totals, *b = &d.new.totals;
	const struct row *row;
	bool moved = false;

	CP_TRY(build(old, new, &d));
	add_change(&text, "lines", a->lines_covered, a->lines, b->lines_covered, b->lines);
	add_change(&text, "branches", a->branches_covered, cp_branches_all(a), b->branches_covered,
		   cp_branches_all(b));
	add_change(&text, "functions", a->functions_covered, a->functions, b->functions_covered,
		   b->functions);
	cp_report_title(out, look, "Coverage", NULL);
	if (text.size) {
		cp_buf_str(out, "  ");
		cp_add_wrapped(out, look, 2, 2, text.bytes);
	}
	CP_TRY(section(&d, true, limit, look, out));
	CP_TRY(section(&d, false, limit, look, out));
	cp_vec_for_each(&d.rows, row)
		moved |= row->moved;
	if (moved)
		cp_add_wrapped(out, look, 0, 0,
			       "What has a ~ was changed in between: its lines may be others.");
	return out->failed ? cp_error_nomem() : NULL;
}

/* ---- for tools ---- */

static void ranges_json(struct cp_json *j, const char *key, const struct numbers *n)
{
	size_t i, end;

	cp_json_begin(j, key, '[');
	for (i = 0; i < n->items.count; i = end) {
		for (end = i + 1;
		     end < n->items.count && n->items.items[end] == n->items.items[end - 1] + 1;)
			end++;
		cp_json_begin(j, NULL, '[');
		cp_json_u64(j, NULL, n->items.items[i]);
		cp_json_u64(j, NULL, n->items.items[end - 1]);
		cp_json_end(j, ']');
	}
	cp_json_end(j, ']');
}

static void side_json(struct cp_json *j, const char *key, const struct cp_coverage_totals *t)
{
	if (!t) {
		cp_json_null(j, key);
		return;
	}
	cp_json_begin(j, key, '{');
	cp_coverage_totals_json(t, j);
	cp_json_end(j, '}');
}

CP_ERROR cp_diff_coverage_json(const struct cp_record *old, const struct cp_record *new,
			       struct cp_json *j)
{
	struct diff d CP_CLEANUP(diff_free) = { 0 };
	const struct row *row;

	CP_TRY(build(old, new, &d));
	cp_json_begin(j, "coverage", '{');
	side_json(j, "old", &d.old.totals);
	side_json(j, "new", &d.new.totals);
	cp_json_begin(j, "files", '[');
	cp_vec_for_each(&d.rows, row) {
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "file", row->name);
		side_json(j, "old", row->old ? &row->old->totals : NULL);
		side_json(j, "new", row->new ? &row->new->totals : NULL);
		cp_json_f64(j, "points", row->points);
		ranges_json(j, "less", &row->less);
		ranges_json(j, "more", &row->more);
		cp_json_bool(j, "changed", row->moved);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
	cp_json_end(j, '}');
	return NULL;
}
