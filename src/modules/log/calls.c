/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for calls.
 *
 *   log:trace=SPEC                 calls of the functions that match; repeated: together
 *   log:args, result, locals       with values; depth=N, string=N: how much of them
 *   log:changes                    with what is different behind arguments at the return
 *   log:when=EXPR                  only calls for which that holds
 *   log:stack                      a stack with each call
 *   log:cpu-time                   the CPU time of each call
 *   log:max-rate=N                 calls a second that end a function's tracing; 0: never
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "modules/invoked.h"
#include "modules/log/recorder.h"

#define CALLS \
	(CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE | \
	 CPROF_CALL_INSTRUMENTATION_TAIL_CALL | CPROF_CALL_INSTRUMENTATION_EXCEPTION_LEAVE)

/* ---- events ---- */

uint32_t log_function(cprof_profiler *log, const cprof_function *f)
{
	uint64_t *known = cp_map_get(&log->functions, (uintptr_t)f);
	const cprof_image *image = cprof_function_image(f);
	uint32_t location;

	if (known)
		return (uint32_t)*known;
	location = cp_record_location(log->writer, log_image(log, image),
				      cprof_function_address(f) - cprof_image_base(image), 0);
	cp_map_put(&log->functions, (uintptr_t)f, location);
	return location;
}

/* What all events have; false: nothing can be recorded. */
static bool begin(cprof_profiler *log, const cprof_function *f, enum cp_record_call_kind kind,
		  struct cp_record_call *ret)
{
	cprof_call call;
	uint64_t *thread;

	if (!log->writer || !cprof_current_call(&call) || !cprof_current_thread())
		return false;
	if (log->call_depth && call.depth >= log->call_depth)
		return false;
	thread = log_thread(log, cprof_current_thread());
	if (!thread)
		return false;
	log->values.count = 0;
	*ret = (struct cp_record_call){
		.ts_ns = call.timestamp_ns,
		.kind = (uint8_t)kind,
		.flags = (uint8_t)((call.process_exit ? CP_RECORD_CALL_ENDED : 0) |
				   (call.unsure ? CP_RECORD_CALL_UNSURE : 0)),
		.thread = (uint32_t)*thread,
		.function = log_function(log, f),
		.depth = call.depth,
		.target = CP_RECORD_NONE,
		.stack = CP_RECORD_NONE,
		.duration_ns = call.timestamp_ns - call.enter_ns,
		.overhead_ns = call.overhead_ns,
		.uncertain_ns = call.uncertain_ns,
		.cpu_ns = call.cpu_ns,
	};
	return true;
}

static void end(cprof_profiler *log, struct cp_record_call *r)
{
	r->values = log->values.items;
	r->value_count = (uint32_t)log->values.count;
	cp_record_call(log->writer, r);
	log->calls++;
}

static void add_value(cprof_profiler *log, const cprof_value *value)
{
	if (value && !cp_vec_push(&log->values, *value))
		log->values.count = 0;
}

static void add_invoker(cprof_profiler *log, const cprof_function *f, struct cp_record_call *r)
{
	cprof_invocation by;

	if (!invoked_by(f, &by))
		return;
	r->flags |= (uint8_t)(by.by << 2);
	if (by.by == CPROF_INVOKER_SIGNAL)
		r->count = (uint32_t)by.signal;
	else if (by.by == CPROF_INVOKER_CODE && by.image)
		r->target = cp_record_location(log->writer, log_image(log, by.image),
					       by.caller - 1 - cprof_image_base(by.image), 0);
}

static void on_enter(cprof_profiler *log, const cprof_function *f, cprof_call_context *context)
{
	struct cp_record_call r;
	size_t count, i;

	if (!begin(log, f, CP_RECORD_ENTER, &r))
		return;
	add_invoker(log, f, &r);
	if (log->stacks)
		r.stack = log_stack(log, cprof_function_address(f));
	count = context && log->arguments ? cprof_call_context_argument_count(context) : 0;
	for (i = 0; i < count; i++)
		add_value(log, cprof_call_context_argument(context, i));
	end(log, &r);
}

