/* SPDX-License-Identifier: MIT
 *
 * `calls:json`: an event a line, with the keys of `cprof replay --json`.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "modules/calls_json.h"
#include "modules/invoked.h"
#include "transcript/json.h"

typedef size_t (*format_fn)(char *buffer, size_t size, const cprof_value *value);

static char *formatted(format_fn format, const cprof_value *value)
{
	size_t size = format(NULL, 0, value);
	char *text = malloc(size + 1);

	if (text)
		format(text, size + 1, value);
	return text;
}

static void add_value(struct cp_json *j, const char *key, const cprof_value *value)
{
	CP_FREE char *json = formatted(cprof_value_format_json, value);
	CP_FREE char *text = formatted(cprof_value_format, value);
	CP_FREE char *lacks = formatted(cprof_value_format_lacks, value);

	if (!json || !*json || !text) {
		cp_json_null(j, key);
		return;
	}
	cp_json_begin(j, key, '{');
	if (value->name && *value->name)
		cp_json_str(j, "name", value->name);
	cp_json_str(j, "type", value->type ? value->type : "");
	cp_buf_str(j->out, ",\"value\":");
	cp_buf_str(j->out, json);
	cp_json_str(j, "text", text);
	if (lacks && *lacks)
		cp_json_raw(j, "lacks", lacks, strlen(lacks));
	cp_json_end(j, '}');
}

static struct cp_json begin(cprof_profiler *c, struct cp_buf *out, const char *event,
			    const cprof_function *f, const cprof_call *call)
{
	const cprof_thread *t = cprof_current_thread();
	const int32_t pid = cprof_process_pid(cprof_thread_process(t)), tid = cprof_thread_tid(t);
	const struct cp_json_event all = {
		.name = event,
		.ns = call->timestamp_ns > c->start_ns ? call->timestamp_ns - c->start_ns : 0,
		.pid = pid,
		.ns_pid = pid,
		.tid = tid,
		.ns_tid = tid,
		.function = cprof_function_name(f),
		.image = cprof_image_name(cprof_function_image(f)),
		.depth = call->depth,
	};
	struct cp_json j = { .out = out };

	cp_json_event_begin(&j, &all);
	return j;
}

static void finish(cprof_profiler *c, struct cp_json *j)
{
	cp_json_event_end(j);
	if (!j->out->failed) {
		fwrite(j->out->bytes, 1, j->out->size, c->out.file);
		fflush(c->out.file);
		cp_text_output_check(&c->out);
	}
}

static void add_times(struct cp_json *j, const cprof_call *call)
{
	cp_json_event_times(j, call->timestamp_ns - call->enter_ns, call->overhead_ns,
			    call->uncertain_ns, call->cpu_ns);
}

static void add_invoker(struct cp_json *j, const cprof_function *f)
{
	cprof_invocation by;
	struct cp_invoker names;

	if (!invoked_by(f, &by))
		return;
	names = invoked_names(&by);
	cp_invoker_members(&names, j);
}

void calls_json(cprof_profiler *c, const char *event, const cprof_function *f,
		const cprof_call *call, cprof_call_context *context, const cprof_value *result,
		uint32_t rate)
{
	struct cp_buf out CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_json j = begin(c, &out, event, f, call);
	size_t count = context ? cprof_call_context_argument_count(context) : 0, i;

	if (!strcmp(event, "enter"))
		add_invoker(&j, f);
	if (count) {
		cp_json_begin(&j, "args", '[');
		for (i = 0; i < count; i++)
			add_value(&j, NULL, cprof_call_context_argument(context, i));
		cp_json_end(&j, ']');
	}
	cp_json_event_unwound(&j, call->process_exit, call->unsure, call->lost);
	if (result)
		add_value(&j, "result", result);
	if (!strcmp(event, "leave") || !strcmp(event, "unwind"))
		add_times(&j, call);
	if (rate)
		cp_json_u64(&j, "rate", rate);
	finish(c, &j);
}

void calls_json_tail(cprof_profiler *c, const cprof_function *f, const cprof_call *call,
		     const cprof_function *target)
{
	struct cp_buf out CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_json j = begin(c, &out, "tail_call", f, call);

	cp_json_str(&j, "target", target ? cprof_function_name(target) : NULL);
	add_times(&j, call);
	finish(c, &j);
}
