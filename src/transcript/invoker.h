/* SPDX-License-Identifier: MIT
 *
 * Who made a call that no traced function makes: the program's start, a new thread,
 * the kernel for a signal, a callback's caller.
 */
#ifndef CP_TRANSCRIPT_INVOKER_H
#define CP_TRANSCRIPT_INVOKER_H

#include <cprof/calls.h>

#include "base/buf.h"
#include "base/json.h"

/* Texts are raw and borrowed; NULL: not known. */
struct cp_invoker {
	unsigned by; /* enum cprof_invoker */
	unsigned signal; /* of CPROF_INVOKER_SIGNAL */
	const char *caller, *image; /* of CPROF_INVOKER_CODE: the function, or only its file */
};

/* "start", "thread", "signal SIGUSR1", "callback from qsort"; raw. Nothing for a traced
 * function. */
void cp_invoker_text(const struct cp_invoker *by, struct cp_buf *out);
/* The key "invoked_by", and "signal" or "caller" and "caller_image". */
void cp_invoker_members(const struct cp_invoker *by, struct cp_json *j);

#endif
