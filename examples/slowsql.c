/* slowsql: statements of SQLite that took too long, with their text, in a running program, too.
 *   cprof attach --profile=slowsql:ms=10 PID */
#include <cprof/cprof.h>
#include <stdio.h>
#define WANTED (CPROF_CALL_INSTRUMENTATION_LEAVE | CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT | \
		CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT)

static cprof_profiler_handle slow;
static cprof_callspec *step;
static double least; /* ms */
static struct { uint64_t at; char sql[250]; } all[4096], *s;

static void left(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	bool steps = cprof_callspec_match(step, f);
	const cprof_value *at = steps ? cprof_call_context_argument(context, 0) : cprof_call_context_changed(context, 3);
	cprof_call call;
	double ms;

	if (!at || !cprof_current_call(&call))
		return;
	at = at->count ? at->items : at; /* what sqlite3_prepare_v2() wrote to */
	s = &all[at->u.u / 16 % 4096];
	ms = (call.timestamp_ns - call.enter_ns - call.overhead_ns) / 1e6;
	if (!steps && (s->at = at->u.u))
		cprof_value_format(s->sql, sizeof(s->sql), cprof_call_context_argument(context, 1));
	if (steps && ms >= least)
		cprof_profiler_printf(slow, "%.1f ms  %s", ms, s->at == at->u.u ? s->sql : "(prepared before)");
}

CPROF_PROFILER_INIT(slowsql)
{
	sscanf(cprof_profiler_desc_args(desc), "ms=%lf", &least);
	cprof_profiler_set_method_leave_callback(slow = cprof_profiler_create(NULL), left);
	cprof_profiler_enable_call_context_introspection();
	cprof_profiler_trace(slow, step = cprof_callspec_parse("sqlite3_step", NULL), WANTED);
	cprof_profiler_trace(slow, cprof_callspec_parse("sqlite3_prepare_v2,sqlite3_prepare_v3", NULL),
			     WANTED | CPROF_CALL_INSTRUMENTATION_CHANGES);
}
