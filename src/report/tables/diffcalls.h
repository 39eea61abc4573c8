/* SPDX-License-Identifier: MIT
 *
 * The traced calls of two recordings compared.
 */
#ifndef CP_REPORT_DIFFCALLS_H
#define CP_REPORT_DIFFCALLS_H

#include "base/json.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

CP_ERROR cp_diff_calls_text(const struct cp_profile *old, const struct cp_profile *new,
			    uint64_t limit, const struct cp_look *look, struct cp_buf *out);
CP_ERROR cp_diff_calls_json(const struct cp_profile *old, const struct cp_profile *new,
			    uint64_t limit, struct cp_json *j);

#endif
