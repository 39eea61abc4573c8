/* SPDX-License-Identifier: MIT
 *
 * The recording's beginning and end: what it is of, names, totals, counters.
 */
#ifndef CP_MODULES_LOG_WRITING_H
#define CP_MODULES_LOG_WRITING_H

#include "modules/log/recorder.h"

/* CP_RECORD_HAS_* of what is on. */
uint32_t cp_recorder_holds(const cprof_profiler *log);
/* Opens the recording, once; that it can't is the profiler's failure. */
void cp_recorder_begin(cprof_profiler *log, uint64_t start_ns);
/* Opens another one in the file log->fd. */
CP_ERROR cp_recorder_open_writer(cprof_profiler *log, uint64_t start_ns);
/* Writes what there is in sum until now, less what earlier recordings have. */
void cp_recorder_write_totals(cprof_profiler *log);
/* Writes what there is to write at the end; the writer is still to be destroyed. */
void cp_recorder_finish(cprof_profiler *log);
/* All that there is in sum until now; of the session, whatever was rotated. */
struct cp_record_totals cp_recorder_totals(const cprof_profiler *log);

#endif
