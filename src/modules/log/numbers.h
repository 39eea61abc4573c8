/* SPDX-License-Identifier: MIT
 *
 * Processes, threads, files and functions by the numbers that they have in the
 * recording: the first question writes them down.
 */
#ifndef CP_MODULES_LOG_NUMBERS_H
#define CP_MODULES_LOG_NUMBERS_H

#include "modules/log/recorder.h"

uint32_t cp_recorder_process(cprof_profiler *log, cprof_process *p);
/* A known process runs another program now: the last name and file count. */
void cp_recorder_process_again(cprof_profiler *log, cprof_process *p);
/* Number of the thread | stack of its last sample (CP_RECORD_NONE: none) << 32; NULL
 * without memory. */
uint64_t *cp_recorder_thread(cprof_profiler *log, cprof_thread *t);
/* A known thread has another name now. */
void cp_recorder_thread_again(cprof_profiler *log, cprof_thread *t);
uint32_t cp_recorder_assembly(cprof_profiler *log, const cprof_assembly *assembly);
/* Of no image: CP_RECORD_NONE. */
uint32_t cp_recorder_image(cprof_profiler *log, const cprof_image *image);
/* The location of the function's entry. */
uint32_t cp_recorder_function(cprof_profiler *log, const cprof_function *f);
/* An event of the current thread, at the time of `call`, without a function. False:
 * nothing can be recorded. */
bool cp_recorder_event(cprof_profiler *log, const cprof_call *call, enum cp_record_call_kind kind,
		       struct cp_record_call *ret);

#endif
