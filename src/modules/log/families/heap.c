/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for what is allocated: log:allocs. With the stack of each
 * allocation; of what is freed only who does it, unless stacks are asked for.
 */
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "modules/log/disarmed.h"
#include "modules/log/families.h"
#include "modules/log/marks.h"
#include "modules/log/numbers.h"
#include "modules/log/stack.h"

struct heap {
	uint64_t every; /* bytes; 0: all of them */
	/* Heapshots: moments that are marked, for what is live then. */
	unsigned shots; /* in this recording */
	uint64_t each_ns, next_ns; /* 0: only when somebody says so; next: 0: not known yet */
	bool at_the_end;
	uint32_t last_thread; /* number in this recording of who allocated or freed last */
};

static struct heap *heap(const cprof_profiler *log)
{
	return cp_recorder_state(log, &cp_recorder_heap);
}

static void init(void *state)
{
	((struct heap *)state)->last_thread = CP_RECORD_NONE;
}

/* ---- heapshots ---- */

/* Marks the moment: what is live follows from all that was allocated and freed up to it. */
static bool take_shot(cprof_profiler *log, uint64_t ts_ns)
{
	struct heap *h = heap(log);

	if (!cp_recorder_mark_heapshot(log, ts_ns, h->shots + 1, h->last_thread))
		return false;
	h->shots++;
	return true;
}

/* As with collections, which allocations cause: the first of these that comes after so long. */
static void shoot_if_due(cprof_profiler *log, uint64_t ts_ns)
{
	struct heap *h = heap(log);

	if (!h->each_ns)
		return;
	if (!h->next_ns)
		h->next_ns = log->begin_ns + h->each_ns;
	if (ts_ns < h->next_ns)
		return;
	take_shot(log, ts_ns);
	h->next_ns = ts_ns + h->each_ns;
}

static bool on_command(cprof_profiler *log, const char *name, const char *argument)
{
	uint64_t now = cp_now();
	cprof_allocation_statistics a;

	(void)argument;
	if (strcmp(name, "heapshot") != 0)
		return false;
	cprof_get_allocation_statistics(&a);
	if (!cp_recorder_is_on(log, &cp_recorder_heap))
		cprof_command_refuse(log->handle,
				     "allocations are not recorded: that begins with --allocs");
	else if (a.pauses)
		cprof_command_refuse(log->handle,
				     "allocations are watched in pieces of the time, so what is "
				     "live is not known; --max-rate=0 watches all");
	else if (!take_shot(log, now))
		cprof_command_refuse(log->handle, "the recording has not begun");
	else
		cprof_command_answer(log->handle, "heapshot %u: cprof report --heapshot=%u",
				     heap(log)->shots, heap(log)->shots);
	return true;
}

/* The heapshots' options; *known_ret: it is one. */
static bool take_shots(cprof_profiler *log, const char *key, const char *value, bool *known_ret)
{
	struct heap *h = heap(log);

	*known_ret = true;
	if (!strcmp(key, "heapshot-on-shutdown") && !value) {
		h->at_the_end = true;
	} else if (strcmp(key, "heapshot") != 0) {
		*known_ret = false;
	} else if (!value || cp_ends_with(value, "gc")) {
		cprof_profiler_fail(log->handle,
				    "log: heapshot: there are no collections that it could "
				    "follow: heapshot=ondemand, or heapshot=1000ms");
		return false;
	} else if (strcmp(value, "ondemand") != 0 &&
		   (!cp_ends_with(value, "ms") || !cp_parse_duration(value, &h->each_ns) ||
		    !h->each_ns)) {
		return false;
	}
	if (*known_ret)
		cp_recorder_turn_on(log, &cp_recorder_heap);
	return *known_ret;
}

static void rotate(cprof_profiler *log)
{
	heap(log)->shots = 0;
	heap(log)->last_thread = CP_RECORD_NONE;
}

static void end(cprof_profiler *log)
{
	if (heap(log)->at_the_end)
		take_shot(log, cp_now());
}

/* ---- events ---- */

static cprof_value bytes(uint64_t size)
{
	return (cprof_value){ .kind = CPROF_VALUE_UINT,
			      .size = sizeof(size),
			      .name = "size",
			      .type = "size_t",
			      .u.u = size };
}

/* False: nothing can be recorded. */
static bool begin(cprof_profiler *log, enum cp_record_call_kind kind, struct cp_record_call *r)
{
	cprof_call call;

	return cprof_current_call(&call) && cp_recorder_event(log, &call, kind, r);
}

/* Behind what is held. */
static void put(cprof_profiler *log, const struct cp_record_heap *h)
{
	cprof_value values[CP_RECORD_HEAP_VALUES];
	struct cp_record_call r;

	if (cp_held_count(&log->held)) {
		r = cp_record_heap_call(h, values);
		cp_recorder_call(log, &r);
	} else {
		cp_record_heap(log->writer, h);
	}
	heap(log)->last_thread = h->thread;
	if (h->kind != CP_RECORD_FREED)
		shoot_if_due(log, h->ts_ns);
}

