/* SPDX-License-Identifier: MIT
 *
 * The lines above all tables: what was recorded.
 */
#ifndef CP_REPORT_HEADER_H
#define CP_REPORT_HEADER_H

#include "base/buf.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

void cp_report_header(const struct cp_profile *p, const struct cp_look *look, struct cp_buf *out);

#endif
