/* SPDX-License-Identifier: MIT
 *
 * What of a recording is missing or doubtful.
 */
#ifndef CP_REPORT_MISSING_H
#define CP_REPORT_MISSING_H

#include "base/buf.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

/* A line for each thing that is missing or doubtful; nothing when all is well. */
void cp_report_missing(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out);
/* Of these lines those about calls and annotations. */
void cp_report_missing_calls(const struct cp_profile *p, const struct cp_look *look,
			     struct cp_buf *out);

#endif
