/* SPDX-License-Identifier: MIT
 *
 * How often a line was executed, by exact counts of its blocks.
 */
#ifndef CP_REPORT_COVERAGE_COUNT_H
#define CP_REPORT_COVERAGE_COUNT_H

#include "base/vec.h"
#include "record/coverage.h"

/* From a block of the line to another one, by their places among these. */
struct cp_line_edge {
	uint32_t from, to;
	uint64_t count;
};

/* How a block is come to, but from the one that it lies behind. */
struct cp_line_entry {
	uint64_t jumps;
	bool jumped_to, landed_at; /* by jumps; by exceptions */
	bool forks; /* it ends with a branch */
};

/* The line that a block ends with, and the one before that in it: file << 32 | number;
 * 0: none. */
struct cp_line_end {
	uint64_t place, before;
	uint64_t begin; /* that it begins with */
	uint64_t jump; /* that it has nothing of but the jump at its end */
	uint64_t
		pause; /* that it has nothing of but a byte at its beginning, where a `break` ends */
	bool way_out; /* where the function returns, no more */
};

/* Starts all zero, used again for the next line and function. */
struct cp_line_counter {
	const struct cp_coverage_image *c; /* borrowed */
	const struct cp_coverage_function *f;
	CP_VEC(struct cp_line_entry) entries; /* of the function's blocks */
	CP_VEC(struct cp_line_end) ends; /* the same */
	bool computes; /* it may jump to who knows where, as switches do */
	CP_VEC(uint64_t) seen; /* lines of the block of which rows are told */
	uint64_t highest; /* of these */
	/* Of the line: blocks that end with it, numbers of the image, ascending. */
	CP_VEC(uint32_t) blocks;
	/* Beside these: where the function returns, jumps that close a loop, and those that begin
	 * with a byte of it. */
	CP_VEC(uint32_t) ways_out, closing, pauses;
	bool calls; /* one of `blocks` goes on behind a call */
	CP_VEC(struct cp_line_edge) edges;
	uint32_t last; /* block added */
	uint64_t passing; /* of all blocks with it */
	uint64_t
		inlining; /* of the one that ran most often of those that it inlines a function in */
};

/* A function, before its lines. False without memory. */
bool cp_line_counter_begin(struct cp_line_counter *counter, const struct cp_coverage_image *c,
			   const struct cp_coverage_function *f);
/* Its rows, in order (false without memory), and whether that is a byte and no more; then, with
 * the file that it is of: */
bool cp_line_counter_row(struct cp_line_counter *counter, uint32_t block, uint64_t place,
			 bool byte);
void cp_line_counter_settle(struct cp_line_counter *counter, uint32_t file);

/* A line: the blocks that have code of it, in order, one may come more than once. False
 * without memory. */
void cp_line_counter_clear(struct cp_line_counter *counter);
bool cp_line_counter_add(struct cp_line_counter *counter, uint32_t block, uint64_t place,
			 bool inlines);
/* How often it was begun; *passed_ret: no block ends with it. False without memory. */
bool cp_line_executions(struct cp_line_counter *counter, uint64_t *ret, bool *passed_ret);
void cp_line_counter_free(struct cp_line_counter *counter);

#endif
