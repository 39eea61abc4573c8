/* SPDX-License-Identifier: MIT
 *
 * Samples added up by thread, stack and flags, for who shows no single one of them. The writer
 * puts what a section of samples comes to before it, where that is much shorter; of a large
 * file the reader adds such rows up as it loads it, and then need not decode the section:
 *
 *    samples, time of the last, rows | columns: thread, stack + 1, flags, ticks, weight
 */
#ifndef CP_RECORD_SAMPLE_SUMS_H
#define CP_RECORD_SAMPLE_SUMS_H

#include "base/map.h"
#include "base/vec.h"
#include "record/record.h"

/* A row for this many samples, or more, is worth it. */
#define CP_SAMPLE_SUMS_SHARE 8
#define CP_SAMPLE_SUMS_FLAGS 4 /* all that flags may be */

struct cp_record_sample_sum {
	uint32_t thread, stack, flags; /* as those of the samples */
	uint64_t count, weight_ns; /* modulo 2^64 */
};

/* Begins as zeros. */
struct cp_sample_sums {
	CP_VEC(struct cp_record_sample_sum) rows; /* by the first sample of each */
	struct cp_map places[CP_SAMPLE_SUMS_FLAGS]; /* by flags: thread, stack -> row */
};

/* Adds what some samples, or one, come to. False without memory, or with flags that are none. */
bool cp_sample_sums_add(struct cp_sample_sums *s, const struct cp_record_sample_sum *more);
static inline struct cp_record_sample_sum cp_sample_sum_of(const struct cp_record_sample *s)
{
	return (struct cp_record_sample_sum){ s->thread, s->stack, s->flags, s->count,
					      s->weight_ns };
}
void cp_sample_sums_free(struct cp_sample_sums *s);

#endif
