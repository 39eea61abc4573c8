/* SPDX-License-Identifier: MIT
 *
 * The samples of a recording, added up as far as they are (sample_sums.h).
 */
#ifndef CP_RECORD_SUMMED_SAMPLES_H
#define CP_RECORD_SUMMED_SAMPLES_H

#include "record/sample_sums.h"

typedef bool (*cp_record_sample_sum_fn)(void *ctx, const struct cp_record_sample_sum *sum);
/* All samples, added up or one by one, ordered by the first of each, until `each` returns
 * false; `sum` is good until then. Numbers refer to the tables of `r`. Fails without memory, or
 * when the file is not what it was. */
CP_ERROR cp_record_each_sample_sum(const struct cp_record *r, cp_record_sample_sum_fn each,
				   void *ctx);

#endif
