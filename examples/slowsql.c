/* slowsql: statements of SQLite that took too long, with their text, in a running program, too,
 * of a stripped library, too.  cprof attach --profile=slowsql:ms=10 PID */
#include <cprof/cprof.h>
#include <stdio.h>

static cprof_profiler_handle slow;
static cprof_callspec *step, *prepare;
static int statement, text, made; /* what is copied at the calls */
static double least; /* ms */
static struct { uint64_t at; char sql[250]; } all[4096], *s;

static void left(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	bool steps = cprof_callspec_match(step, f);
	const uint64_t *at = cprof_call_context_fetched(context, steps ? statement : made, NULL);
	const char *sql = cprof_call_context_fetched(context, text, NULL);
	cprof_call call;

	if (!at || !cprof_current_call(&call))
		return;
	s = &all[*at / 16 % 4096];
	double ms = (call.timestamp_ns - call.enter_ns - call.overhead_ns) / 1e6;
	if (sql && (s->at = *at))
		cprof_escape(s->sql, sizeof(s->sql), CPROF_ESCAPE_TERMINAL, sql);
	if (steps && ms >= least)
		cprof_profiler_printf(slow, "%.1f ms  %s", ms, s->at == *at ? s->sql : "(prepared before)");
}

CPROF_PROFILER_INIT(slowsql)
{
	prepare = cprof_callspec_parse("sqlite3_prepare_v2,sqlite3_prepare_v3", NULL);
	sscanf(cprof_profiler_desc_args(desc), "ms=%lf", &least);
	cprof_profiler_set_method_leave_callback(slow = cprof_profiler_create(NULL), left);
	cprof_profiler_trace(slow, step = cprof_callspec_parse("sqlite3_step", NULL), CPROF_CALL_INSTRUMENTATION_LEAVE);
	cprof_profiler_trace(slow, prepare, CPROF_CALL_INSTRUMENTATION_LEAVE);
	statement = cprof_profiler_fetch(slow, step, &(cprof_fetch){ CPROF_FETCH_VALUE, 0 });
	text = cprof_profiler_fetch(slow, prepare, &(cprof_fetch){ CPROF_FETCH_STRING, 1, .size = 200 });
	made = cprof_profiler_fetch(slow, prepare, &(cprof_fetch){ CPROF_FETCH_BYTES, 3, .size = 8, .late = true });
}
