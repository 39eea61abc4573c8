/* SPDX-License-Identifier: MIT
 *
 * Speedscope's format.
 */
#ifndef CP_REPORT_SPEEDSCOPE_H
#define CP_REPORT_SPEEDSCOPE_H

#include "base/error.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

CP_ERROR cp_export_speedscope(const struct cp_profile *p, const struct cp_export_options *o,
			      struct cp_sink *sink);

#endif
