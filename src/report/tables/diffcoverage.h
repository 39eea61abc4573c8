/* SPDX-License-Identifier: MIT
 *
 * The coverage of two recordings compared, which both have some.
 */
#ifndef CP_REPORT_DIFFCOVERAGE_H
#define CP_REPORT_DIFFCOVERAGE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "record/record.h"
#include "report/look/table.h"

CP_ERROR cp_diff_coverage_text(const struct cp_record *old, const struct cp_record *new,
			       uint64_t limit, const struct cp_look *look, struct cp_buf *out);
CP_ERROR cp_diff_coverage_json(const struct cp_record *old, const struct cp_record *new,
			       struct cp_json *j);

#endif
