/* SPDX-License-Identifier: MIT
 *
 * `cprof report --json`. Keys are a contract: new ones may come, none goes.
 */
#ifndef CP_REPORT_JSON_H
#define CP_REPORT_JSON_H

#include "base/buf.h"
#include "base/error.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* One object with the keys of the contract; `limit` counts for functions. */
CP_ERROR cp_report_json(const struct cp_profile *p, const struct cp_report_options *o,
			struct cp_buf *out);

#endif
