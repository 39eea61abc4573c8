/* SPDX-License-Identifier: MIT
 *
 * What images say of source lines, put together while it is read.
 */
#ifndef CP_REPORT_COVERAGE_SUMS_H
#define CP_REPORT_COVERAGE_SUMS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/sourcepath.h"
#include "base/vec.h"
#include "record/coverage.h"
#include "record/record.h"
#include "report/coverage/coverage.h"
#include "report/coverage/sources.h"
#include "report/coverage/tests.h"

#define CP_SUM_BLOCKS 64 /* blocks of a line that are told apart */

struct cp_line_sum {
	uint32_t line;
	uint64_t count;
	uint64_t passed; /* the same, of functions with blocks that go on in other lines alone */
	uint64_t covered; /* a bit for each of its first blocks that were executed */
	uint64_t *tests; /* those that reached it; in the arena, or NULL */
	uint32_t blocks;
	bool begins; /* somewhere, as a statement */
	bool has_code; /* instructions of its own, wherever they were moved to */
	bool sure; /* it was reached, beyond doubt */
	bool strayed; /* some of its code ran where none of its statements was begun */
};

/* How often it was executed. gcov's rule, too: the line of a lambda counts how often that is
 * called, not how often it is made, but where nobody calls it. */
static inline uint64_t cp_line_sum_count(const struct cp_line_sum *line)
{
	return line->count ? line->count : line->passed;
}

struct cp_branch_sum {
	uint32_t line, number;
	uint64_t taken, passed;
};

/* Instances with as many blocks have the same ones. */
struct cp_variant {
	uint32_t blocks;
	uint8_t *covered; /* of each, in the arena */
	struct cp_variant *next;
};

struct cp_function_sum {
	uint32_t file; /* or binary */
	uint32_t line, end_line;
	const char *base, *name, *linkage; /* in the arena; linkage NULL: none yet */
	char structor[3]; /* "C1" to "D4"; "": it is none */
	bool merged; /* into another one: it is none */
	bool uncertain; /* it or another one was reached */
	bool differ; /* instances have different names */
	bool real; /* `name` is that of a symbol, not of an inlined instance */
	bool code; /* there is some */
	uint64_t count, piece_count;
	struct cp_variant *variants;
};

struct cp_file_sum {
	const char *path, *name;
	const struct cp_source_file *source;
	bool newer;
	CP_VEC(struct cp_line_sum) lines;
	CP_VEC(struct cp_branch_sum) branches;
	/* Where a line is in `lines`, + 1: by its number, and of the few that no real
	 * file has. */
	CP_VEC(uint32_t) line_places;
	struct cp_map far_places;
	struct cp_map branch_places; /* by line << 32 | number */
};

struct cp_sums {
	const struct cp_record *record;
	struct cp_sources *sources; /* or NULL, then: */
	struct cp_source_paths paths;
	struct cp_tests tests;
	struct cp_arena *arena;
	CP_VEC(struct cp_file_sum) files;
	struct cp_interner recorded; /* paths */
	CP_VEC(uint32_t) found; /* file of each, or CP_RECORD_NONE: left out */
	struct cp_interner settled; /* paths of files */
	struct cp_interner binaries; /* paths of images without lines */
	CP_VEC(struct cp_function_sum) functions, binary_functions;
	struct cp_interner function_keys, binary_keys;
	struct cp_coverage_totals totals; /* what no file has: functions not decoded */
	bool optimised; /* by inlined calls, or statements that lost their instructions */
	bool no_memory;
};

/* Adds the recording's n-th image with coverage. */
void cp_sums_add(struct cp_sums *s, size_t image);
void cp_sums_free(struct cp_sums *s);

#endif
