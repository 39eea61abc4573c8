/* SPDX-License-Identifier: MIT
 *
 * Every family of events that the recorder writes, one line each. Its file defines it:
 * `const struct cp_recorder_family cp_recorder_NAME`.
 *
 * The order is that in which log:help tells their options, and in which they are
 * started, told of a thread's exit and ended.
 */
#ifndef CP_MODULES_LOG_FAMILIES_H
#define CP_MODULES_LOG_FAMILIES_H

#include "modules/log/recorder.h"

#define CP_RECORDER_FAMILIES(X) \
	X(samples) \
	X(calls) \
	X(exceptions) \
	X(coverage) \
	X(locks) \
	X(heap) \
	X(maps) \
	X(annotations) \
	X(lives)

#define CP_RECORDER_DECLARE(name) extern const struct cp_recorder_family cp_recorder_##name;
CP_RECORDER_FAMILIES(CP_RECORDER_DECLARE)
#undef CP_RECORDER_DECLARE

/* Ends with NULL. */
extern const struct cp_recorder_family *const cp_recorder_families[];

/* The SPECs whose calls are recorded, as one; "": none are. */
const char *cp_recorder_calls_traced(const cprof_profiler *log);
/* Events of calls until now. */
uint64_t cp_recorder_calls_count(const cprof_profiler *log);

#endif
