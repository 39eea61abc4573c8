/* SPDX-License-Identifier: MIT
 *
 * Two profilers that print their lives: start, end, cleanup, and what can no
 * longer be asked for when the program runs.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct cprof_profiler {
	const char *name;
	cprof_profiler_handle handle;
	unsigned calls;
};

static cprof_callspec *spec;
static cprof_profiler older = { "older", NULL, 0 }, newer = { "newer", NULL, 0 };

static void say(const cprof_profiler *p, const char *what)
{
	printf("%s %s\n", p->name, what);
	fflush(stdout);
}

static void initialized(cprof_profiler *p)
{
	say(p, "runtime_initialized");
}

static void shutdown_begin(cprof_profiler *p)
{
	say(p, "runtime_shutdown_begin");
}

static void shutdown_end(cprof_profiler *p)
{
	say(p, "runtime_shutdown_end");
}

static void cleanup(cprof_profiler *p)
{
	say(p, "cleanup");
	if (p == &older)
		cprof_callspec_free(spec);
}

/* All that is for init alone. */
static void too_late(cprof_profiler *p)
{
	printf("late: create %d load %d sampling %d allocations %d types %d clauses %d "
	       "exception stacks %d fileio %d "
	       "monitors %d "
	       "mappings %d jit %d annotations %d coverage %d context %d cpu %d vector %d\n",
	       cprof_profiler_create(p) != NULL, cprof_profiler_load("hello") == CPROF_OK,
	       cprof_profiler_enable_sampling(p->handle), cprof_profiler_enable_allocations(),
	       cprof_profiler_enable_allocation_types(), cprof_profiler_enable_clauses(),
	       cprof_profiler_enable_exception_stacks(), cprof_profiler_enable_fileio(),
	       cprof_profiler_enable_monitors(), cprof_profiler_enable_mappings(),
	       cprof_profiler_enable_jit(), cprof_profiler_enable_annotations(),
	       cprof_profiler_enable_coverage(), cprof_profiler_enable_call_context_introspection(),
	       cprof_profiler_enable_call_cpu_time(), cprof_profiler_enable_vector_state());
	fflush(stdout);
}

/* Replaces itself after its first call, and is removed after its third. */
static void second_enter(cprof_profiler *p, const cprof_function *function,
			 cprof_call_context *context)
{
	(void)function;
	(void)context;
	if (++p->calls < 3)
		return;
	printf("%u calls\n", p->calls);
	fflush(stdout);
	cprof_profiler_set_method_enter_callback(p->handle, NULL);
}

static void first_enter(cprof_profiler *p, const cprof_function *function,
			cprof_call_context *context)
{
	(void)function;
	(void)context;
	p->calls++;
	too_late(p);
	cprof_profiler_set_method_enter_callback(p->handle, second_enter);
}

static void set_up(cprof_profiler *p)
{
	p->handle = cprof_profiler_create(p);
	cprof_profiler_set_runtime_initialized_callback(p->handle, initialized);
	cprof_profiler_set_runtime_shutdown_begin_callback(p->handle, shutdown_begin);
	cprof_profiler_set_runtime_shutdown_end_callback(p->handle, shutdown_end);
	cprof_profiler_set_cleanup_callback(p->handle, cleanup);
}

CPROF_PROFILER_INIT(lifecycle)
{
	const char *args = cprof_profiler_desc_args(desc);
	char *error = NULL;

	set_up(&older);
	set_up(&newer);
	if (!*args)
		return;
	spec = cprof_callspec_parse(args, &error);
	if (!spec) {
		cprof_profiler_fail(newer.handle, "lifecycle: %s", error);
		free(error);
		return;
	}
	cprof_profiler_trace(newer.handle, spec, CPROF_CALL_INSTRUMENTATION_ENTER);
	cprof_profiler_set_method_enter_callback(newer.handle, first_enter);
}
