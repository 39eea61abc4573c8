/* SPDX-License-Identifier: MIT
 *
 * log:callspec=, as Mono has it.
 */
#ifndef CP_MODULES_LOG_CALLSPEC_H
#define CP_MODULES_LOG_CALLSPEC_H

#include "modules/log/recorder.h"

/* Appends a SPEC of cprof's that means the same. False: there is none, or no memory; what
 * there is to say of it was said. */
bool cp_recorder_callspec(cprof_profiler *log, const char *value, struct cp_buf *out);

#endif
