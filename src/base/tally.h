/* SPDX-License-Identifier: MIT
 *
 * How often each number comes. Memory is for numbers that differ: times that a thread took
 * one after the other and that all differ are no more than the square root of twice their
 * sum, so millions of calls are some thousand numbers.
 */
#ifndef CP_BASE_TALLY_H
#define CP_BASE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_tallied {
	uint64_t value, count;
};

/* Begins as zeros. */
struct cp_tally {
	struct cp_tallied *slots; /* count 0: free; after cp_tally_sort() in their order */
	size_t capacity, distinct;
};

/* Counts `value` so often more; false without memory. Not after cp_tally_sort(). */
bool cp_tally_add(struct cp_tally *t, uint64_t value, uint64_t times);
/* From now on slots[0 .. distinct - 1] have all of them, the least first. */
void cp_tally_sort(struct cp_tally *t);
void cp_tally_free(struct cp_tally *t);

#endif
