/* SPDX-License-Identifier: MIT
 *
 * Who called a function where that was code that is not traced: the program's
 * start, a new thread, the kernel for a signal, a callback's caller.
 */
#ifndef CP_REPORT_INVOKER_H
#define CP_REPORT_INVOKER_H

#include "base/json.h"
#include "record/calls.h"
#include "report/profile/profile.h"

/* Appends who called at an ENTER, raw: "start", "thread", "signal SIGUSR1", "callback from
 * qsort"; nothing where a traced function called, or the recording does not say. */
void cp_invoker_name(const struct cp_profile *p, const struct cp_record_call *call,
		     struct cp_buf *out);
/* The key "invoked_by", and "signal" or "caller" and "caller_image". */
void cp_invoker_json(const struct cp_profile *p, const struct cp_record_call *call,
		     struct cp_json *j);

#endif
