/* SPDX-License-Identifier: MIT
 *
 * The recording's file, descriptor or command.
 */
#ifndef CP_MODULES_LOG_OUTPUT_H
#define CP_MODULES_LOG_OUTPUT_H

#include "base/error.h"
#include "modules/log/recorder.h"

/* In init: opens the recording unless its name needs the process. */
CP_ERROR cp_recorder_open_early(cprof_profiler *log);
/* At the first event: opens it, if it is not open yet. */
CP_ERROR cp_recorder_open_late(cprof_profiler *log);
/* Opens that file, which log->path names from then on. */
CP_ERROR cp_recorder_open_file(cprof_profiler *log, const char *path);
/* After all was written. */
void cp_recorder_close(cprof_profiler *log);

#endif
