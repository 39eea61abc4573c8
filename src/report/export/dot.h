/* SPDX-License-Identifier: MIT
 *
 * The graph of calls in Graphviz's language.
 */
#ifndef CP_REPORT_DOT_H
#define CP_REPORT_DOT_H

#include "base/error.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

CP_ERROR cp_export_dot(const struct cp_profile *p, const struct cp_export_options *o,
		       struct cp_sink *sink);

#endif
