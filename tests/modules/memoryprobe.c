/* SPDX-License-Identifier: MIT
 *
 * Prints what a profiler is told of the program's memory and files, a line each, in
 * the order of events: bytes transferred, the size of the heap, finalizing, roots.
 * memoryprobe:quiet asks for none of what has to be enabled.
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

/* Each of them has a time, and a stack that can be walked: so many frames at least. */
static void look(uint64_t least)
{
	uint64_t before = frames;
	cprof_status status;
	cprof_call call;

	if (!cprof_current_call(&call) || !call.timestamp_ns)
		wrong_because("no time");
	status = cprof_do_stack_snapshot(cprof_current_thread(), count_frame,
					 CPROF_SNAPSHOT_ALL_FRAMES, NULL, NULL, 0);
	if (status != CPROF_OK || frames < before + least)
		wrong_because(status == CPROF_OK ? "no caller" : "no stack");
}

static int pid(void)
{
	return cprof_process_pid(cprof_current_process());
}

static void on_fileio(cprof_profiler *prof, uint64_t kind, uint64_t size)
{
	cprof_io io;

	(void)prof;
	look(2);
	if (!cprof_current_io(&io)) {
		wrong++;
		return;
	}
	wrong += !io.function || !io.begin_ns;
	printf("%d %s %d %" PRIu64 "\n", pid(), kind == CPROF_FILEIO_READ ? "read" : "write", io.fd,
	       size);
}

static void on_resize(cprof_profiler *prof, uint64_t size)
{
	(void)prof;
	look(2);
	printf("%d heap %" PRIu64 "\n", pid(), size);
}

static void on_finalizing(cprof_profiler *prof)
{
	(void)prof;
	look(2);
	printf("%d finalizing\n", pid());
}

static void on_finalized(cprof_profiler *prof)
{
	(void)prof;
	look(1); /* in what unloads a library, which has no call frame information */
	printf("%d finalized\n", pid());
}

static void on_root(cprof_profiler *prof, cprof_addr start, uint64_t size, cprof_root_source source,
		    cprof_addr key, const char *name)
{
	static const char *const sources[] = { "stack", "static", "tls", "registers", "other" };

	(void)prof;
	printf("%d root %s %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", pid(), sources[source], start,
	       start + size, key, name);
}

static void on_unroot(cprof_profiler *prof, cprof_addr start)
{
	(void)prof;
	printf("%d unroot %" PRIx64 "\n", pid(), start);
}

static void cleanup(cprof_profiler *prof)
{
	cprof_io io;

	(void)prof;
	wrong += cprof_current_io(&io); /* not outside of the event */
	printf("wrong %" PRIu64 "\n", wrong);
}

static void on_start(cprof_profiler *prof)
{
	(void)prof;
	wrong += cprof_profiler_enable_fileio(); /* too late */
}

CPROF_PROFILER_INIT(memoryprobe)
{
	cprof_profiler_handle handle = cprof_profiler_create(NULL);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(cprof_profiler_desc_args(desc), "quiet") != 0)
		wrong += !cprof_profiler_enable_fileio() || !cprof_profiler_enable_allocations();
	cprof_profiler_set_cleanup_callback(handle, cleanup);
	cprof_profiler_set_runtime_initialized_callback(handle, on_start);
	cprof_profiler_set_fileio_callback(handle, on_fileio);
	cprof_profiler_set_gc_resize_callback(handle, on_resize);
	cprof_profiler_set_gc_finalizing_callback(handle, on_finalizing);
	cprof_profiler_set_gc_finalized_callback(handle, on_finalized);
	cprof_profiler_set_gc_root_register_callback(handle, on_root);
	cprof_profiler_set_gc_root_unregister_callback(handle, on_unroot);
}
