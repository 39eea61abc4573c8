/* SPDX-License-Identifier: MIT
 *
 * Coverage on its way into the file, and what its reader has to know of that.
 */
#ifndef CP_RECORD_COVERAGE_ENCODE_H
#define CP_RECORD_COVERAGE_ENCODE_H

#include "base/buf.h"
#include "base/vec.h"
#include "record/arena.h"
#include "record/coverage.h"

/* Columns of a unit. References are those of strings: number + 1, or 0. */
enum {
	CP_COVER_FUNCTION_NAME,
	CP_COVER_FUNCTION_LINKAGE,
	CP_COVER_FUNCTION_ADDRESS,
	CP_COVER_FUNCTION_FILE,
	CP_COVER_FUNCTION_LINE,
	CP_COVER_FUNCTION_ENTRY, /* of its blocks */
	CP_COVER_FUNCTION_FLAGS,
	CP_COVER_FUNCTION_BLOCKS, /* how many */
	CP_COVER_FUNCTION_ROWS,
	CP_COVER_FUNCTION_BRANCHES,
	CP_COVER_FUNCTION_INLINES,
	CP_COVER_FUNCTION_COLUMNS
};
enum {
	CP_COVER_BLOCK_ADDRESS, /* less the end of the one before; the first, the function's */
	CP_COVER_BLOCK_SIZE,
	CP_COVER_BLOCK_NEXT, /* of the function's + 1, or 0 */
	CP_COVER_BLOCK_COLUMNS,
	CP_COVER_BLOCK_LANDING = CP_COVER_BLOCK_COLUMNS, /* the same; behind all else */
};
enum {
	CP_COVER_ROW_BLOCK, /* of the function's */
	CP_COVER_ROW_FILE,
	CP_COVER_ROW_LINE,
	CP_COVER_ROW_FLAGS,
	CP_COVER_ROW_COLUMNS
};
enum {
	CP_COVER_BRANCH_BLOCK, /* of the function's */
	CP_COVER_BRANCH_ADDRESS, /* less the block's */
	CP_COVER_BRANCH_FILE,
	CP_COVER_BRANCH_LINE,
	CP_COVER_BRANCH_TARGET, /* of the function's blocks + 1, or 0 */
	CP_COVER_BRANCH_COLUMNS
};
enum {
	CP_COVER_INLINE_BLOCK, /* of the function's */
	CP_COVER_INLINE_NAME,
	CP_COVER_INLINE_FILE,
	CP_COVER_INLINE_LINE,
	CP_COVER_INLINE_COLUMNS
};

/* A count that is not there: the code was not looked at in this part. */
#define CP_COVER_ABSENT (CP_COVERAGE_UNKNOWN - 1)
/* Counts are written as themselves plus 2, modulo 2^64: absent 0, unknown 1. */
#define CP_COVER_COUNT_BIAS 2

struct cp_record_encoder;

struct cp_record_hash {
	uint64_t h[2];
};

/* An image as it was written last: hashes. */
struct cp_record_covered {
	struct cp_record_hash layout;
	CP_VEC(struct cp_record_hash) counts; /* of each unit */
	uint32_t revision; /* of the layout, from 1; 0: none yet */
};

struct cp_record_covering {
	CP_VEC(struct cp_record_covered) images; /* by number */
	CP_VEC(uint64_t) column;
	struct cp_buf body; /* of the section being made */
	struct cp_buf sections; /* of the chunk under way */
};
void cp_record_put_coverage(struct cp_record_encoder *e);
void cp_record_covering_free(struct cp_record_encoder *e);

/* The image's layout is written unless it is as it was written last; counts are of
 * those units of which they changed. `part` is that of the counts plus 1; 0 for those
 * of 0 and 1 of several parts. */
void cp_record_encode_layout(struct cp_record_encoder *e, const struct cp_coverage_image *c);
void cp_record_encode_counts(struct cp_record_encoder *e, uint32_t part,
			     const struct cp_coverage_image *c);

/* A copy of all but functions that are not in order (see coverage_encode.c).
 * False without memory. */
bool cp_record_copy_coverage(struct cp_record_arena *arena, const struct cp_coverage_image *c,
			     struct cp_coverage_image *ret);

#endif
