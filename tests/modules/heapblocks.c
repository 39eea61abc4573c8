/* SPDX-License-Identifier: MIT
 *
 * Prints what is allocated and freed, in the order in which it is told, into the file that its
 * arguments name: in blocks, or, where the name ends with ".single", one by one.
 *
 *     WHAT ADDRESS PREVIOUS SIZE FUNCTION DEPTH CALLERS
 *     blocks EVENTS                   at the end, of those that came in blocks
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

#define KEYS 4096
#define CALLERS 200

struct cprof_profiler {
	FILE *out;
	uint64_t in_blocks, last_ns;
	char callers[CALLERS];
};
static cprof_profiler prof;

/* Stacks that were walked; open addressing. */
static struct {
	uint64_t key;
	char callers[CALLERS];
} known[KEYS];

static size_t place_of(uint64_t key)
{
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) % KEYS;

	while (known[at].key && known[at].key != key)
		at = (at + 1) % KEYS;
	return at;
}

static void print(cprof_profiler *p, char what, const cprof_allocation_event *e,
		  const char *callers)
{
	fprintf(p->out, "%c %llx %llx %llu %s %u %s%s\n", what, (unsigned long long)e->address,
		(unsigned long long)e->previous, (unsigned long long)e->size,
		e->function ? cprof_function_name(e->function) : "?", e->depth, callers,
		e->timestamp_ns < p->last_ns || e->begin_ns > e->timestamp_ns ? " OUT OF ORDER"
									      : "");
	p->last_ns = e->timestamp_ns;
}

static cprof_walk add_caller(const cprof_function *f, cprof_addr ip, const cprof_frame_info *info,
			     size_t size, const cprof_context *context, void *data)
{
	cprof_profiler *p = data;
	size_t length = strlen(p->callers);

	(void)ip;
	(void)info;
	(void)size;
	(void)context;
	snprintf(p->callers + length, CALLERS - length, "<%s", f ? cprof_function_name(f) : "?");
	return CPROF_WALK_CONTINUE;
}

static void one(cprof_profiler *p, char what)
{
	uint64_t key = cprof_current_stack_key();
	size_t place = place_of(key);
	cprof_allocation_event e;
	cprof_allocation a;
	cprof_call call;

	if (!cprof_current_allocation(&a) || !cprof_current_call(&call))
		return;
	p->callers[0] = 0;
	cprof_do_stack_snapshot(cprof_current_thread(), add_caller, CPROF_SNAPSHOT_DEFAULT, p, NULL,
				0);
	if (key) {
		known[place].key = key;
		memcpy(known[place].callers, p->callers, CALLERS);
	}
	e = (cprof_allocation_event){ .timestamp_ns = call.timestamp_ns,
				      .begin_ns = a.begin_ns,
				      .function = a.function,
				      .address = a.address,
				      .previous = a.previous,
				      .size = a.size,
				      .depth = call.depth };
	print(p, what, &e, p->callers);
}

static void allocated(cprof_profiler *p, const cprof_object *object)
{
	(void)object;
	one(p, '+');
}

static void moved(cprof_profiler *p, const cprof_addr *objects, uint64_t count)
{
	(void)objects;
	(void)count;
	one(p, '>');
}

static void resized(cprof_profiler *p, const cprof_object *object)
{
	(void)object;
	one(p, '=');
}

static void freed(cprof_profiler *p, const cprof_object *object)
{
	(void)object;
	one(p, '-');
}

static bool is_known(cprof_profiler *p, uint64_t key, cprof_allocation_event_kind kind,
		     uint64_t *answer)
{
	(void)p;
	(void)kind;
	*answer = place_of(key);
	return known[*answer].key == key;
}

static void block(cprof_profiler *p, cprof_thread *thread, const cprof_allocation_event *events,
		  size_t count)
{
	size_t i;

	if (thread != cprof_current_thread())
		fprintf(p->out, "another thread\n");
	for (i = 0; i < count; i++)
		print(p, "+>=-"[events[i].kind], &events[i], known[events[i].stack].callers);
	p->in_blocks += count;
}

static void end(cprof_profiler *p)
{
	fprintf(p->out, "blocks %llu\n", (unsigned long long)p->in_blocks);
	fclose(p->out);
}

CPROF_PROFILER_INIT(heapblocks)
{
	cprof_profiler_handle handle = cprof_profiler_create(&prof);
	const char *name = cprof_profiler_desc_args(desc);

	prof.out = fopen(name, "w");
	if (!handle || !prof.out || !cprof_profiler_enable_allocations())
		return;
	cprof_profiler_set_gc_allocation_callback(handle, allocated);
	cprof_profiler_set_gc_moves_callback(handle, moved);
	cprof_profiler_set_heap_resized_callback(handle, resized);
	cprof_profiler_set_heap_free_callback(handle, freed);
	if (!strstr(name, ".single")) {
		cprof_profiler_set_allocation_block_callback(handle, block);
		cprof_profiler_set_stack_known(handle, is_known);
	}
	cprof_profiler_set_runtime_shutdown_end_callback(handle, end);
}
