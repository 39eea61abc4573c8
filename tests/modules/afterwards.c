/* SPDX-License-Identifier: MIT
 *
 * afterwards: writes to afterwards.out what can still be told, and read, of a call of
 * probed_add() in its callbacks, at the shutdown and in the cleanup. */
#include <cprof/cprof.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const cprof_function *function;
static cprof_process *process;
static cprof_thread *thread;
static cprof_call_context *context;
static FILE *out;

static bool reads(void)
{
	char bytes[4];

	return cprof_read_memory(process, cprof_function_address(function), bytes, sizeof(bytes),
				 NULL) == CPROF_OK;
}

/* One of the event's thread; -1: not known. */
static int64_t reg(const char *name)
{
	cprof_context registers;
	uint64_t value;
	size_t size = sizeof(value);

	if (cprof_thread_context(thread, CPROF_CONTEXT_INTEGER, &registers) != CPROF_OK ||
	    !cprof_context_get(&registers, name, &value, &size))
		return -1;
	return (int64_t)value;
}

static void tell(const char *when)
{
	fprintf(out, "%s: %s of %s, %d argument, %s, %s, %s\n", when, cprof_function_name(function),
		cprof_image_name(cprof_function_image(function)),
		(int)cprof_function_argument_count(function), cprof_thread_name(thread),
		reads() ? "memory" : "no memory",
		cprof_call_context_argument(context, 0) ? "values" : "no values");
}

static void entered(cprof_profiler *p, const cprof_function *f, cprof_call_context *c)
{
	(void)p;
	if (strcmp(cprof_function_name(f), "probed_add") != 0 || function)
		return;
	function = f;
	process = cprof_current_process();
	thread = cprof_current_thread();
	context = c;
	tell("enter");
	fprintf(out, "rdi %d rsi %d\n", (int)reg("rdi"), (int)reg("rsi"));
}

static void left(cprof_profiler *p, const cprof_function *f, cprof_call_context *c)
{
	if (f == function && out && context) {
		context = NULL;
		fprintf(out, "leave: %s, rax %d\n",
			cprof_call_context_argument(c, 0) ? "values" : "no values",
			(int)reg("rax"));
	}
	(void)p;
}

static void ended(cprof_profiler *p)
{
	(void)p;
	tell("shutdown");
}

static void cleanup(cprof_profiler *p)
{
	(void)p;
	tell("cleanup");
	fclose(out);
}

CPROF_PROFILER_INIT(afterwards)
{
	cprof_profiler_handle handle = cprof_profiler_create(NULL);
	cprof_callspec *spec = cprof_callspec_parse("probed_add", NULL);

	(void)desc;
	out = fopen("afterwards.out", "w");
	cprof_profiler_enable_call_context_introspection();
	cprof_profiler_trace(handle, spec,
			     CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE |
				     CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT |
				     CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT);
	cprof_callspec_free(spec);
	cprof_profiler_set_method_enter_callback(handle, entered);
	cprof_profiler_set_method_leave_callback(handle, left);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, ended);
	cprof_profiler_set_cleanup_callback(handle, cleanup);
}
