/* SPDX-License-Identifier: MIT
 *
 * One self-contained SVG of stacks.
 */
#ifndef CP_REPORT_FLAMEGRAPH_H
#define CP_REPORT_FLAMEGRAPH_H

#include "base/error.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

CP_ERROR cp_export_flamegraph(const struct cp_profile *p, const struct cp_export_options *o,
			      struct cp_sink *sink);

#endif
