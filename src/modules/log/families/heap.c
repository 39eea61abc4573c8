/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for what is allocated: log:allocs. With the stack of each
 * allocation; of what is freed only who does it, unless stacks are asked for.
 */
#include <string.h>

#include "base/text.h"
#include "modules/log/disarmed.h"
#include "modules/log/families.h"
#include "modules/log/numbers.h"
#include "modules/log/stack.h"

struct heap {
	uint64_t every; /* bytes; 0: all of them */
};

static cprof_value bytes(uint64_t size)
{
	return (cprof_value){ .kind = CPROF_VALUE_UINT,
			      .size = sizeof(size),
			      .name = "size",
			      .type = "size_t",
			      .u.u = size };
}

static cprof_value pointer(const char *name, cprof_addr address)
{
	return (cprof_value){ .kind = CPROF_VALUE_POINTER,
			      .size = sizeof(address),
			      .name = name,
			      .type = "void *",
			      .u.u = address };
}

/* False: nothing can be recorded. */
static bool begin(cprof_profiler *log, enum cp_record_call_kind kind, struct cp_record_call *r)
{
	cprof_call call;

	return cprof_current_call(&call) && cp_recorder_event(log, &call, kind, r);
}

static void record(cprof_profiler *log, enum cp_record_call_kind kind)
{
	cprof_value values[3];
	struct cp_record_call r;
	cprof_allocation a;

	if (!cprof_current_allocation(&a) || !begin(log, kind, &r))
		return;
	r.values = values;
	if (kind != CP_RECORD_FREED)
		values[r.value_count++] = bytes(a.size);
	values[r.value_count++] = pointer("address", a.address);
	if (kind == CP_RECORD_MOVED) {
		values[r.value_count++] = pointer("previous", a.previous ? a.previous : a.address);
		r.duration_ns = r.ts_ns > a.begin_ns ? r.ts_ns - a.begin_ns : 0;
	}
	r.function =
		cp_recorder_taker(log, kind != CP_RECORD_FREED || log->stacks ? &r.stack : NULL);
	cp_record_call(log->writer, &r);
}

static void on_allocation(cprof_profiler *log, const cprof_object *object)
{
	(void)object;
	record(log, CP_RECORD_ALLOCATED);
}

static void on_moves(cprof_profiler *log, const cprof_addr *objects, uint64_t count)
{
	(void)objects;
	(void)count;
	record(log, CP_RECORD_MOVED);
}

static void on_resized(cprof_profiler *log, const cprof_object *object)
{
	(void)object;
	record(log, CP_RECORD_MOVED);
}

static void on_free(cprof_profiler *log, const cprof_object *object)
{
	(void)object;
	record(log, CP_RECORD_FREED);
}

static void on_resize(cprof_profiler *log, uint64_t size)
{
	const cprof_value value = bytes(size);
	struct cp_record_call r;

	if (!begin(log, CP_RECORD_HEAP_SIZE, &r))
		return;
	r.values = &value;
	r.value_count = 1;
	r.function = cp_recorder_taker(log, NULL);
	cp_record_call(log->writer, &r);
}

/* Without a value it is the family's option. */
static bool take(cprof_profiler *log, const char *key, const char *value)
{
	struct heap *heap = cp_recorder_state(log, &cp_recorder_heap);

	if (strcmp(key, "allocs") != 0 || !value || !cp_parse_bytes(value, &heap->every) ||
	    !heap->every)
		return false;
	cp_recorder_turn_on(log, &cp_recorder_heap);
	return true;
}

static void start(cprof_profiler *log)
{
	const struct heap *heap = cp_recorder_state(log, &cp_recorder_heap);

	if (!(heap->every ? cprof_profiler_sample_allocations(heap->every)
			  : cprof_profiler_enable_allocations()))
		cprof_profiler_fail(log->handle, "allocations cannot be watched here");
	cprof_profiler_set_gc_allocation_callback(log->handle, on_allocation);
	cprof_profiler_set_gc_moves_callback(log->handle, on_moves);
	cprof_profiler_set_heap_resized_callback(log->handle, on_resized);
	cprof_profiler_set_heap_free_callback(log->handle, on_free);
	cprof_profiler_set_gc_resize_callback(log->handle, on_resize);
	cp_recorder_watch_disarmed(log);
}

static void totals(const cprof_profiler *log, struct cp_record_totals *t)
{
	cprof_allocation_statistics a;

	(void)log;
	cprof_get_allocation_statistics(&a);
	t->alloc_pauses = a.pauses;
	t->alloc_paused_ns = a.paused_ns;
	t->alloc_watched_ns = a.watched_ns;
	t->alloc_every = a.every;
	t->alloc_passed = a.passed;
}

const struct cp_recorder_family cp_recorder_heap = {
	.option = "allocs",
	.mono = (const char *const[]){ "alloc", "move", "gcalloc", "gcmove", NULL },
	.help = "  allocs[=BYTES]     what is allocated and freed, or a sample of it\n",
	.holds = CP_RECORD_HAS_ALLOCATIONS,
	.state_size = sizeof(struct heap),
	.take = take,
	.start = start,
	.totals = totals,
};
