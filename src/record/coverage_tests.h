/* SPDX-License-Identifier: MIT
 *
 * Which test reached what: of recordings that say which test they are of
 * (info.test), merged ones keep the counts apart by part.
 */
#ifndef CP_RECORD_COVERAGE_TESTS_H
#define CP_RECORD_COVERAGE_TESTS_H

#include "record/coverage.h"

/* The name of the test that counts are of; `part` as in the file, + 1. "": none, or
 * several together. */
const char *cp_record_test(const struct cp_record *r, uint32_t part);

/* Counts of the n-th image (cp_record_get_coverage()), by part: how many there are. */
size_t cp_record_coverage_parts(const struct cp_record *r, size_t image);

/* The n-th of them: one for each of the image's blocks, to be read by
 * cp_coverage_ran(); lives as long as the recording. *test_ret: see cp_record_test(). */
const uint64_t *cp_record_part_blocks(const struct cp_record *r, size_t image, size_t n,
				      const char **test_ret);

/* Is it the count of a block that this part is known to have executed? */
bool cp_coverage_ran(uint64_t count);

#endif
