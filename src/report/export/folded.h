/* SPDX-License-Identifier: MIT
 *
 * A line a stack, as FlameGraph's scripts read it.
 */
#ifndef CP_REPORT_FOLDED_H
#define CP_REPORT_FOLDED_H

#include "base/error.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

CP_ERROR cp_export_folded(const struct cp_profile *p, const struct cp_export_options *o,
			  struct cp_sink *sink);

#endif
