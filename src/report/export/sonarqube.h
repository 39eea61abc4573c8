/* SPDX-License-Identifier: MIT
 *
 * SonarQube's generic XML of coverage.
 */
#ifndef CP_REPORT_SONARQUBE_H
#define CP_REPORT_SONARQUBE_H

#include "base/error.h"
#include "report/coverage/coverage.h"
#include "report/look/sink.h"

CP_ERROR cp_coverage_sonarqube(const struct cp_coverage *c, struct cp_sink *sink);

#endif
