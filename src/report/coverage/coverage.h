/* SPDX-License-Identifier: MIT
 *
 * The coverage of a recording by source file, as all its reports show it: the
 * totals are the same everywhere because they are counted here, once.
 *
 *     image: blocks, rows, branches ─┐
 *     image: ...                     ├─► file ─► line ─► branches
 *     sources: markers, changes ─────┘        └► functions
 */
#ifndef CP_REPORT_COVERAGE_H
#define CP_REPORT_COVERAGE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/vec.h"
#include "record/coverage.h"
#include "record/record.h"
#include "report/profile/left.h"

struct cp_sources; /* report/coverage/sources.h */
struct cp_source_file;

/* Marks of a line, function or branch. */
#define CP_COVERED_EXCLUDED 1u /* by a marker or an option: counts in no total */
#define CP_COVERED_SHARED \
	2u /* the compiler merged or moved its code: what is said of it is
				uncertain */
#define CP_COVERED_REMOVED 4u /* no code is left of it: counts in no total */
#define CP_COVERED_CHANGED 8u /* since the revision of --diff */
#define CP_COVERED_NO_BRANCHES 16u /* LCOV_EXCL_BR: its branches count in no total */

struct cp_covered_branch {
	uint32_t line;
	uint32_t number; /* of its line, from 0: the conditional jumps in order of address */
	uint32_t block; /* of its file: which block ends with it, dense from 0 */
	uint64_t taken, passed; /* or CP_COVERAGE_UNKNOWN; of several instances, added up */
	uint32_t flags; /* CP_COVERED_* */
};

struct cp_covered_line {
	uint32_t line;
	uint64_t
		count; /* of exact ones: how often it was begun; 0: not covered; UNKNOWN: can't be told */
	uint32_t flags; /* CP_COVERED_* */
	uint32_t first_branch, branch_count; /* in the file's */
	uint32_t blocks, blocks_covered; /* that have rows of it */
	const uint64_t *tests; /* those that reached it (tests.h); NULL: none with a name did */
};

struct cp_covered_function {
	const char *name, *linkage; /* demangled; linkage "" when inlined only */
	uint32_t line; /* where it is declared; 0: unknown */
	uint32_t end_line; /* last line that it has code of */
	uint64_t count; /* of its entry, all instances */
	uint32_t blocks, blocks_covered;
	uint32_t flags; /* CP_COVERED_* */
};

struct cp_coverage_totals {
	uint64_t lines, lines_covered;
	uint64_t functions, functions_covered;
	uint64_t blocks, blocks_covered;
	/* Directions: two for each conditional jump. Unknown ones are in
	 * `branches_unknown` alone: files for others, which have no word for them,
	 * leave them out. Percentages are of all: what is unknown makes none better. */
	uint64_t branches, branches_covered, branches_unknown;
	uint64_t uncertain; /* lines that are SHARED */
	uint64_t removed; /* lines and functions */
	uint64_t lines_unknown, functions_unknown; /* can't be told; in no other total */
	uint64_t partial; /* functions that were not decoded to their end (all files) */
};

struct cp_covered_file {
	const char *path; /* where the source is now: after --path-map */
	const char *name; /* for reports: relative to the root where it lies below it */
	/* Its text and marks; borrowed from the sources, which outlive this; NULL:
	 * built without sources, or not looked for. */
	const struct cp_source_file *source;
	CP_VEC(struct cp_covered_line) lines; /* by number */
	CP_VEC(struct cp_covered_function) functions; /* by line, then name */
	CP_VEC(struct cp_covered_branch) branches; /* by line, then number */
	struct cp_coverage_totals totals;
	struct cp_coverage_totals changed; /* of the lines that are CHANGED */
	bool missing; /* the source can't be read */
	bool newer; /* it was changed after the program was built */
};

/* Functions of images without line tables. */
struct cp_covered_binary {
	const char *path, *name;
	CP_VEC(struct cp_covered_function) functions; /* by name; line: 0 */
	struct cp_coverage_totals totals;
};

struct cp_coverage {
	CP_VEC(struct cp_covered_file) files; /* by name */
	CP_VEC(struct cp_covered_binary) binaries; /* by name */
	struct cp_coverage_totals totals; /* of the files and binaries */
	struct cp_coverage_totals changed;
	bool counted; /* exact counts; else 0 and 1 */
	bool optimised; /* some of the code, as far as that shows: counts are the code's */
	bool exact_branches, no_branches;
	const char *root; /* absolute; what names are relative to */
	uint64_t timestamp_ns; /* real time of the recording's start */
	const char *command; /* "" unknown */
	const char *version; /* of the cprof that recorded; "" or NULL: unknown */
	const char *const *tests; /* names, in order: what lines' sets are of */
	size_t test_count;
	size_t tests_left_out; /* for there are too many (tests.h) */
	size_t sources_seen; /* source files before any was left out */
	struct cp_lefts left; /* whose end was not seen */
	struct cp_arena *arena; /* owns the strings */
};

/* `sources` says what is left out and where sources lie; NULL: nothing, as
 * recorded, relative to the working directory. */
CP_ERROR cp_coverage_build(const struct cp_record *r, struct cp_sources *sources,
			   struct cp_coverage *ret);
void cp_coverage_deinit(struct cp_coverage *c);

static inline bool cp_is_covered(uint64_t count)
{
	return count && count != CP_COVERAGE_UNKNOWN;
}
static inline uint64_t cp_branches_all(const struct cp_coverage_totals *t)
{
	return t->branches + t->branches_unknown;
}

/* In percent; 100 of nothing (`of` 0). */
double cp_coverage_percent(uint64_t covered, uint64_t of);

#endif
