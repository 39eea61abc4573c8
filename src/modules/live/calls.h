/* SPDX-License-Identifier: MIT */
#ifndef CP_MODULES_LIVE_CALLS_H
#define CP_MODULES_LIVE_CALLS_H

#include "modules/live/collector.h"

/* Asks for the calls that are wanted; false: it can't be, which was said. */
bool collector_calls_start(cprof_profiler *p);
/* The thread has ended. */
void collector_calls_forget(cprof_profiler *p, cprof_thread *t);
void collector_calls_free(cprof_profiler *p);

#endif
