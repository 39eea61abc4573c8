/* SPDX-License-Identifier: MIT
 *
 * What was allocated, and what of it was left, as a table and as JSON.
 */
#ifndef CP_REPORT_EVENTS_HEAP_H
#define CP_REPORT_EVENTS_HEAP_H

#include "base/json.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* Allocations of a recording that holds any, or was to. */

bool cp_report_holds_heap(const struct cp_profile *p);
/* A table by who asked for it, and stacks of what is left, the most first; or that
 * nothing was allocated. */
CP_ERROR cp_report_heap(const struct cp_profile *p, const struct cp_report_options *o,
			const struct cp_look *look, struct cp_buf *out);
/* The key "allocations". */
CP_ERROR cp_report_heap_json(const struct cp_profile *p, const struct cp_report_options *o,
			     struct cp_json *j);

#endif
