/* SPDX-License-Identifier: MIT
 *
 * Traces nothing until the second heartbeat, then called(), then nothing again,
 * while no event but heartbeats comes.
 */
#include <cprof/cprof.h>
#include <string.h>

static cprof_profiler_handle handle;
static unsigned long beats, calls[5];

static unsigned filter(cprof_profiler *p, const cprof_function *function)
{
	(void)p;
	return beats == 2 && !strcmp(cprof_function_name(function), "called")
		       ? CPROF_CALL_INSTRUMENTATION_ENTER
		       : 0;
}

static void enter(cprof_profiler *p, const cprof_function *function, cprof_call_context *context)
{
	(void)p;
	(void)function;
	(void)context;
	calls[beats < 4 ? beats : 4]++;
}

static void beat(cprof_profiler *p)
{
	(void)p;
	if (++beats <= 3)
		cprof_profiler_refilter(NULL);
	if (beats == 5)
		cprof_session_stop(cprof_session_current());
}

static void ended(cprof_profiler *p)
{
	(void)p;
	cprof_profiler_printf(handle, "before %s, then %s, in the end %s",
			      calls[0] + calls[1] ? "some" : "none", calls[2] ? "some" : "none",
			      calls[4] ? "some" : "none");
}

CPROF_PROFILER_INIT(beat)
{
	(void)desc;
	handle = cprof_profiler_create(NULL);
	cprof_profiler_set_call_instrumentation_filter_callback(handle, filter);
	cprof_profiler_set_method_enter_callback(handle, enter);
	cprof_profiler_set_heartbeat_callback(handle, beat);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, ended);
}
