/* SPDX-License-Identifier: MIT
 *
 * Coverage of many recordings into one: what an image consists of is the union
 * of its functions, counts of 0 and 1 come together, exact ones and those of tests
 * that have a name stay apart by part.
 */
#ifndef CP_RECORD_MERGE_COVERAGE_H
#define CP_RECORD_MERGE_COVERAGE_H

#include "record/encode.h"
#include "record/reader.h"

/* All borrowed. */
struct cp_merge_from {
	const struct cp_record *record;
	const uint32_t *images; /* numbers in the output */
	const uint32_t *parts; /* numbers in the output + 1; 0: taken from elsewhere */
	size_t part_count;
};

struct cp_merged_coverage {
	CP_VEC(struct cp_merged_image *) images; /* by number */
};

/* Refuses images that differ in their code. */
CP_ERROR cp_merge_coverage(const struct cp_merge_from *from, size_t count,
			   struct cp_merged_coverage *ret);
void cp_merged_coverage_write(struct cp_merged_coverage *m, struct cp_record_encoder *e);
void cp_merged_coverage_free(struct cp_merged_coverage *m);

#endif
