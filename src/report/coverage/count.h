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

/* Scratch; starts all zero, used again for the next line. */
struct cp_line_counter {
	CP_VEC(uint32_t) blocks; /* that end with the line: numbers of the image, ascending */
	CP_VEC(struct cp_line_edge) edges;
};

/* How often the line was begun whose blocks of `f` are in `counter`. False
 * without memory. */
bool cp_line_executions(struct cp_line_counter *counter, const struct cp_coverage_image *c,
			const struct cp_coverage_function *f, uint64_t *ret);
void cp_line_counter_free(struct cp_line_counter *counter);

#endif
