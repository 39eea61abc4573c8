/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for exceptions: log:exceptions.
 *
 * They are recorded among the calls, in the order of events.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "modules/log/disarmed.h"
#include "modules/log/families.h"
#include "modules/log/numbers.h"
#include "modules/log/stack.h"

static bool begins_with_one_of(const char *name, const char *const *begins)
{
	for (; *begins; begins++)
		if (cp_starts_with(name, *begins))
			return true;
	return false;
}

/* Rust's own libraries: who called them made the mistake. */
static bool is_rust_library(const char *name)
{
	static const char *const impls[] = { "<usize as core::", "<[T] as core::", NULL };
	static const char *const crates[] = { "core::", "alloc::", "std::", NULL };

	return begins_with_one_of(name, impls) || begins_with_one_of(name + (*name == '<'), crates);
}

/* The functions by which a program throws, on their way to the unwinder: those
 * of C++, of Rust. Who called them throws. */
static bool is_runtime(const char *name)
{
	static const char *const begins[] = {
		"_Unwind_",
		"__cxa_throw",
		"__cxa_rethrow",
		"std::rethrow_exception",
		"std::rethrow_if_nested",
		"__rust_start_panic",
		"__rustc::",
		"rust_panic",
		"rust_begin_unwind",
		"panic_unwind::",
		NULL,
	};

	return begins_with_one_of(name, begins);
}

struct thrower {
	cprof_profiler *log;
	bool rust;
	uint32_t location;
};

static cprof_walk find_thrower(const cprof_function *function, cprof_addr ip,
			       const cprof_frame_info *frame, size_t size,
			       const cprof_context *context, void *data)
{
	struct thrower *t = data;
	const char *name = function ? cprof_function_name(function) : NULL;

	(void)ip;
	(void)size;
	(void)context;
	t->location = cp_record_location(t->log->writer,
					 cp_recorder_image(t->log, cprof_frame_info_image(frame)),
					 cprof_frame_info_address(frame), 0);
	return name && (is_runtime(name) || (t->rust && is_rust_library(name)))
		       ? CPROF_WALK_CONTINUE
		       : CPROF_WALK_ABORT;
}

static uint32_t walk_to_thrower(cprof_profiler *log, bool rust)
{
	struct thrower thrower = { .log = log, .rust = rust, .location = CP_RECORD_NONE };

	cprof_do_stack_snapshot(cprof_current_thread(), find_thrower, CPROF_SNAPSHOT_ALL_FRAMES,
				&thrower, NULL, 0);
	return thrower.location != CP_RECORD_NONE
		       ? thrower.location
		       : cp_record_location(log->writer, CP_RECORD_NONE, 0, 0);
}

/* Where it was thrown, which stacks of C++ tell alone. */
static uint32_t thrower_of(cprof_profiler *log, const cprof_object *exception)
{
	bool rust = exception->type_name && !strcmp(exception->type_name, "panic");
	struct cp_recorder_stack *known = rust ? NULL : cp_recorder_stack_known(log);
	uint32_t location;

	if (known && known->thrower != CP_RECORD_NONE)
		return known->thrower;
	location = walk_to_thrower(log, rust);
	if (known)
		known->thrower = location;
	return location;
}

/* False: nothing can be recorded. */
static bool begin(cprof_profiler *log, const cprof_object *exception, enum cp_record_call_kind kind,
		  cprof_value *value, struct cp_record_call *ret)
{
	cprof_call call;

	if (log->paused || !cprof_current_call(&call) || !cp_recorder_event(log, &call, kind, ret))
		return false;
	*value = (cprof_value){
		.kind = CPROF_VALUE_POINTER,
		.size = sizeof(cprof_addr),
		.name = "exception",
		.type = exception->type_name ? exception->type_name : "",
		.u.u = exception->address,
	};
	ret->values = value;
	ret->value_count = 1;
	return true;
}

static void on_throw(cprof_profiler *log, const cprof_object *exception)
{
	struct cp_record_call r;
	cprof_value value;

	if (!begin(log, exception, CP_RECORD_THROW, &value, &r))
		return;
	r.flags = cprof_current_exception_rethrown() ? CP_RECORD_RETHROWN : 0;
	r.function = thrower_of(log, exception);
	if (log->stacks)
		r.stack = cp_recorder_stack(log, 0);
	cp_recorder_call(log, &r);
}

/* Cleanup on the way is not recorded. */
static void on_clause(cprof_profiler *log, const cprof_function *method, uint32_t index,
		      cprof_exception_clause_type type, const cprof_object *exception)
{
	struct cp_record_call r;
	cprof_value value;

	if (type == CPROF_EXCEPTION_CLAUSE_FINALLY ||
	    !begin(log, exception, CP_RECORD_CATCH, &value, &r))
		return;
	r.function = cp_recorder_function(log, method);
	r.count = index;
	cp_recorder_call(log, &r);
}

static void start(cprof_profiler *log)
{
	cprof_profiler_set_exception_throw_callback(log->handle, on_throw);
	cprof_profiler_set_exception_clause_callback(log->handle, on_clause);
	cprof_profiler_enable_clauses();
	if (log->stacks)
		cprof_profiler_enable_exception_stacks();
	cp_recorder_watch_disarmed(log);
}

const struct cp_recorder_family cp_recorder_exceptions = {
	.option = "exceptions",
	.mono = (const char *const[]){ "exception", NULL },
	.holds = CP_RECORD_HAS_EXCEPTIONS,
	.start = start,
};
