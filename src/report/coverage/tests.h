/* SPDX-License-Identifier: MIT
 *
 * Sets of tests: a bit for each that has a name, in words of 64.
 */
#ifndef CP_REPORT_COVERAGE_TESTS_H
#define CP_REPORT_COVERAGE_TESTS_H

#include "base/arena.h"
#include "base/vec.h"
#include "record/record.h"

/* Counts of an image's blocks in one recording of a test. */
struct cp_test_blocks {
	uint32_t test;
	const uint64_t *blocks; /* see cp_coverage_ran() */
};

#define CP_TESTS_MOST 4096 /* a set has half a kB then */

struct cp_tests {
	CP_VEC(const char *) names; /* in order, each once; borrowed from the recording */
	size_t left_out; /* the last ones, where there are more than CP_TESTS_MOST */
	CP_VEC(struct cp_test_blocks) image; /* of the image that is being added */
};

/* Finds the tests of a recording, and those that have counts of its n-th image. False
 * without memory. */
bool cp_tests_find(struct cp_tests *t, const struct cp_record *r);
bool cp_tests_set_image(struct cp_tests *t, const struct cp_record *r, size_t image);
void cp_tests_free(struct cp_tests *t);

/* Adds a test to a set, which is made, in the arena, when it is NULL. False without memory. */
bool cp_tests_add(const struct cp_tests *t, struct cp_arena *arena, uint64_t **set, uint32_t test);

/* Is it in the set? NULL is the empty one. */
static inline bool cp_tests_has(const uint64_t *set, size_t test)
{
	return set && set[test / 64] >> (test % 64) & 1;
}

/* How many of `count` tests are in the set. */
size_t cp_tests_count(const uint64_t *set, size_t count);

#endif
