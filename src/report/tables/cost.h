/* SPDX-License-Identifier: MIT
 *
 * What profiling cost.
 */
#ifndef CP_REPORT_COST_H
#define CP_REPORT_COST_H

#include "base/buf.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

void cp_report_overhead(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out);

#endif
