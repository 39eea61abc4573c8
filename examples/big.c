/* big: who allocates much at once, with the stack.
 *   cprof run --profile=big:1000000 -- ./program */
#include <cprof/cprof.h>
#include <stdlib.h>

static cprof_profiler_handle big;
static uint64_t least;

static cprof_walk frame(const cprof_function *f, cprof_addr ip, const cprof_frame_info *info,
			size_t size, const cprof_context *context, void *data)
{
	const char *name = cprof_frame_info_name(info);

	cprof_profiler_printf(big, "  %s", name ? name : "?");
	return CPROF_WALK_CONTINUE;
}

static void allocated(cprof_profiler *p, const cprof_object *object)
{
	if (object->size < least)
		return;
	cprof_profiler_printf(big, "%llu bytes:", (unsigned long long)object->size);
	cprof_do_stack_snapshot(cprof_current_thread(), frame, CPROF_SNAPSHOT_INLINES, NULL, NULL, 0);
}

CPROF_PROFILER_INIT(big)
{
	least = strtoull(cprof_profiler_desc_args(desc), NULL, 0);
	big = cprof_profiler_create(NULL);
	cprof_profiler_enable_allocations();
	cprof_profiler_set_gc_allocation_callback(big, allocated);
}
