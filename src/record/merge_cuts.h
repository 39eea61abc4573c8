/* SPDX-License-Identifier: MIT
 *
 * One function of several recordings of which some have blocks cut in two, where an
 * instruction failed (CP_COVERAGE_ROW_CUT): put together, it has all the cuts.
 * Private to src/record.
 */
#ifndef CP_RECORD_MERGE_CUTS_H
#define CP_RECORD_MERGE_CUTS_H

#include "base/vec.h"
#include "record/coverage.h"

/* A recording's, in its image. */
struct cp_cut_function {
	const struct cp_coverage_image *c;
	const struct cp_coverage_function *f;
};

/* An image with that function alone. */
struct cp_joined_cuts {
	struct cp_coverage_image c;
	struct cp_coverage_function f;
	CP_VEC(struct cp_coverage_block) blocks;
	CP_VEC(struct cp_coverage_row) rows;
	CP_VEC(struct cp_coverage_branch) branches;
	CP_VEC(struct cp_coverage_inline) inlines;
};

/* `all` have the same branches; all but blocks is as all[best] says it. False, with
 * *no_memory_ret or without: they are not the same code. *ret is to be freed in any
 * case. */
bool cp_cuts_join(const struct cp_cut_function *all, size_t count, size_t best,
		  struct cp_joined_cuts *ret, bool *no_memory_ret);
void cp_cuts_free(struct cp_joined_cuts *joined);
/* Number, among the function's, of the block that has `address`; CP_RECORD_NONE. */
uint32_t cp_cuts_block(const struct cp_cut_function *of, uint64_t address);

#endif
