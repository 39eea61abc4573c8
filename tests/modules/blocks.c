/* SPDX-License-Identifier: MIT
 *
 * A profiler that prints calls of the program's first thread in the order in which they
 * are told, into the file that its arguments name: in blocks, or, where the name ends with
 * ".single", one by one.
 *
 *     DEPTH enter|leave|tail|unwind FUNCTION [TARGET]
 *     blocks EVENTS                            at the end
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

struct cprof_profiler {
	FILE *out;
	uint64_t in_blocks, last_ns;
};
static cprof_profiler prof;

static void print(cprof_profiler *p, uint64_t ts_ns, uint32_t depth, const char *what,
		  const cprof_function *f, const cprof_function *target)
{
	fprintf(p->out, "%u %s %s %s%s\n", depth, what, cprof_function_name(f),
		target ? cprof_function_name(target) : "",
		ts_ns < p->last_ns ? " BEFORE THE LAST" : "");
	p->last_ns = ts_ns;
}

static bool is_first(cprof_thread *t)
{
	return t && cprof_thread_tid(t) == cprof_process_pid(cprof_thread_process(t));
}

static void one(cprof_profiler *p, const char *what, const cprof_function *f,
		const cprof_function *target)
{
	cprof_call call;

	if (is_first(cprof_current_thread()) && cprof_current_call(&call))
		print(p, call.timestamp_ns, call.depth, what, f, target);
}

static void enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	(void)context;
	one(p, "enter", f, NULL);
}

static void leave(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	(void)context;
	one(p, "leave", f, NULL);
}

static void tail(cprof_profiler *p, const cprof_function *f, const cprof_function *target)
{
	one(p, "tail", f, target);
}

static void unwind(cprof_profiler *p, const cprof_function *f, const cprof_object *exception)
{
	(void)exception;
	one(p, "unwind", f, NULL);
}

static void block(cprof_profiler *p, cprof_thread *thread, const cprof_call_event *events,
		  size_t count)
{
	static const char *const names[] = { "enter", "leave", "tail" };
	size_t i;

	if (thread != cprof_current_thread())
		fprintf(p->out, "another thread\n");
	for (i = 0; i < count && is_first(thread); i++)
		print(p, events[i].timestamp_ns, events[i].depth, names[events[i].kind],
		      events[i].function,
		      events[i].kind == CPROF_CALL_TAIL_CALL ? events[i].target : NULL);
	p->in_blocks += count;
}

static void end(cprof_profiler *p)
{
	fprintf(p->out, "blocks %lu\n", (unsigned long)p->in_blocks);
	fclose(p->out);
}

CPROF_PROFILER_INIT(blocks)
{
	cprof_profiler_handle handle = cprof_profiler_create(&prof);
	const char *name = cprof_profiler_desc_args(desc);
	cprof_callspec *spec = cprof_callspec_parse("program", NULL);

	prof.out = fopen(name, "w");
	if (!handle || !prof.out || !spec)
		return;
	cprof_profiler_trace(handle, spec,
			     CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE |
				     CPROF_CALL_INSTRUMENTATION_TAIL_CALL |
				     CPROF_CALL_INSTRUMENTATION_EXCEPTION_LEAVE);
	cprof_callspec_free(spec);
	cprof_profiler_set_method_enter_callback(handle, enter);
	cprof_profiler_set_method_leave_callback(handle, leave);
	cprof_profiler_set_method_tail_call_callback(handle, tail);
	cprof_profiler_set_method_exception_leave_callback(handle, unwind);
	if (!strstr(name, ".single"))
		cprof_profiler_set_method_block_callback(handle, block);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, end);
}
