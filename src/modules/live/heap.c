/* SPDX-License-Identifier: MIT
 *
 * Allocations, by who makes them.
 */
#include "modules/live/heap.h"

#include <math.h>

/* What an event stands for: itself, or all that a sample was taken of. */
static struct weight weight_of(uint64_t size)
{
	cprof_allocation_statistics a;
	double chance = 1;

	cprof_get_allocation_statistics(&a);
	if (a.every)
		chance = -expm1(-(double)size / (double)a.every);
	if (chance <= 0)
		return (struct weight){ .events = 1, .weight = size };
	return (struct weight){ .events = (uint64_t)(1 / chance + 0.5),
				.weight = (uint64_t)((double)size / chance + 0.5) };
}

static void on_allocation(cprof_profiler *p, const cprof_object *object)
{
	struct weight weight;
	cprof_allocation a;
	cprof_call call;

	(void)object;
	if (!cprof_current_allocation(&a) || !cprof_current_call(&call))
		return;
	weight = weight_of(a.size);
	collector_stack(p, CP_LIVE_BYTES, call.timestamp_ns, 0, &weight);
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
