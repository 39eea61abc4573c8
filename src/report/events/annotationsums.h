/* SPDX-License-Identifier: MIT
 *
 * The annotations of a recording added up by name.
 */
#ifndef CP_REPORT_ANNOTATIONSUMS_H
#define CP_REPORT_ANNOTATIONSUMS_H

#include "base/error.h"
#include "base/vec.h"
#include "report/events/annotations.h"
#include "report/profile/places.h"

struct cp_annotated {
	unsigned kind; /* SPAN_BEGIN, ASYNC_START, INSTANT, COUNTER */
	uint32_t process; /* of a counter */
	const char *name, *category;
	uint64_t count, open; /* open: of them, not over at the end */
	uint64_t total_ns; /* recursion counted once */
	uint64_t self_ns;
	int64_t least, most, last; /* of a counter */
	CP_VEC(uint64_t) durations; /* of those that are over; sorted */
};

struct cp_annotation_sums {
	CP_VEC(struct cp_annotated) items; /* by kind, then most first */
};

CP_ERROR cp_annotation_sums_build(const struct cp_annotations *a, enum cp_profile_order order,
				  struct cp_annotation_sums *ret);
void cp_annotation_sums_deinit(struct cp_annotation_sums *s);
/* The duration that this share does not exceed; 0 without any. */
uint64_t cp_annotated_quantile(const struct cp_annotated *it, double share);

#endif
