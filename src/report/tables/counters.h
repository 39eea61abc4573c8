/* SPDX-License-Identifier: MIT
 *
 * What profilers counted.
 */
#ifndef CP_REPORT_COUNTERS_H
#define CP_REPORT_COUNTERS_H

#include "base/buf.h"
#include "base/error.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* The counters of a recording that has any. */
CP_ERROR cp_report_counters(const struct cp_profile *p, const struct cp_report_options *o,
			    const struct cp_look *look, struct cp_buf *out);

#endif
