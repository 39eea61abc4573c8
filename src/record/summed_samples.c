/* SPDX-License-Identifier: MIT */
#include "record/summed_samples.h"

#include "record/reader.h"

struct summing {
	cp_record_sample_sum_fn each;
	void *ctx;
};

static bool tell_sum(void *ctx, const struct cp_record_sample *s)
{
	const struct summing *to = ctx;
	const struct cp_record_sample_sum sum = cp_sample_sum_of(s);

	return to->each(to->ctx, &sum);
}

CP_ERROR cp_record_each_sample_sum(const struct cp_record *r, cp_record_sample_sum_fn each,
				   void *ctx)
{
	const struct cp_sample_sums *sums = &r->sample_sums;
	struct summing to = { each, ctx };
	size_t i;

	if (!r->sample_sections.count || r->sample_sums_unknown)
		return cp_record_each_sample(r, tell_sum, &to);
	for (i = 0; i < sums->rows.count && each(ctx, &sums->rows.items[i]); i++)
		;
	return NULL;
}
