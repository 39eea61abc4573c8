/* SPDX-License-Identifier: MIT
 *
 * The graph of calls as a flowchart of Mermaid, which GitHub and GitLab draw in Markdown.
 */
#ifndef CP_REPORT_MERMAID_H
#define CP_REPORT_MERMAID_H

#include "base/error.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

CP_ERROR cp_export_mermaid(const struct cp_profile *p, const struct cp_export_options *o,
			   struct cp_sink *sink);

#endif
