/* iostacks: bytes read and written, by stack; for flamegraph.pl, speedscope and the like.
 *   cprof run -q --profile=iostacks -- ./program >folded */
#include <cprof/cprof.h>
#include <stdio.h>

static const cprof_function *stack[10000];
static int depth;

static cprof_walk frame(const cprof_function *f, cprof_addr ip, const cprof_frame_info *info,
			size_t size, const cprof_context *context, void *data)
{
	stack[depth++] = f;
	return depth < 10000 ? CPROF_WALK_CONTINUE : CPROF_WALK_ABORT;
}

static void transferred(cprof_profiler *p, uint64_t kind, uint64_t size)
{
	cprof_do_stack_snapshot(cprof_current_thread(), frame, CPROF_SNAPSHOT_DEFAULT, NULL, NULL, 0);
	for (; depth; depth--)
		printf("%s;", stack[depth - 1] ? cprof_function_name(stack[depth - 1]) : "?");
	printf("[%s] %llu\n", kind == CPROF_FILEIO_READ ? "read" : "written", (unsigned long long)size);
}

CPROF_PROFILER_INIT(iostacks)
{
	cprof_profiler_enable_fileio();
	cprof_profiler_set_fileio_callback(cprof_profiler_create(NULL), transferred);
}
