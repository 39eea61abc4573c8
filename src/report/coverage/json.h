/* SPDX-License-Identifier: MIT
 *
 * Coverage in `report --json`.
 */
#ifndef CP_REPORT_COVERAGE_JSON_H
#define CP_REPORT_COVERAGE_JSON_H

#include "base/json.h"
#include "report/coverage/coverage.h"

/* The object under "coverage" of `report --json`. */
void cp_report_coverage_json(const struct cp_coverage *c, struct cp_json *j);
/* Its keys "lines", "functions", ..., into an object that was begun. */
void cp_coverage_totals_json(const struct cp_coverage_totals *t, struct cp_json *j);

#endif
