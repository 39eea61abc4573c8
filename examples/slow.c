/* slow: calls of the program that took too long, with their arguments.
 *   cprof run --profile=slow:ms=10 -- ./program */
#include <cprof/cprof.h>
#include <stdio.h>

static cprof_profiler_handle slow;
static cprof_callspec *spec;
static double least = 10; /* ms, without what tracing took */

static void left(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	size_t i, used, n = cprof_call_context_argument_count(context);
	cprof_call call = { 0 };
	char text[1000];
	double ms;

	(void)p, cprof_current_call(&call);
	ms = (call.timestamp_ns - call.enter_ns - call.overhead_ns) / 1e6;
	used = cprof_escape(text, 500, CPROF_ESCAPE_TERMINAL, cprof_function_name(f));
	for (i = 0; i < n && used < sizeof(text) - 2; i++) {
		text[used++] = i ? ',' : ' ';
		used += cprof_value_format(text + used, sizeof(text) - used,
					   cprof_call_context_argument(context, i));
	}
	if (ms >= least)
		cprof_profiler_printf(slow, "%.1f ms  %s", ms, text);
}

CPROF_PROFILER_INIT(slow)
{
	sscanf(cprof_profiler_desc_args(desc), "ms=%lf", &least);
	slow = cprof_profiler_create(NULL);
	cprof_profiler_enable_call_context_introspection();
	cprof_profiler_trace(slow, spec = cprof_callspec_parse("program", NULL),
			     CPROF_CALL_INSTRUMENTATION_LEAVE |
				     CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT |
				     CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT);
	cprof_profiler_set_method_leave_callback(slow, left);
}
