/* SPDX-License-Identifier: MIT
 *
 * The annotations of a recording that has any, as tables and as JSON.
 */
#ifndef CP_REPORT_ANNOTATIONTABLE_H
#define CP_REPORT_ANNOTATIONTABLE_H

#include "base/json.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* A table for each kind; in the summary a line of the spans that took most. */
CP_ERROR cp_report_annotations(const struct cp_profile *p, const struct cp_report_options *o,
			       const struct cp_look *look, struct cp_buf *out);
/* The key "annotations". */
CP_ERROR cp_report_annotations_json(const struct cp_profile *p, const struct cp_report_options *o,
				    struct cp_json *j);

#endif
