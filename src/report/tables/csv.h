/* SPDX-License-Identifier: MIT
 *
 * `cprof report --csv`: a table as comma-separated values. Times are in nanoseconds.
 * Titles are a contract: new ones may come at the end, none goes.
 */
#ifndef CP_REPORT_TABLES_CSV_H
#define CP_REPORT_TABLES_CSV_H

#include "base/buf.h"
#include "base/error.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* The section that is asked for; calls or functions where that is none. An error where
 * it has no such form. */
CP_ERROR cp_report_csv(const struct cp_profile *p, const struct cp_report_options *o,
		       struct cp_buf *out);

/* ---- for the table of sections ---- */

CP_ERROR cp_report_functions_csv(const struct cp_profile *p, const struct cp_report_options *o,
				 struct cp_buf *out);
CP_ERROR cp_report_tree_csv(const struct cp_profile *p, const struct cp_report_options *o,
			    struct cp_buf *out);

#endif
