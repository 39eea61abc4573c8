/* SPDX-License-Identifier: MIT
 *
 * The stacks that functions were on top of.
 */
#ifndef CP_REPORT_TRACES_H
#define CP_REPORT_TRACES_H

#include "base/buf.h"
#include "base/error.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

CP_ERROR cp_report_traces(const struct cp_profile *p, const struct cp_report_options *o,
			  const struct cp_look *look, struct cp_buf *out);

#endif
