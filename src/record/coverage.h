/* SPDX-License-Identifier: MIT
 *
 * Coverage in a recording: of each image what could run and what did. It
 * stands by itself: reports need neither the program nor its debug
 * information again.
 *
 * Counts are 0 or 1 unless COUNTED. Merged by build-id (by path where there is
 * none): of 0 and 1 the larger, so that it does not matter how often; exact
 * counts of each recording, and those of one that says which test it is of, are
 * kept apart in the file and added when read (coverage_tests.h).
 */
#ifndef CP_RECORD_COVERAGE_H
#define CP_RECORD_COVERAGE_H

#include "record/record.h"

#define CP_COVERAGE_UNKNOWN UINT64_MAX /* a count that can't be told */

/* Two counts together: executed in one is executed, whatever the other one is; 0 and
 * a count that can't be told can't be told. */
static inline uint64_t cp_coverage_add(uint64_t a, uint64_t b)
{
	if (a == CP_COVERAGE_UNKNOWN || b == CP_COVERAGE_UNKNOWN) {
		uint64_t known = a == CP_COVERAGE_UNKNOWN ? b : a;

		return known ? known : CP_COVERAGE_UNKNOWN;
	}
	return a + b < a || a + b >= CP_COVERAGE_UNKNOWN - 1 ? CP_COVERAGE_UNKNOWN - 2 : a + b;
}

struct cp_coverage_block {
	uint64_t address; /* link-time */
	uint32_t size;
	uint64_t count; /* or CP_COVERAGE_UNKNOWN */
	/* 1 + number, among the function's, of the block that it goes on in: behind
	 * it, or where it jumps to. 0: none of these. */
	uint32_t next;
	/* The same of an exception that leaves the call at its end. Told with exact counts
	 * alone. */
	uint32_t landing;
};

#define CP_COVERAGE_ROW_STATEMENT 1u
#define CP_COVERAGE_ROW_EMPTY 2u /* no instruction of its own */
#define CP_COVERAGE_ROW_INSIDE 4u /* the block begins in the middle of a statement */
#define CP_COVERAGE_ROW_CUT 8u /* the row before again: a fault cut its block in two */
#define CP_COVERAGE_ROW_UNSURE 16u /* a count of 0 is likely, and no more */
#define CP_COVERAGE_ROW_BYTE 32u /* no more than an instruction of a byte */
struct cp_coverage_row {
	uint32_t block; /* in the image's `blocks`, as everywhere here; its function's */
	uint32_t file; /* in `files` */
	uint32_t line;
	uint32_t flags; /* CP_COVERAGE_ROW_* */
};

struct cp_coverage_branch {
	uint64_t address;
	uint32_t block;
	uint32_t file, line; /* CP_RECORD_NONE, 0: unknown */
	uint64_t taken, passed; /* or CP_COVERAGE_UNKNOWN */
	uint32_t target; /* 1 + number, among the function's, of the block it jumps to; 0: none */
};

struct cp_coverage_inline {
	const char *name;
	uint32_t file, line; /* where it is declared */
	uint32_t block;
};

#define CP_COVERAGE_FUNCTION_PARTIAL 1u /* not decoded to its end */
/* Defined in the source, but no code is left of it, inlined instances neither:
 * address 0, no blocks. */
#define CP_COVERAGE_FUNCTION_REMOVED 2u
/* No function: a source file of which all was left out when it was recorded.
 * Without name, address 0, no blocks. */
#define CP_COVERAGE_FUNCTION_LEFT_OUT 4u
#define CP_COVERAGE_FUNCTION_ARTIFICIAL 8u /* the compiler's: nobody wrote it */
struct cp_coverage_function {
	const char *name, *linkage; /* demangled; as in the symbol table */
	uint64_t address;
	uint32_t file, line; /* where it is declared; CP_RECORD_NONE, 0: unknown */
	uint32_t entry; /* block; any without blocks */
	uint32_t flags; /* CP_COVERAGE_FUNCTION_* */
	/* The function's pieces of the image's arrays. */
	uint32_t first_block, block_count;
	uint32_t first_row, row_count;
	uint32_t first_branch, branch_count;
	uint32_t first_inline, inline_count;
};

#define CP_COVERAGE_COUNTED 1u /* exact counts */
#define CP_COVERAGE_EXACT_BRANCHES 2u
#define CP_COVERAGE_NO_BRANCHES 4u /* were not watched */

struct cp_coverage_image {
	uint32_t image; /* number */
	uint32_t flags; /* CP_COVERAGE_* */
	bool same_layout; /* for writers: all but counts and flags is as told last */
	uint64_t written_ns; /* the file, since 1970; 0: unknown */
	const char *const *files; /* source paths */
	size_t file_count;
	const struct cp_coverage_function *functions; /* by address */
	size_t function_count;
	const struct cp_coverage_block *blocks;
	size_t block_count;
	const struct cp_coverage_row *rows; /* by function, block, then address */
	size_t row_count;
	const struct cp_coverage_branch *branches;
	size_t branch_count;
	const struct cp_coverage_inline *inlines;
	size_t inline_count;
};

/* All is copied. Of one image, the last one written counts; what did not change
 * since takes no room. A function whose pieces are not in order, or are more
 * than a million, is left out. */
void cp_record_coverage(struct cp_record_writer *w, const struct cp_coverage_image *c);

/* One for each image with coverage; live as long as the recording. */
size_t cp_record_coverage_count(const struct cp_record *r);
const struct cp_coverage_image *cp_record_get_coverage(const struct cp_record *r, size_t n);

#endif
