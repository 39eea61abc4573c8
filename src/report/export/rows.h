/* SPDX-License-Identifier: MIT
 *
 * Source lines and instructions of the hottest functions, for a page: what there is room for.
 */
#ifndef CP_REPORT_ROWS_H
#define CP_REPORT_ROWS_H

#include "report/export/timeline.h"
#include "report/export/title.h"
#include "report/profile/spots.h"

struct cp_rows {
	struct cp_spots spots;
	CP_VEC(char *) why; /* owned; by listing: why it has no instructions, or NULL */
	size_t left_out; /* functions with time of their own that have no rows here */
};

/* None where `p` is not of samples, or they are not wanted. */
CP_ERROR cp_rows_build(const struct cp_profile *p, const struct cp_export_options *o,
		       struct cp_rows *ret);
void cp_rows_deinit(struct cp_rows *rows);
#endif
