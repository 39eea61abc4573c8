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
	cp_recorder_call(log, &r);
	heap(log)->last_thread = r.thread;
	if (kind != CP_RECORD_FREED)
		shoot_if_due(log, r.ts_ns);
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
