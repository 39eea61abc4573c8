/* SPDX-License-Identifier: MIT */
#include "report/coverage/json.h"

#include "report/coverage/coverage.h"
#include "report/coverage/covered.h"
#include "report/coverage/tests.h"
#include "report/profile/left.h"

static void amount(struct cp_json *j, const char *key, uint64_t covered, uint64_t total)
{
	cp_json_begin(j, key, '{');
	cp_json_u64(j, "covered", covered);
	cp_json_u64(j, "total", total);
	cp_json_end(j, '}');
}

/* The numbers of what can't be told or is in doubt, where there is any. */
static void doubts(struct cp_json *j, const struct cp_coverage_totals *t)
{
	const struct {
		const char *key;
		uint64_t count;
	} all[] = { { "lines_unknown", t->lines_unknown },
		    { "functions_unknown", t->functions_unknown },
		    { "branches_unknown", t->branches_unknown },
		    { "lines_uncertain", t->uncertain },
		    { "functions_removed", t->removed },
		    { "functions_partial", t->partial } };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].count)
			cp_json_u64(j, all[i].key, all[i].count);
}

void cp_coverage_totals_json(const struct cp_coverage_totals *t, struct cp_json *j)
{
	amount(j, "lines", t->lines_covered, t->lines);
	amount(j, "functions", t->functions_covered, t->functions);
	cp_json_begin(j, "branches", '{');
	cp_json_u64(j, "covered", t->branches_covered);
	cp_json_u64(j, "total", t->branches);
	cp_json_u64(j, "unknown", t->branches_unknown);
	cp_json_u64(j, "all", cp_branches_all(t));
	cp_json_end(j, '}');
	amount(j, "blocks", t->blocks_covered, t->blocks);
	doubts(j, t);
}

static bool is_uncovered(const struct cp_covered_line *l, size_t test)
{
	(void)test;
	return cp_line_counts(l) && !l->count;
}

static bool is_uncertain(const struct cp_covered_line *l, size_t test)
{
	(void)test;
	return cp_line_is_uncertain(l);
}

static bool is_reached_by(const struct cp_covered_line *l, size_t test)
{
	return cp_line_counts(l) && cp_tests_has(l->tests, test);
}

/* Lines that count and are so: [[from, to], ...]; lines between them that have
 * no code do not part them. */
static void ranges(struct cp_json *j, const char *key, const struct cp_covered_file *f,
		   bool (*are)(const struct cp_covered_line *l, size_t test), size_t test)
{
	const struct cp_covered_line *l;
	uint32_t from = 0, to = 0;

	cp_json_begin(j, key, '[');
	for (l = f->lines.items; f->lines.count; l++) {
		bool end = l == f->lines.items + f->lines.count;
		bool is = !end && are(l, test);

		if (is) {
			from = from ? from : l->line;
			to = l->line;
		} else if (from) {
			cp_json_begin(j, NULL, '[');
			cp_json_u64(j, NULL, from);
			cp_json_u64(j, NULL, to);
			cp_json_end(j, ']');
			from = 0;
		}
		if (end)
			break;
	}
	cp_json_end(j, ']');
}

/* The lines that each test reached of the file. */
static void tests(struct cp_json *j, const struct cp_coverage *c, const struct cp_covered_file *f)
{
	size_t i;

	if (!c->test_count)
		return;
	cp_json_begin(j, "tests", '[');
	for (i = 0; i < c->test_count; i++) {
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "test", c->tests[i]);
		ranges(j, "reached", f, is_reached_by, i);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
}

static void file(struct cp_json *j, const struct cp_coverage *c, const struct cp_covered_file *f)
{
	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "file", f->name);
	cp_json_str(j, "path", f->path);
	cp_coverage_totals_json(&f->totals, j);
	if (c->changed.lines) {
		cp_json_begin(j, "changed", '{');
		cp_coverage_totals_json(&f->changed, j);
		cp_json_end(j, '}');
	}
	if (f->missing)
		cp_json_bool(j, "missing", true);
	if (f->newer)
		cp_json_bool(j, "newer", true);
	ranges(j, "uncovered", f, is_uncovered, 0);
	if (f->totals.uncertain)
		ranges(j, "uncertain", f, is_uncertain, 0);
	tests(j, c, f);
	cp_json_end(j, '}');
}

void cp_report_coverage_json(const struct cp_coverage *c, struct cp_json *j)
{
	const struct cp_covered_binary *b;
	const struct cp_covered_file *f;

	cp_json_begin(j, "coverage", '{');
	cp_coverage_totals_json(&c->totals, j);
	if (c->changed.lines) {
		cp_json_begin(j, "changed", '{');
		cp_coverage_totals_json(&c->changed, j);
		cp_json_end(j, '}');
	}
	cp_lefts_json(j, &c->left);
	cp_json_bool(j, "counted", c->counted);
	if (c->counted)
		cp_json_bool(j, "counts_of_optimised", c->optimised);
	if (c->tests_left_out)
		cp_json_u64(j, "tests_left_out", c->tests_left_out);
	cp_json_begin(j, "files", '[');
	cp_vec_for_each(&c->files, f)
		file(j, c, f);
	cp_json_end(j, ']');
	cp_json_begin(j, "binaries", '[');
	cp_vec_for_each(&c->binaries, b) {
		cp_json_begin(j, NULL, '{');
		cp_json_str(j, "file", b->name);
		cp_coverage_totals_json(&b->totals, j);
		cp_json_end(j, '}');
	}
	cp_json_end(j, ']');
	cp_json_end(j, '}');
}
