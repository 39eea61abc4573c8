/* SPDX-License-Identifier: MIT
 *
 * Callgrind's format: cost of functions, lines, calls.
 */
#ifndef CP_REPORT_CALLGRIND_H
#define CP_REPORT_CALLGRIND_H

#include "base/error.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

CP_ERROR cp_export_callgrind(const struct cp_profile *p, const struct cp_export_options *o,
			     struct cp_sink *sink);

#endif
