/* SPDX-License-Identifier: MIT
 *
 * Coverage for people: a row for each file, the worst first.
 */
#ifndef CP_REPORT_COVERAGE_TABLE_H
#define CP_REPORT_COVERAGE_TABLE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "record/record.h"
#include "report/coverage/coverage.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* The table on a terminal: worst files first, totals last. `limit` rows, 0: all. */
void cp_report_coverage(const struct cp_coverage *c, uint64_t limit, const struct cp_look *look,
			struct cp_buf *out);
/* ---- of a recording that has any ---- */

CP_ERROR cp_report_covered(const struct cp_profile *p, const struct cp_report_options *o,
			   const struct cp_look *look, struct cp_buf *out);
/* The key "coverage". */
CP_ERROR cp_report_covered_json(const struct cp_profile *p, const struct cp_report_options *o,
				struct cp_json *j);

#endif
