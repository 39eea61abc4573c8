/* SPDX-License-Identifier: MIT
 *
 * What a profiler is told of the heap: counts, and that pairs are pairs. heapprobe
 * alone does not ask for it; heapprobe:on does.
 */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t allocated, bytes, moves, resized, freed, wrong, frames;

static cprof_walk count_frame(const cprof_function *function, cprof_addr ip,
			      const cprof_frame_info *frame, size_t size,
			      const cprof_context *context, void *data)
{
	(void)function;
	(void)ip;
	(void)frame;
	(void)size;
	(void)context;
	(void)data;
	frames++;
	return CPROF_WALK_CONTINUE;
}

static void look(cprof_addr address)
{
	cprof_allocation a;
	uint64_t before = frames;

	wrong += !cprof_current_allocation(&a) || a.address != address || !a.function;
	wrong += cprof_do_stack_snapshot(cprof_current_thread(), count_frame,
					 CPROF_SNAPSHOT_ALL_FRAMES, NULL, NULL, 0) != CPROF_OK ||
		 frames < before + 2;
}

static void on_allocation(cprof_profiler *prof, const cprof_object *object)
{
	(void)prof;
	allocated++;
	bytes += object->size;
	look(object->address);
}

static void on_moves(cprof_profiler *prof, const cprof_addr *objects, uint64_t count)
{
	cprof_allocation a;

	(void)prof;
	moves++;
	wrong += count != 2 || objects[0] == objects[1];
	wrong += !cprof_current_allocation(&a) || a.previous != objects[0];
	look(objects[1]);
}

static void on_resized(cprof_profiler *prof, const cprof_object *object)
{
	(void)prof;
	resized++;
	look(object->address);
}

static void on_free(cprof_profiler *prof, const cprof_object *object)
{
	(void)prof;
	freed++;
	look(object->address);
}

static void cleanup(cprof_profiler *prof)
{
	cprof_allocation a;

	(void)prof;
	wrong += cprof_current_allocation(&a); /* not outside of the events */
	printf("allocated %" PRIu64 " bytes %" PRIu64 " moves %" PRIu64 " resized %" PRIu64
	       " freed %" PRIu64 " wrong %" PRIu64 "\n",
	       allocated, bytes, moves, resized, freed, wrong);
}

static void on_start(cprof_profiler *prof)
{
	(void)prof;
	wrong += cprof_profiler_enable_allocations(); /* too late */
}

CPROF_PROFILER_INIT(heapprobe)
{
	cprof_profiler_handle handle = cprof_profiler_create(NULL);

	if (!strcmp(cprof_profiler_desc_args(desc), "on"))
		wrong += !cprof_profiler_enable_allocations();
	cprof_profiler_set_cleanup_callback(handle, cleanup);
	cprof_profiler_set_runtime_initialized_callback(handle, on_start);
	cprof_profiler_set_gc_allocation_callback(handle, on_allocation);
	cprof_profiler_set_gc_moves_callback(handle, on_moves);
	cprof_profiler_set_heap_resized_callback(handle, on_resized);
	cprof_profiler_set_heap_free_callback(handle, on_free);
}
