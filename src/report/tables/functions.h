/* SPDX-License-Identifier: MIT
 *
 * The functions that samples were taken in.
 */
#ifndef CP_REPORT_FUNCTIONS_H
#define CP_REPORT_FUNCTIONS_H

#include "base/buf.h"
#include "base/error.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* In the overview and the summary those that did something themselves, and none where
 * costs are of traced calls, which have a section of their own. */
CP_ERROR cp_report_functions(const struct cp_profile *p, const struct cp_report_options *o,
			     const struct cp_look *look, struct cp_buf *out);

#endif
