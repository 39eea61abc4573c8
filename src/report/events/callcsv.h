/* SPDX-License-Identifier: MIT
 *
 * The functions that were called, as comma-separated values.
 */
#ifndef CP_REPORT_CALLCSV_H
#define CP_REPORT_CALLCSV_H

#include "base/buf.h"
#include "base/error.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

CP_ERROR cp_report_calls_csv(const struct cp_profile *p, const struct cp_report_options *o,
			     struct cp_buf *out);

#endif
