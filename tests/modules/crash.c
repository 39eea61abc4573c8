/* SPDX-License-Identifier: MIT
 *
 * A profiler that goes wrong: crash:HOW,CALLBACK[,TIME] with HOW one of segv,
 * abort, exit, deep, loop, sleep, memory, noise and CALLBACK one of init, filter,
 * cover, start, call, sample, end, cleanup; of calls and samples at the TIMEth.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char how[16], where[16];
static cprof_callspec *spec;
static unsigned times;
static volatile uint64_t sink;
static volatile int endless = 1;

/* Until the stack is used up. */
static uint64_t deep(volatile uint64_t *outer)
{
	volatile uint64_t here[512];

	here[0] = outer ? *outer + 1 : 0;
	return endless ? deep(here) + here[0] : *here;
}

/* Until there is none left: of address space, which has a limit. To fill it with pages
 * takes seconds on some virtual machines, by which it would seem to hang. */
static void take(size_t size)
{
	char *memory = malloc(size);

	if (!memory)
		abort();
	memory[0] = 1;
	sink += (uintptr_t)memory;
}

static void go_wrong(const char *callback)
{
	if (strcmp(where, callback) != 0 || (times && --times))
		return;
	if (!strcmp(how, "segv"))
		*(volatile char *)(uintptr_t)16 = 1;
	else if (!strcmp(how, "abort"))
		abort();
	else if (!strcmp(how, "exit"))
		exit(0);
	else if (!strcmp(how, "deep"))
		sink = deep(NULL);
	while (!strcmp(how, "loop"))
		sink++;
	while (!strcmp(how, "sleep"))
		pause();
	while (!strcmp(how, "memory"))
		take(1 << 20);
	if (!strcmp(how, "noise"))
		fwrite("\033[2J\0\377nonsense\n", 1, 15, stdout);
}

static void started(cprof_profiler *p)
{
	(void)p;
	go_wrong("start");
}

static unsigned filter(cprof_profiler *p, const cprof_function *function)
{
	(void)p;
	(void)function;
	go_wrong("filter");
	return 0;
}

static bool cover(cprof_profiler *p, const cprof_function *function)
{
	(void)p;
	(void)function;
	go_wrong("cover");
	return false;
}

static void enter(cprof_profiler *p, const cprof_function *function, cprof_call_context *context)
{
	(void)p;
	(void)function;
	(void)context;
	go_wrong("call");
}

static void sample(cprof_profiler *p, cprof_addr ip, const cprof_context *context)
{
	(void)p;
	(void)ip;
	(void)context;
	go_wrong("sample");
}

static void ended(cprof_profiler *p)
{
	(void)p;
	go_wrong("end");
}

static void cleanup(cprof_profiler *p)
{
	(void)p;
	go_wrong("cleanup");
	cprof_callspec_free(spec);
}

CPROF_PROFILER_INIT(crash)
{
	cprof_profiler_handle handle = cprof_profiler_create(NULL);
	char *error = NULL;

	if (sscanf(cprof_profiler_desc_args(desc), "%15[^,],%15[^,],%u", how, where, &times) < 2) {
		cprof_profiler_fail(handle, "crash:HOW,CALLBACK[,TIME]");
		return;
	}
	go_wrong("init");
	cprof_profiler_set_runtime_initialized_callback(handle, started);
	if (!strcmp(where, "sample")) {
		cprof_profiler_set_sample_hit_callback(handle, sample);
		cprof_profiler_set_cleanup_callback(handle, cleanup);
		return;
	}
	cprof_profiler_set_runtime_shutdown_end_callback(handle, ended);
	cprof_profiler_set_cleanup_callback(handle, cleanup);
	cprof_profiler_set_method_enter_callback(handle, enter);
	cprof_profiler_set_call_instrumentation_filter_callback(handle, filter);
	if (!strcmp(where, "cover") && cprof_profiler_enable_coverage())
		cprof_profiler_set_coverage_filter_callback(handle, cover);
	spec = cprof_callspec_parse("called", &error);
	free(error);
	if (spec)
		cprof_profiler_trace(handle, spec, CPROF_CALL_INSTRUMENTATION_ENTER);
}
