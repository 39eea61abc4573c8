/* SPDX-License-Identifier: MIT
 *
 * What the files for other tools have in common: which lines, functions and
 * directions of branches count, and names that tell functions apart.
 *
 * Other tools add up what they find, so that what counts in no total is left
 * out: lines, functions and branches that were excluded or of which no code is
 * left, and all that can't be told. None of these formats has a word for
 * "unknown": whatever is written, a tool would take for "not taken". Nor has
 * one a word for "uncertain": which lines are so stands where no tool looks, in
 * comments and in keys that are ours.
 */
#ifndef CP_REPORT_COVERED_H
#define CP_REPORT_COVERED_H

#include "base/buf.h"
#include "base/map.h"
#include "record/coverage.h"
#include "report/coverage/coverage.h"

static inline bool cp_line_counts(const struct cp_covered_line *line)
{
	return !(line->flags & (CP_COVERED_EXCLUDED | CP_COVERED_REMOVED)) &&
	       line->count != CP_COVERAGE_UNKNOWN;
}

static inline bool cp_line_is_uncertain(const struct cp_covered_line *line)
{
	return cp_line_counts(line) && line->flags & CP_COVERED_SHARED;
}

/* "cprof: uncertain lines: 3 5-9", between the two texts; nothing where there
 * are none. */
void cp_add_uncertain(struct cp_buf *out, const struct cp_covered_file *f, const char *before,
		      const char *after);

static inline bool cp_function_counts(const struct cp_covered_function *f)
{
	return !(f->flags & (CP_COVERED_EXCLUDED | CP_COVERED_REMOVED)) &&
	       f->count != CP_COVERAGE_UNKNOWN;
}

/* The branches of `line` that count; the direction that is unknown of one
 * still does not. */
const struct cp_covered_branch *cp_next_branch(const struct cp_covered_file *f,
					       const struct cp_covered_line *line,
					       const struct cp_covered_branch *after);
#define cp_branches_for_each(f, line, b) \
	for ((b) = cp_next_branch((f), (line), NULL); (b); (b) = cp_next_branch((f), (line), (b)))

struct cp_directions {
	uint64_t known, covered;
};
struct cp_directions cp_branch_directions(const struct cp_covered_branch *b);
struct cp_directions cp_line_directions(const struct cp_covered_file *f,
					const struct cp_covered_line *line);

/* The totals of the lines, functions and branches that count: f->totals, counted anew. */
struct cp_coverage_totals cp_file_totals(const struct cp_covered_file *f);
/* Something in it counts; else reports leave it out. */
bool cp_is_written(const struct cp_covered_file *f);
void cp_totals_add_line(struct cp_coverage_totals *to, const struct cp_covered_file *f,
			const struct cp_covered_line *line);
void cp_totals_add(struct cp_coverage_totals *to, const struct cp_coverage_totals *t);

/* Names of the functions of one file. Tools know functions by their names
 * alone: two that are called the same (static ones of a header in two
 * programs, instances of a template) get "@LINE" and "#N" behind them. */
struct cp_function_names {
	struct cp_interner names;
	struct cp_map again; /* number of a name: how often it came since */
	struct cp_buf text; /* the last answer */
};
/* `name` is what is wished for; the answer lives until the next call. NULL
 * without memory. */
const char *cp_function_names_add(struct cp_function_names *n, const char *name, uint32_t line);
void cp_function_names_free(struct cp_function_names *n);

#endif