static void record(cprof_profiler *log, enum cp_record_call_kind kind)
{
	struct cp_record_call r;
	struct cp_record_heap h;
	cprof_allocation a;

	if (!cprof_current_allocation(&a) || !begin(log, kind, &r))
		return;
	r.function =
		cp_recorder_taker(log, kind != CP_RECORD_FREED || log->stacks ? &r.stack : NULL);
	h = (struct cp_record_heap){
		.ts_ns = r.ts_ns,
		.address = a.address,
		.size = a.size,
		.thread = r.thread,
		.function = r.function,
		.depth = r.depth,
		.stack = r.stack,
		.kind = (uint8_t)kind,
	};
	if (kind == CP_RECORD_MOVED) {
		h.previous = a.previous ? a.previous : a.address;
		h.duration_ns = r.ts_ns > a.begin_ns ? r.ts_ns - a.begin_ns : 0;
	}
	put(log, &h);
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

/* Where it was taken, and its stack, if that is recorded. */
static bool on_stack_known(cprof_profiler *log, uint64_t key, cprof_allocation_event_kind kind,
			   uint64_t *answer)
{
	uint32_t taker, stack;

	if (!cp_recorder_taker_known(log, key, kind != CPROF_ALLOCATION_FREED || log->stacks,
				     &taker, &stack))
		return false;
	*answer = (uint64_t)stack << 32 | taker;
	return true;
}

static void on_block(cprof_profiler *log, cprof_thread *thread,
		     const cprof_allocation_event *events, size_t count)
{
	static const uint8_t kinds[] = {
		[CPROF_ALLOCATION_ALLOCATED] = CP_RECORD_ALLOCATED,
		[CPROF_ALLOCATION_MOVED] = CP_RECORD_MOVED,
		[CPROF_ALLOCATION_RESIZED] = CP_RECORD_MOVED,
		[CPROF_ALLOCATION_FREED] = CP_RECORD_FREED,
	};
	const uint64_t *number = log->writer ? cp_recorder_thread(log, thread) : NULL;
	const cprof_allocation_event *e;
	struct cp_record_heap h = { .thread = number ? (uint32_t)*number : 0 };

	for (e = events; number && e < events + count; e++) {
		h.kind = kinds[e->kind];
		h.ts_ns = e->timestamp_ns;
		h.address = e->address;
		h.size = e->size;
		h.function = (uint32_t)e->stack;
		h.stack = (uint32_t)(e->stack >> 32);
		h.depth = e->depth;
		h.previous = h.duration_ns = 0;
		if (h.kind == CP_RECORD_MOVED) {
			h.previous = e->previous ? e->previous : e->address;
			h.duration_ns = e->timestamp_ns - e->begin_ns;
		}
		put(log, &h);
	}
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
	cp_recorder_call(log, &r);
}

/* Without a value it is the family's option. */
static bool take(cprof_profiler *log, const char *key, const char *value)
{
	struct heap *h = heap(log);
	bool known, good = take_shots(log, key, value, &known);

	if (known)
		return good;
	if (strcmp(key, "allocs") != 0 || !value || !cp_parse_bytes(value, &h->every) || !h->every)
		return false;
	cp_recorder_turn_on(log, &cp_recorder_heap);
	return true;
}

static void start(cprof_profiler *log)
{
	const struct heap *h = heap(log);

	if (!(h->every ? cprof_profiler_sample_allocations(h->every)
		       : cprof_profiler_enable_allocations()))
		cprof_profiler_fail(log->handle, "allocations cannot be watched here");
	cprof_profiler_set_gc_allocation_callback(log->handle, on_allocation);
	cprof_profiler_set_gc_moves_callback(log->handle, on_moves);
	cprof_profiler_set_heap_resized_callback(log->handle, on_resized);
	cprof_profiler_set_heap_free_callback(log->handle, on_free);
	cprof_profiler_set_allocation_block_callback(log->handle, on_block);
	cprof_profiler_set_stack_known(log->handle, on_stack_known);
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
	.help = "  allocs[=BYTES]     what is allocated and freed, or a sample of it\n"
		"  heapshot=MODE      allocs, and marks for what is live: ondemand: when 'cprof "
		"ctl PID\n"
		"                     heapshot' says so, Nms: at the first allocation so long "
		"after "
		"the last\n"
		"  heapshot-on-shutdown  at the end\n",
	.holds = CP_RECORD_HAS_ALLOCATIONS,
	.state_size = sizeof(struct heap),
	.init = init,
	.take = take,
	.start = start,
	.command = on_command,
	.rotate = rotate,
	.end = end,
	.totals = totals,
};
