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

/* The same of something of cprof's own that was done to what `of` names: "traced: a,b". */
void cp_recorder_mark_of(cprof_profiler *log, const char *what, const char *of);

/* Writes down that what is live at `ts_ns` is wanted, the `number`th time in this recording.
 * `thread`: its number in the recording that the mark goes to where no other one is there
 * any more, or CP_RECORD_NONE. False: there is none, or the recording has not begun. */
bool cp_recorder_mark_heapshot(cprof_profiler *log, uint64_t ts_ns, unsigned number,
			       uint32_t thread);

#endif
