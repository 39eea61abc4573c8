/* SPDX-License-Identifier: MIT
 *
 * What happened to the recording itself, as instants among the annotations.
 */
#ifndef CP_MODULES_LOG_MARKS_H
#define CP_MODULES_LOG_MARKS_H

#include "modules/log/recorder.h"

/* Writes down that `text` happened now, in the session's first process. False: the
 * recording has not begun. */
bool cp_recorder_mark(cprof_profiler *log, const char *text, const char *category);

#endif
