/* SPDX-License-Identifier: MIT */
#include "report/export/samples.h"

#include <stdlib.h>

#include "report/profile/profile.h"

static int compare_times(const void *va, const void *vb, void *ctx)
{
	const struct cp_record_sample *s = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	if (s[a].thread != s[b].thread)
		return s[a].thread < s[b].thread ? -1 : 1;
	if (s[a].ts_ns != s[b].ts_ns)
		return s[a].ts_ns < s[b].ts_ns ? -1 : 1;
	return (a > b) - (a < b);
}

CP_ERROR cp_export_by_thread(const struct cp_profile *p, uint32_t **ret, size_t *count_ret)
{
	const struct cp_record_sample *s = cp_record_samples(p->record);
	size_t count = cp_record_sample_count(p->record), n = 0, i;
	uint32_t *order = calloc(count + 1, sizeof(*order));

	if (!order)
		return cp_error_nomem();
	for (i = 0; i < count; i++) {
		if (cp_profile_accepts(p, &s[i]))
			order[n++] = (uint32_t)i;
	}
	if (n)
		qsort_r(order, n, sizeof(*order), compare_times, (void *)(uintptr_t)s);
	*ret = order;
	*count_ret = n;
	return NULL;
}