static uint32_t add_changes(cprof_profiler *log, cprof_call_context *context)
{
	size_t count = cprof_call_context_argument_count(context), i, before = log->values.count;

	for (i = 0; i < count; i++)
		add_value(log, cprof_call_context_changed(context, i));
	return log->values.count > before ? (uint32_t)(log->values.count - before) : 0;
}

static void on_leave(cprof_profiler *log, const cprof_function *f, cprof_call_context *context)
{
	struct cp_record_call r;
	size_t count, i;

	if (!begin(log, f, CP_RECORD_LEAVE, &r))
		return;
	if (context && log->result)
		add_value(log, cprof_call_context_result(context));
	r.result_count = log->values.count != 0;
	count = context && log->locals ? cprof_call_context_local_count(context) : 0;
	if (count)
		r.flags |= CP_RECORD_CALL_LOCALS;
	for (i = 0; i < count; i++)
		add_value(log, cprof_call_context_local(context, i));
	if (context && log->changes)
		r.changed_count = add_changes(log, context);
	end(log, &r);
}

static void on_tail_call(cprof_profiler *log, const cprof_function *f, const cprof_function *target)
{
	struct cp_record_call r;

	if (!begin(log, f, CP_RECORD_TAIL_CALL, &r))
		return;
	if (target)
		r.target = log_function(log, target);
	end(log, &r);
}

static void on_unwind(cprof_profiler *log, const cprof_function *f, const cprof_object *exception)
{
	struct cp_record_call r;

	(void)exception;
	if (begin(log, f, CP_RECORD_UNWIND, &r))
		end(log, &r);
}

static void on_inherited(cprof_profiler *log, const cprof_function *f)
{
	uint64_t *thread = NULL;
	struct cp_record_call r;
	int32_t tid = 0;

	if (!begin(log, f, CP_RECORD_INHERITED, &r))
		return;
	if (cprof_current_call_inherited(&tid) && cprof_thread_from_tid(tid))
		thread = log_thread(log, cprof_thread_from_tid(tid));
	r.entered_by = thread ? (uint32_t)*thread : CP_RECORD_NONE;
	end(log, &r);
}

static void on_disarmed(cprof_profiler *log, const cprof_function *f, uint32_t rate)
{
	cprof_thread *t = cprof_current_thread();
	uint64_t *thread = log->writer && t ? log_thread(log, t) : NULL;
	cprof_call call;

	log->disarmed++;
	if (!thread || !cprof_current_call(&call))
		return;
	cp_record_call(log->writer, &(struct cp_record_call){
					    .ts_ns = call.timestamp_ns,
					    .kind = CP_RECORD_DISARMED,
					    .thread = (uint32_t)*thread,
					    .function = log_function(log, f),
					    .target = CP_RECORD_NONE,
					    .stack = CP_RECORD_NONE,
					    .count = rate,
				    });
}

/* ---- settings ---- */

static bool add_spec(cprof_profiler *log, const char *text)
{
	char *error = NULL;
	cprof_callspec *spec = cprof_callspec_parse(text, &error);

	if (!spec) {
		cprof_profiler_fail(log->handle, "%s", error ? error : "out of memory");
		free(error);
		return false;
	}
	log->trace = cp_vec_push(&log->specs, spec);
	return log->trace;
}

static bool set_condition(cprof_profiler *log, const char *text)
{
	char *error = cprof_profiler_set_call_condition(text);

	if (!error)
		return true;
	cprof_profiler_fail(log->handle, "%s", error);
	free(error);
	return false;
}

static bool set_number(const char *value, uint32_t *ret)
{
	uint64_t n;

	if (!cp_parse_u64(value, UINT32_MAX, &n))
		return false;
	*ret = (uint32_t)n;
	return true;
}

