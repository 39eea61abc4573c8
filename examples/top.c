/* top: the functions of the program that are called most often.
 *   cprof run --profile=top -- ./program */
#include <cprof/cprof.h>

static cprof_tally *calls; /* by function */
static cprof_callspec *program;
static cprof_profiler_handle top;

static void entered(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	cprof_tally_add(calls, &f, 1, 0);
}

static void ended(cprof_profiler *p)
{
	const cprof_tally_row *row;

	cprof_tally_sort(calls, CPROF_TALLY_BY_COUNT);
	for (int i = 0; i < 20 && (row = cprof_tally_row_at(calls, i)); i++)
		cprof_profiler_printf(top, "%8llu  %s", (unsigned long long)row->count,
				      cprof_function_name(*(const cprof_function *const *)row->key));
	cprof_callspec_free(program);
	cprof_tally_free(calls);
}

CPROF_PROFILER_INIT(top)
{
	calls = cprof_tally_create(sizeof(cprof_function *), 0);
	top = cprof_profiler_create(NULL);
	program = cprof_callspec_parse("program", NULL);
	cprof_profiler_trace(top, program, CPROF_CALL_INSTRUMENTATION_ENTER);
	cprof_profiler_set_method_enter_callback(top, entered);
	cprof_profiler_set_runtime_shutdown_end_callback(top, ended);
}
