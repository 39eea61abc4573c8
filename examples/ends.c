/* ends: who ends the program, with the stack.
 *   cprof run --profile=ends -- ./program */
#include <cprof/cprof.h>

static cprof_profiler_handle ends;
static cprof_callspec *spec;

static cprof_walk frame(const cprof_function *f, cprof_addr ip, const cprof_frame_info *info,
			size_t size, const cprof_context *context, void *data)
{
	const char *name = cprof_frame_info_name(info), *file;
	uint32_t line = 0;

	file = cprof_frame_info_source(info, &line);
	cprof_profiler_printf(ends, "  %s  %s:%u", name ? name : "?", file ? file : "?", line);
	return CPROF_WALK_CONTINUE;
}

static void entered(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	if (!cprof_callspec_match(spec, f))
		return;
	cprof_profiler_printf(ends, "%s is called:", cprof_function_name(f));
	cprof_do_stack_snapshot(cprof_current_thread(), frame, CPROF_SNAPSHOT_INLINES, NULL, NULL, 0);
}

CPROF_PROFILER_INIT(ends)
{
	spec = cprof_callspec_parse("exit,_exit,abort,__assert_fail", NULL);
	ends = cprof_profiler_create(NULL);
	cprof_profiler_trace(ends, spec,
			     CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_STACK);
	cprof_profiler_set_method_enter_callback(ends, entered);
}
