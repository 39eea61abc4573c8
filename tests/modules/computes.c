/* SPDX-License-Identifier: MIT
 *
 * Computes for three seconds when slow() is called, while nothing is read: as another
 * module's bad moment would, or a machine that has no CPU for who reads.
 */
#include <cprof/cprof.h>
#include <string.h>
#include <time.h>

static cprof_profiler_handle handle;
static unsigned long calls;

static unsigned filter(cprof_profiler *p, const cprof_function *function)
{
	(void)p;
	return !strcmp(cprof_function_name(function), "slow") ||
			       !strcmp(cprof_function_name(function), "called")
		       ? CPROF_CALL_INSTRUMENTATION_ENTER
		       : 0;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void enter(cprof_profiler *p, const cprof_function *function, cprof_call_context *context)
{
	double begin = seconds();

	(void)p;
	(void)context;
	if (strcmp(cprof_function_name(function), "slow"))
		calls++;
	else
		while (seconds() < begin + 3)
			;
}

static void ended(cprof_profiler *p)
{
	(void)p;
	cprof_profiler_printf(handle, "called %lu times", calls);
}

CPROF_PROFILER_INIT(computes)
{
	(void)desc;
	handle = cprof_profiler_create(NULL);
	cprof_profiler_set_call_instrumentation_filter_callback(handle, filter);
	cprof_profiler_set_method_enter_callback(handle, enter);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, ended);
}