static bool set_rate(const char *value)
{
	uint32_t rate;

	if (!set_number(value, &rate))
		return false;
	cprof_profiler_set_max_rate(rate, rate);
	return true;
}

bool log_calls_option(cprof_profiler *log, const char *key, const char *value)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "args", &log->arguments }, { "result", &log->result },
		{ "locals", &log->locals },  { "changes", &log->changes },
		{ "stack", &log->stacks },   { "cpu-time", &log->cpu_time },
	};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]) && !value; i++) {
		if (strcmp(key, flags[i].name))
			continue;
		*flags[i].flag = true;
		return true;
	}
	if (!value)
		return false;
	if (!strcmp(key, "trace"))
		return add_spec(log, value);
	if (!strcmp(key, "when"))
		return set_condition(log, value);
	if (!strcmp(key, "max-rate"))
		return set_rate(value);
	if (!strcmp(key, "depth"))
		return set_number(value, &log->depth);
	return !strcmp(key, "string") && set_number(value, &log->string);
}

void log_calls_start(cprof_profiler *log)
{
	unsigned flags = CALLS;
	size_t i;

	if (log->calls_asked && !log->trace && !log->no_calls)
		add_spec(log, "program");
	log->trace &= !log->no_calls;
	if (log->trace || log->exceptions || log->locks || log->allocations)
		cprof_profiler_set_method_disarmed_callback(log->handle, on_disarmed);
	if (!log->trace)
		return;
	if (log->arguments || log->changes)
		flags |= CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT;
	if (log->result || log->locals || log->changes)
		flags |= CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT;
	if (log->changes)
		flags |= CPROF_CALL_INSTRUMENTATION_CHANGES;
	if (log->locals)
		flags |= CPROF_CALL_INSTRUMENTATION_LOCALS;
	if (log->stacks)
		flags |= CPROF_CALL_INSTRUMENTATION_STACK;
	if (log->arguments || log->result || log->locals || log->changes)
		cprof_profiler_enable_call_context_introspection();
	if (log->cpu_time)
		cprof_profiler_enable_call_cpu_time();
	cprof_profiler_set_value_limits(log->depth, log->string);
	for (i = 0; i < log->specs.count; i++)
		cprof_profiler_trace(log->handle, log->specs.items[i], flags);
	cprof_profiler_set_method_enter_callback(log->handle, on_enter);
	cprof_profiler_set_method_leave_callback(log->handle, on_leave);
	cprof_profiler_set_method_tail_call_callback(log->handle, on_tail_call);
	cprof_profiler_set_method_exception_leave_callback(log->handle, on_unwind);
	cprof_profiler_set_method_inherited_callback(log->handle, on_inherited);
}

uint32_t log_calls_hold(const cprof_profiler *log)
{
	bool values = log->arguments || log->result || log->locals || log->changes;

	return log->trace ? CP_RECORD_HAS_CALLS | (values ? CP_RECORD_HAS_ARGUMENTS : 0) : 0;
}

void log_calls_totals(const cprof_profiler *log, struct cp_record_totals *t)
{
	cprof_call_statistics c;

	cprof_get_call_statistics(&c);
	t->calls = log->calls;
	t->call_stops = c.hits;
	t->call_rejected_inside = c.rejected_inside;
	t->call_rejected_condition = c.rejected_condition;
	t->call_rejected_late = c.rejected_late;
	t->call_unmatched = c.unmatched;
	t->call_functions = c.functions;
	t->call_sites = c.sites;
	t->call_disarmed = log->disarmed;
	t->trap_ns = c.trap_ns;
	t->trap_low_ns = c.trap_low_ns;
	t->trap_high_ns = c.trap_high_ns;
	t->traps = c.traps;
}

void log_calls_free(cprof_profiler *log)
{
	size_t i;

	for (i = 0; i < log->specs.count; i++)
		cprof_callspec_free(log->specs.items[i]);
	cp_vec_free(&log->specs);
	cp_vec_free(&log->values);
	cp_map_free(&log->functions);
}
