/* SPDX-License-Identifier: MIT */
#include "report/profile/heapshots.h"

#include <stdlib.h>

#include "record/annotations.h"

static int by_time(const void *a, const void *b)
{
	const struct cp_heapshot *one = a, *two = b;

	return (one->ts_ns > two->ts_ns) - (one->ts_ns < two->ts_ns);
}

CP_ERROR cp_heapshots_find(const struct cp_record *r, struct cp_heapshots *ret)
{
	size_t count = cp_record_annotation_count(r), i;

	for (i = 0; i < count; i++) {
		const struct cp_record_annotation a = cp_record_get_annotation(r, i);
		const struct cp_heapshot shot = { .ts_ns = a.ts_ns };

		if (a.flags & CP_RECORD_ANNOTATION_HEAPSHOT && !cp_vec_push(ret, shot))
			return cp_error_nomem();
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_time);
	return NULL;
}

void cp_heapshots_free(struct cp_heapshots *shots)
{
	cp_vec_free(shots);
}
