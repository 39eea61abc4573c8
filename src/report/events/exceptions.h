/* SPDX-License-Identifier: MIT
 *
 * Exceptions of a recording.
 */
#ifndef CP_REPORT_EXCEPTIONS_H
#define CP_REPORT_EXCEPTIONS_H

#include "base/json.h"
#include "record/calls.h"
#include "report/look/table.h"
#include "report/profile/options.h"
#include "report/profile/profile.h"

/* The values of a throw or a catch, as the walk through calls tells it (profile/spans.h): its
 * type, "" unknown; and
 * where it was thrown: the file, NULL unknown. */
const char *cp_exception_type(const struct cp_record_call *call);
uint64_t cp_exception_address(const struct cp_record_call *call);
const char *cp_exception_file(const struct cp_profile *p, const struct cp_record_call *call,
			      uint32_t *line_ret);

/* "function, file:line", for a terminal. */
void cp_exception_place(const struct cp_profile *p, const struct cp_record_call *call,
			uint32_t function, struct cp_buf *out);

/* Is the exception one that was caught, and that its handler throws again? */
bool cp_exception_is_rethrown(const struct cp_record_call *call);

/* "throw TYPE", "rethrow TYPE" or "catch TYPE". */
const char *cp_exception_verb(const struct cp_record_call *call); /* and a blank */
void cp_exception_name(const struct cp_record_call *call, struct cp_buf *out);

/* ---- of a recording that holds any, or was to ---- */

bool cp_report_holds_exceptions(const struct cp_profile *p);
/* A table of them by type, where they were thrown and where caught. */
CP_ERROR cp_report_exceptions(const struct cp_profile *p, const struct cp_report_options *o,
			      const struct cp_look *look, struct cp_buf *out);
/* The key "exceptions". */
CP_ERROR cp_report_exceptions_json(const struct cp_profile *p, const struct cp_report_options *o,
				   struct cp_json *j);

/* The table as comma-separated values. */
CP_ERROR cp_report_exceptions_csv(const struct cp_profile *p, const struct cp_report_options *o,
				  struct cp_buf *out);

#endif
