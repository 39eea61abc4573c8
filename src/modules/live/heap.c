/* SPDX-License-Identifier: MIT
 *
 * Allocations, by who makes them.
 */
#include "modules/live/heap.h"

#include <math.h>

/* How many blocks one stands for: itself, or all that a sample was taken of. */
static double stands_for(uint64_t size)
{
	cprof_allocation_statistics a;
	double chance = 1;

	cprof_get_allocation_statistics(&a);
	if (a.every)
		chance = -expm1(-(double)size / (double)a.every);
	return chance > 0 ? 1 / chance : 1;
}

static void on_allocation(cprof_profiler *p, const cprof_object *object)
{
	cprof_allocation a;
	cprof_call call;
	double times;

	(void)object;
	if (!cprof_current_allocation(&a) || !cprof_current_call(&call))
		return;
	times = stands_for(a.size);
	collector_stack(p,
			&(struct collected){ .kind = CP_LIVE_BYTES,
					     .ts_ns = call.timestamp_ns,
					     .events = (uint64_t)(times + 0.5),
					     .weight = (uint64_t)((double)a.size * times + 0.5) });
}

bool collector_heap_start(cprof_profiler *p)
{
	uint64_t every = p->wants.every;

	if (!(every ? cprof_profiler_sample_allocations(every)
		    : cprof_profiler_enable_allocations())) {
		cprof_profiler_fail(p->handle, "allocations cannot be watched here");
		return false;
	}
	cprof_profiler_set_gc_allocation_callback(p->handle, on_allocation);
	return true;
}
