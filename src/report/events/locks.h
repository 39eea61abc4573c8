/* SPDX-License-Identifier: MIT
 *
 * Waits for locks of a recording.
 */
#ifndef CP_REPORT_LOCKS_H
#define CP_REPORT_LOCKS_H

#include "base/json.h"
#include "record/calls.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* The values of a wait, as the walk through calls tells it (profile/spans.h). */
uint64_t cp_wait_address(const struct cp_record_call *call);
int32_t cp_wait_owner(const struct cp_record_call *call); /* tid; 0: not known */
const char *cp_wait_end(const struct cp_record_call *call); /* "acquired", "timed_out", ... */
/* "VARIABLE", or "TYPE at 0xADDRESS". */
void cp_wait_name(const struct cp_record_call *call, struct cp_buf *out);

/* "7.16 ms for LOCK, held by THREAD, timed out", raw. */
void cp_wait_text(const struct cp_profile *p, const struct cp_record_call *call,
		  struct cp_buf *out);

/* ---- of a recording that holds any, or was to ---- */

bool cp_report_holds_locks(const struct cp_profile *p);
/* A table of them by lock and by who waited, or that there were none. */
CP_ERROR cp_report_locks(const struct cp_profile *p, const struct cp_report_options *o,
			 const struct cp_look *look, struct cp_buf *out);
/* The key "locks". */
CP_ERROR cp_report_locks_json(const struct cp_profile *p, const struct cp_report_options *o,
			      struct cp_json *j);

/* The table as comma-separated values. */
CP_ERROR cp_report_locks_csv(const struct cp_profile *p, const struct cp_report_options *o,
			     struct cp_buf *out);

#endif
