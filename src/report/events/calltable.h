/* SPDX-License-Identifier: MIT
 *
 * The traced calls of a recording as tables and as JSON.
 */
#ifndef CP_REPORT_CALLTABLE_H
#define CP_REPORT_CALLTABLE_H

#include "base/json.h"
#include "report/events/calls.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* Why a function was no longer traced, of its `rate` (CP_RECORD_DISARMED). */
void cp_add_disarmed(struct cp_buf *out, uint64_t rate);

/* Callers and callees of a function, if it was called. */
void cp_report_call_neighbours(const struct cp_calls *c, uint32_t function,
			       const struct cp_report_options *o, const struct cp_look *look,
			       struct cp_buf *out);
/* ---- of a recording that has any ---- */

CP_ERROR cp_report_calls(const struct cp_profile *p, const struct cp_report_options *o,
			 const struct cp_look *look, struct cp_buf *out);
/* The key "calls". */
CP_ERROR cp_report_calls_json(const struct cp_profile *p, const struct cp_report_options *o,
			      struct cp_json *j);

#endif
