/* SPDX-License-Identifier: MIT
 *
 * Prints what a profiler is told of mappings, a line each, in the order of events, and
 * whether what is said fits together. mapprobe:heap asks for the size of the heap, too.
 */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t wrong, frames;

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

static void wrong_because(const char *why)
{
	wrong++;
	printf("wrong: %s\n", why);
}

static void print(const char *what, cprof_addr address, uint64_t size)
{
	static const char *const kinds[] = { "unknown", "anonymous", "file", "break" };
	uint64_t before = frames;
	cprof_mapping m;
	cprof_call call;

	if (!cprof_current_mapping(&m) || !cprof_current_call(&call)) {
		wrong_because("no mapping");
		return;
	}
	if (m.address != address || m.size != size || !size)
		wrong_because("another mapping");
	if (!m.begin_ns || m.begin_ns > call.timestamp_ns || m.created_ns > call.timestamp_ns)
		wrong_because("times");
	if (cprof_do_stack_snapshot(cprof_current_thread(), count_frame, CPROF_SNAPSHOT_ALL_FRAMES,
				    NULL, NULL, 0) != CPROF_OK ||
	    frames < before + 2)
		wrong_because("no stack");
	printf("%d %s %" PRIx64 " %" PRIu64 " %s prot=%d flags=%#x fd=%d offset=%" PRIu64
	       " by=%s before=%" PRIx64 " %s path=%s\n",
	       cprof_process_pid(cprof_current_process()), what, address, size,
	       m.kind <= CPROF_MAPPING_BREAK ? kinds[m.kind] : "?", m.protection, (unsigned)m.flags,
	       m.fd, m.offset, m.function ? cprof_function_name(m.function) : "-", m.previous,
	       m.created_ns ? "known" : "unseen", m.path ? m.path : "-");
}

static void on_created(cprof_profiler *prof, cprof_addr address, uint64_t size)
{
	(void)prof;
	print("+", address, size);
}

static void on_removed(cprof_profiler *prof, cprof_addr address, uint64_t size)
{
	(void)prof;
	print("-", address, size);
}

static void on_resize(cprof_profiler *prof, uint64_t size)
{
	(void)prof;
	printf("%d heap %" PRIu64 "\n", cprof_process_pid(cprof_current_process()), size);
}

static void on_start(cprof_profiler *prof)
{
	(void)prof;
	wrong += cprof_profiler_enable_mappings(); /* too late */
}

static void cleanup(cprof_profiler *prof)
{
	cprof_mapping m;

	(void)prof;
	wrong += cprof_current_mapping(&m); /* not outside of the event */
	printf("wrong %" PRIu64 "\n", wrong);
}

CPROF_PROFILER_INIT(mapprobe)
{
	cprof_profiler_handle handle = cprof_profiler_create(NULL);
	const char *args = cprof_profiler_desc_args(desc);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(args, "heaponly") != 0)
		wrong += !cprof_profiler_enable_mappings();
	if (!strncmp(args, "heap", 4)) {
		wrong += !cprof_profiler_enable_allocations();
		cprof_profiler_set_gc_resize_callback(handle, on_resize);
	}
	cprof_profiler_set_cleanup_callback(handle, cleanup);
	cprof_profiler_set_runtime_initialized_callback(handle, on_start);
	cprof_profiler_set_mapping_created_callback(handle, on_created);
	cprof_profiler_set_mapping_removed_callback(handle, on_removed);
}
