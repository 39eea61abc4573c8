/* SPDX-License-Identifier: MIT */
#ifndef CP_MODULES_LIVE_HEAP_H
#define CP_MODULES_LIVE_HEAP_H

#include "modules/live/collector.h"

/* Asks for allocations; false: they can't be watched, which was said. */
bool collector_heap_start(cprof_profiler *p);

#endif
