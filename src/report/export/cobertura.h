/* SPDX-License-Identifier: MIT
 *
 * Cobertura's XML of coverage.
 */
#ifndef CP_REPORT_COBERTURA_H
#define CP_REPORT_COBERTURA_H

#include "base/error.h"
#include "report/coverage/coverage.h"
#include "report/look/sink.h"

CP_ERROR cp_coverage_cobertura(const struct cp_coverage *c, struct cp_sink *sink);

#endif
