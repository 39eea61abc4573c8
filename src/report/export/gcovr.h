/* SPDX-License-Identifier: MIT
 *
 * gcovr's format of coverage, which `gcovr -a` reads.
 */
#ifndef CP_REPORT_GCOVR_H
#define CP_REPORT_GCOVR_H

#include "base/error.h"
#include "report/coverage/coverage.h"
#include "report/look/sink.h"

CP_ERROR cp_coverage_gcovr(const struct cp_coverage *c, struct cp_sink *sink);

#endif
