/* SPDX-License-Identifier: MIT
 *
 * One self-contained page of a profile: its flame graph and tables.
 */
#ifndef CP_REPORT_HTML_H
#define CP_REPORT_HTML_H

#include "base/error.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

CP_ERROR cp_export_html(const struct cp_profile *p, const struct cp_export_options *o,
			struct cp_sink *sink);

#endif
