/* SPDX-License-Identifier: MIT
 *
 * Trace events on a time line.
 */
#ifndef CP_REPORT_CHROME_H
#define CP_REPORT_CHROME_H

#include "base/error.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

CP_ERROR cp_export_chrome(const struct cp_profile *p, const struct cp_export_options *o,
			  struct cp_sink *sink);

#endif
