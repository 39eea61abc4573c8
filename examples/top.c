/* top: the functions of the program that are called most often.
 *   cprof run --profile=top -- ./program */
#include <cprof/cprof.h>

static const cprof_function *functions[65536];
static unsigned long calls[65536];
static cprof_callspec *program;
static cprof_profiler_handle top;

static void entered(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	uint16_t at = (uint16_t)((uintptr_t)f >> 5);

	while (functions[at] && functions[at] != f)
		at++;
	functions[at] = f;
	calls[at]++;
}

static void ended(cprof_profiler *p)
{
	for (int rank = 0, most = 0; rank < 20; rank++, calls[most] = 0) {
		for (int i = 0; i < 65536; i++)
			most = calls[i] > calls[most] ? i : most;
		if (calls[most])
			cprof_profiler_printf(top, "%8lu  %s", calls[most],
					      cprof_function_name(functions[most]));
	}
	cprof_callspec_free(program);
}

CPROF_PROFILER_INIT(top)
{
	top = cprof_profiler_create(NULL);
	program = cprof_callspec_parse("program", NULL);
	cprof_profiler_trace(top, program, CPROF_CALL_INSTRUMENTATION_ENTER);
	cprof_profiler_set_method_enter_callback(top, entered);
	cprof_profiler_set_runtime_shutdown_end_callback(top, ended);
}
