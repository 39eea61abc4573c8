/* SPDX-License-Identifier: MIT
 *
 * What was live at the heapshots of a recording, and what was new since an earlier one.
 */
#ifndef CP_REPORT_EVENTS_HEAPSHOTS_H
#define CP_REPORT_EVENTS_HEAPSHOTS_H

#include "base/json.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* What o->heapshots asks for, which is not nothing. An error where there is none of that
 * number, or nobody knows what was live. */
CP_ERROR cp_report_heapshots(const struct cp_profile *p, const struct cp_report_options *o,
			     const struct cp_look *look, struct cp_buf *out);
/* The key "heapshots", and "heapshot" where one is asked for; nothing of a recording
 * without any. */
CP_ERROR cp_report_heapshots_json(const struct cp_profile *p, const struct cp_report_options *o,
				  struct cp_json *j);

/* The table as comma-separated values. */
CP_ERROR cp_report_heapshots_csv(const struct cp_profile *p, const struct cp_report_options *o,
				 struct cp_buf *out);

#endif
