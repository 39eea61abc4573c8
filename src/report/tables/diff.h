/* SPDX-License-Identifier: MIT
 *
 * Two profiles compared, function by function.
 */
#ifndef CP_REPORT_DIFF_H
#define CP_REPORT_DIFF_H

#include "base/json.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

/* What makes two recordings comparable. */
enum cp_diff_by {
	CP_DIFF_BY_SHARE, /* each function's part of its recording's total */
	CP_DIFF_BY_TIME, /* nanoseconds as they are: for runs of the same work */
	CP_DIFF_BY_RATE, /* nanoseconds a second of recording: for attaches */
};

struct cp_diff_options {
	enum cp_diff_by by;
	bool by_total; /* order by total instead of self */
	uint64_t limit; /* rows; 0: all */
};

/* A function of either. */
struct cp_diff_row {
	const char *name, *image; /* borrowed from the profiles */
	bool in_old, in_new;
	struct cp_cost old_self, old_total, new_self, new_total;
	double self, total; /* new minus old, in the unit of `by` */
	bool self_matters, total_matters; /* the share changed by more than chance */
};

struct cp_diff {
	const struct cp_profile *old, *new; /* borrowed */
	struct cp_diff_options options;
	CP_VEC(struct cp_diff_row) rows; /* biggest change first */
};

CP_ERROR cp_diff_build(const struct cp_profile *old, const struct cp_profile *new,
		       const struct cp_diff_options *o, struct cp_diff *ret);
void cp_diff_deinit(struct cp_diff *d);

/* So many standard deviations chance exceeds in one of 20 comparisons of `rows` rows,
 * in any of them. */
double cp_diff_deviations(size_t rows);
/* Are the shares of the two totals further apart than `deviations` (see above) of
 * what sampling twice gives by chance? */
bool cp_diff_matters(const struct cp_profile *old, uint64_t old_ns, const struct cp_profile *new,
		     uint64_t new_ns, double deviations);

CP_ERROR cp_diff_text(const struct cp_diff *d, const struct cp_look *look, struct cp_buf *out);
CP_ERROR cp_diff_json(const struct cp_diff *d, struct cp_buf *out);

#endif
