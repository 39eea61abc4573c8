/* SPDX-License-Identifier: MIT
 *
 * Allocations that are told in blocks. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_HEAP_RUNS_H
#define CP_ENGINE_FAMILIES_HEAP_RUNS_H

#include <cprof/cprof.h>

struct engine_reach;
struct engine_ring;

/* The ring's next record, which was looked at, and those behind it, up to the first that goes
 * the way of hits; told when this returns. How many they were. */
size_t engine_heap_run(cprof_session *s, struct engine_ring *ring,
		       const struct engine_reach *reach);

#endif
