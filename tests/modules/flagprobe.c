/* SPDX-License-Identifier: MIT
 *
 * flagprobe:FLAGS: which events the filter's flags bring, and how many.
 * flagprobe:FLAGS,why tells of each call that was left unwound what did it.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cprof_profiler {
	unsigned flags, enters, leaves, tail_calls, unwound, contexts, thrown;
	bool why;
};

static cprof_profiler prof;

static unsigned choose(cprof_profiler *p, const cprof_function *f)
{
	return strncmp(cprof_function_name(f), "probed_", 7) ? 0 : p->flags;
}

static void enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	(void)f;
	p->enters++;
	p->contexts += context != NULL;
}

static void leave(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	(void)f;
	p->leaves++;
	p->contexts += context != NULL;
}

static void tail_call(cprof_profiler *p, const cprof_function *f, const cprof_function *target)
{
	p->tail_calls++;
	printf("%s => %s\n", cprof_function_name(f), target ? cprof_function_name(target) : "?");
}

static void unwound(cprof_profiler *p, const cprof_function *f, const cprof_object *exception)
{
	p->unwound++;
	if (p->why)
		printf("%s left by %s\n", cprof_function_name(f),
		       exception ? exception->type_name : "no exception");
}

static void thrown(cprof_profiler *p, const cprof_object *exception)
{
	(void)exception;
	p->thrown++;
}

static void ended(cprof_profiler *p)
{
	printf("%u enters %u leaves %u tail calls %u unwound %u contexts\n", p->enters, p->leaves,
	       p->tail_calls, p->unwound, p->contexts);
	fflush(stdout);
}

CPROF_PROFILER_INIT(flagprobe)
{
	const char *args = cprof_profiler_desc_args(desc);
	cprof_profiler_handle h = cprof_profiler_create(&prof);

	prof.flags = (unsigned)atoi(args);
	prof.why = strstr(args, ",why") != NULL;
	if (prof.why)
		cprof_profiler_set_exception_throw_callback(h, thrown);
	cprof_profiler_set_call_instrumentation_filter_callback(h, choose);
	cprof_profiler_set_method_enter_callback(h, enter);
	cprof_profiler_set_method_leave_callback(h, leave);
	cprof_profiler_set_method_tail_call_callback(h, tail_call);
	cprof_profiler_set_method_exception_leave_callback(h, unwound);
	cprof_profiler_set_runtime_shutdown_end_callback(h, ended);
}
