/* SPDX-License-Identifier: MIT
 *
 * What a report says of what did not happen, and of what to look at next.
 */
#ifndef CP_REPORT_NOTHING_H
#define CP_REPORT_NOTHING_H

#include "base/buf.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

/* A line for each kind of events that was asked for and did not happen, with what to try. */
void cp_report_nothing(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out);
/* Why there are no costs: nothing was recorded that has some, or nothing passes the filter. */
void cp_report_no_costs(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out);
/* The commands to type next: those that have something to show. */
void cp_report_next(const struct cp_profile *p, const char *path, const struct cp_look *look,
		    struct cp_buf *out);
/* The commands that show the lines and instructions of these functions. */
void cp_report_next_listings(const struct cp_profile *p, const char *path,
			     const uint32_t *functions, size_t count, const struct cp_look *look,
			     struct cp_buf *out);

#endif
