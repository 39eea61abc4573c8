/* SPDX-License-Identifier: MIT
 *
 * A tracefile of coverage, for lcov, genhtml, Codecov, Coveralls.
 */
#ifndef CP_REPORT_LCOV_H
#define CP_REPORT_LCOV_H

#include "base/error.h"
#include "report/coverage/coverage.h"
#include "report/look/sink.h"

CP_ERROR cp_coverage_lcov(const struct cp_coverage *c, struct cp_sink *sink);

#endif
