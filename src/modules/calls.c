/* SPDX-License-Identifier: MIT
 *
 * `calls`: calls as they happen, as `cprof replay` shows them later.
 *
 *   calls:spec=SPEC,args,result,output=FILE,json
 *
 * A call's line can be finished when the next event of its thread is known.
 * What comes after it waits in a queue meanwhile, so that lines come in the
 * order of time; when that gets long, or a second has passed, the line at its
 * head is written as that of a call with calls in it.
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/doubt.h"
#include "base/text.h"
#include "modules/calls.h"
#include "modules/calls_json.h"
#include "modules/invoked.h"
#include "modules/modules.h"

#define QUEUE_MAX 64
#define INDENT_MOST 120 /* columns; deeper: the depth in digits */

/* ---- lines ---- */

static void add_label(void *ctx, uint64_t ns, uint32_t thread, struct cp_buf *out)
{
	const cprof_profiler *c = ctx;
	const cprof_thread *t = c->threads.items[thread].thread;
	char name[64];

	(void)ns;
	if (c->threads.count < 2)
		return;
	cprof_escape(name, sizeof(name), CPROF_ESCAPE_TERMINAL, cprof_thread_name(t));
	cp_line_add_label(out, name, cprof_thread_tid(t));
}

static void force_line(void *ctx, uint64_t number, uint32_t thread)
{
	cprof_profiler *c = ctx;
	struct calls_thread *t = &c->threads.items[thread];
	size_t i;

	if (t->tail.line == number)
		cp_transcript_end_tail(&c->lines, &t->tail);
	for (i = t->open.count; i--;)
		if (t->open.items[i].shown.line == number)
			cp_transcript_open_braces(&c->lines, &t->open.items[i].shown);
}

static void write_line(void *ctx, const struct cp_buf *text)
{
	cprof_profiler *c = ctx;

	if (c->out.file && text->size)
		fwrite(text->bytes, 1, text->size, c->out.file);
	cp_text_output_check(&c->out);
}

static const struct cp_transcript_owner owner = { add_label, force_line, write_line };

/* Writes what is finished; with `all` also what is not. */
static void write_lines(cprof_profiler *c, bool all)
{
	if (cp_transcript_write(&c->lines, all) && c->out.file)
		fflush(c->out.file);
	cp_text_output_check(&c->out);
}

static uint64_t since_start(const cprof_profiler *c, uint64_t ts_ns)
{
	return ts_ns > c->start_ns ? ts_ns - c->start_ns : 0;
}

static uint64_t number_of(const cprof_function *f)
{
	return f ? (uintptr_t)f : CP_NO_FUNCTION;
}

/* ---- values ---- */

static void add_value(struct cp_buf *out, const cprof_value *value)
{
	char text[256], *longer;
	size_t size = cprof_value_format(text, sizeof(text), value);

	if (size < sizeof(text)) {
		cp_buf_add(out, text, size);
		return;
	}
	longer = malloc(size + 1);
	if (longer && cprof_value_format(longer, size + 1, value) == size)
		cp_buf_add(out, longer, size);
	free(longer);
}

static void add_arguments(struct cp_buf *out, cprof_call_context *context)
{
	size_t count = cprof_call_context_argument_count(context), i;
	const cprof_value *v;

	for (i = 0; i < count; i++) {
		v = cprof_call_context_argument(context, i);
		if (i)
			cp_buf_str(out, ", ");
		if (v && v->guessed && v->name && *v->name) {
			cp_escape(out, CP_ESCAPE_TERMINAL, v->name, strlen(v->name));
			cp_buf_u8(out, '=');
		}
		add_value(out, v);
	}
}

/* ---- events ---- */

/* The thread of the event; NULL: nothing is to be said of it. */
static struct calls_thread *thread_of(cprof_profiler *c, const cprof_function *f, cprof_call *call,
				      uint32_t *number_ret)
{
	cprof_thread *thread = cprof_current_thread();
	struct calls_thread made = { .thread = thread, .tail = { .line = CP_NO_LINE } };
	uint64_t *known;

	if (!c->out.file || !thread || !cprof_current_call(call) ||
	    !cprof_callspec_match(c->chosen, f))
		return NULL;
	known = cp_map_get(&c->thread_numbers, (uintptr_t)thread);
	if (!known) {
		if (!cp_vec_push(&c->threads, made) ||
		    !cp_map_put(&c->thread_numbers, (uintptr_t)thread, c->threads.count - 1))
			return NULL;
		known = cp_map_get(&c->thread_numbers, (uintptr_t)thread);
	}
	*number_ret = (uint32_t)*known;
	return &c->threads.items[*known];
}

/* Calls whose ends nobody saw. */
static void drop_lost(cprof_profiler *c, struct calls_thread *t, uint32_t depth)
{
	while (t->open.count && t->open.items[t->open.count - 1].depth >= depth) {
		cp_transcript_open_braces(&c->lines, &t->open.items[t->open.count - 1].shown);
		t->open.count--;
	}
}

/* The caller, if no traced function called. */
static void add_invoker(struct cp_buf *out, const cprof_function *f)
{
	cprof_invocation by;
	struct cp_invoker names;

	if (!invoked_by(f, &by))
		return;
	names = invoked_names(&by);
	cp_invoker_text(&names, out);
}

static void on_enter(cprof_profiler *c, const cprof_function *f, cprof_call_context *context)
{
	struct cp_buf args CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf by CP_CLEANUP(cp_buf_free) = { 0 };
	struct calls_open open = { .function = f };
	struct cp_line_begin begin;
	struct calls_thread *t;
	cprof_call call;
	uint32_t number;

	t = thread_of(c, f, &call, &number);
	if (!t)
		return;
	if (c->json) {
		calls_json(c, "enter", f, &call, c->args ? context : NULL, NULL, 0);
		return;
	}
	open.depth = call.depth;
	drop_lost(c, t, call.depth);
	if (c->args && context)
		add_arguments(&args, context);
	add_invoker(&by, f);
	begin = (struct cp_line_begin){
		.ns = since_start(c, call.timestamp_ns),
		.thread = number,
		.depth = call.depth,
		.indent = (uint32_t)t->open.count,
		.function = number_of(f),
		.name = cprof_function_name(f),
		.invoker = by.size ? by.bytes : NULL,
		.arguments = args.bytes ? args.bytes : "",
	};
	if (!cp_transcript_begin_call(&c->lines, &t->tail,
				      t->open.count ? &t->open.items[t->open.count - 1].shown
						    : NULL,
				      &begin, &open.shown) ||
	    !cp_vec_push(&t->open, open))
		return;
	write_lines(c, false);
}

/* Takes the call that ends from the open ones; false: it was not seen to begin. */
static bool take_open(cprof_profiler *c, struct calls_thread *t, const cprof_function *f,
		      const cprof_call *call, struct calls_open *ret)
{
	drop_lost(c, t, call->depth + 1);
	if (!t->open.count || t->open.items[t->open.count - 1].depth != call->depth ||
	    t->open.items[t->open.count - 1].function != f)
		return false;
	*ret = t->open.items[--t->open.count];
	return true;
}

/* A call that is open, and whose enter is its process's parent's. */
static void on_inherited(cprof_profiler *c, const cprof_function *f)
{
	struct calls_open open = { .function = f,
				   .shown = { .line = CP_NO_LINE, .inherited = true } };
	struct calls_thread *t;
	cprof_call call;
	uint32_t number;

	t = thread_of(c, f, &call, &number);
	if (t && c->json) {
		calls_json(c, "inherited", f, &call, NULL, NULL, 0);
	} else if (t) {
		open.depth = call.depth;
		open.shown.indent = (uint32_t)t->open.count;
		cp_vec_push(&t->open, open);
	}
}

static uint64_t closing(cprof_profiler *c, const struct calls_open *open, uint32_t thread,
			uint64_t ts_ns)
{
	return cp_transcript_closing(&c->lines, &open->shown, cprof_function_name(open->function),
				     since_start(c, ts_ns), thread);
}

/* The line of the call that ends; CP_NO_LINE: it was not seen to begin, or there
 * is no memory. */
static uint64_t close_call(cprof_profiler *c, struct calls_thread *t, uint32_t thread,
			   const cprof_function *f, const cprof_call *call, struct calls_open *open)
{
	cp_transcript_end_tail(&c->lines, &t->tail);
	if (!take_open(c, t, f, call, open))
		return CP_NO_LINE;
	return closing(c, open, thread, call->timestamp_ns);
}

static uint64_t net_ns(const cprof_call *call)
{
	uint64_t ns = call->timestamp_ns - call->enter_ns;

	ns -= ns < call->overhead_ns ? ns : call->overhead_ns;
	return call->uncertain_ns && ns < CP_TIME_FINEST ? CP_TIME_FINEST : ns;
}

static enum cp_line_ending ending_of(const cprof_call *call, bool unwound)
{
	return !unwound		    ? CP_LINE_RETURNED
	       : call->process_exit ? CP_LINE_ENDED
	       : call->lost	    ? CP_LINE_LOST
	       : call->unsure	    ? CP_LINE_UNSURE
				    : CP_LINE_UNWOUND;
}

static void add_result(cprof_profiler *c, struct cp_transcript_line *line,
		       const cprof_value *result)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	add_value(&text, result);
	cp_line_result(&c->lines, line, text.bytes ? text.bytes : "", 0);
}

static void end_call(cprof_profiler *c, const cprof_function *f, bool unwound,
		     const cprof_value *result)
{
	struct calls_open open;
	struct calls_thread *t;
	struct cp_transcript_line *line;
	uint64_t number;
	uint32_t thread;
	cprof_call call;

	t = thread_of(c, f, &call, &thread);
	if (!t)
		return;
	if (c->json) {
		calls_json(c, unwound ? "unwind" : "leave", f, &call, NULL, result, 0);
		return;
	}
	number = close_call(c, t, thread, f, &call, &open);
	if (number == CP_NO_LINE)
		return;
	line = cp_transcript_at(&c->lines, number);
	cp_line_ending(&c->lines, line, ending_of(&call, unwound), 0);
	if (result)
		add_result(c, line, result);
	cp_line_time(&c->lines, line, open.shown.before_ns + net_ns(&call),
		     open.shown.at_most || call.uncertain_ns, 0);
	cp_line_end(line);
	write_lines(c, false);
}

static void on_leave(cprof_profiler *c, const cprof_function *f, cprof_call_context *context)
{
	end_call(c, f, false, c->result && context ? cprof_call_context_result(context) : NULL);
}

static void on_unwind(cprof_profiler *c, const cprof_function *f, const cprof_object *exception)
{
	(void)exception;
	end_call(c, f, true, NULL);
}

static void on_tail_call(cprof_profiler *c, const cprof_function *f, const cprof_function *target)
{
	struct calls_open open;
	struct calls_thread *t;
	uint64_t number;
	uint32_t thread;
	cprof_call call;

	t = thread_of(c, f, &call, &thread);
	if (!t)
		return;
	if (c->json) {
		calls_json_tail(c, f, &call, target);
		return;
	}
	number = close_call(c, t, thread, f, &call, &open);
	if (number == CP_NO_LINE)
		return;
	t->tail = (struct cp_line_tail){
		.line = number,
		.depth = call.depth,
		.indent = open.shown.indent,
		.target = number_of(target),
		.name = target ? cprof_function_name(target) : NULL,
		.ns = open.shown.before_ns + net_ns(&call),
		.at_most = open.shown.at_most || call.uncertain_ns,
	};
	write_lines(c, false);
}

/* A function is the same one in another process of the same program. */
static bool same_function(const cprof_function *a, const cprof_function *b)
{
	const cprof_image *of_a = cprof_function_image(a), *of_b = cprof_function_image(b);

	return cprof_image_assembly(of_a) == cprof_image_assembly(of_b) &&
	       cprof_function_address(a) - cprof_image_base(of_a) ==
		       cprof_function_address(b) - cprof_image_base(of_b);
}

/* The line of a call that is over without an end of its own. */
static void end_otherwise(cprof_profiler *c, const struct calls_open *open, uint32_t thread,
			  uint64_t ts_ns, enum cp_line_ending how)
{
	uint64_t number = closing(c, open, thread, ts_ns);

	if (number == CP_NO_LINE)
		return;
	cp_line_ending(&c->lines, cp_transcript_at(&c->lines, number), how, 0);
	cp_line_end(cp_transcript_at(&c->lines, number));
}

/* From here on nothing says how its calls end, in no thread. */
static void lose_calls(cprof_profiler *c, uint32_t thread, const cprof_function *f, uint64_t ts_ns)
{
	struct calls_thread *t = &c->threads.items[thread];
	size_t i, k;

	for (i = t->open.count; i--;) {
		if (!same_function(t->open.items[i].function, f))
			continue;
		end_otherwise(c, &t->open.items[i], thread, ts_ns, CP_LINE_LOST);
		for (k = i; k + 1 < t->open.count; k++)
			t->open.items[k] = t->open.items[k + 1];
		t->open.count--;
	}
}

static void on_disarmed(cprof_profiler *c, const cprof_function *f, uint32_t rate)
{
	static const char starved[] =
		" is no longer traced: signals came faster than they were handled";
	uint64_t number;
	uint32_t thread;
	char why[64];
	cprof_call call;
	size_t i;

	if (!thread_of(c, f, &call, &thread))
		return;
	if (c->json) {
		calls_json(c, "disarmed", f, &call, NULL, NULL, rate);
		return;
	}
	for (i = 0; i < c->threads.count; i++)
		lose_calls(c, (uint32_t)i, f, call.timestamp_ns);
	number = cp_transcript_new(&c->lines, since_start(c, call.timestamp_ns), thread, 0);
	if (number == CP_NO_LINE)
		return;
	snprintf(why, sizeof(why), " is no longer traced: %u calls in a second", rate);
	cp_line_disarmed(&c->lines, cp_transcript_at(&c->lines, number), cprof_function_name(f),
			 rate ? why : starved);
	write_lines(c, false);
}

/* ---- start and end ---- */

static void on_initialized(cprof_profiler *c)
{
	const cprof_process *p = cprof_current_process();

	/* The process's start, not this event's time: earlier events may come after it. */
	c->start_ns = p ? cprof_process_start(p) : cp_now();
	settings_open_late(c->handle, c->output, &c->out);
}

static void on_heartbeat(cprof_profiler *c)
{
	write_lines(c, true);
}

static void end_open(cprof_profiler *c, uint32_t thread, uint64_t now)
{
	struct calls_thread *t = &c->threads.items[thread];

	cp_transcript_end_tail(&c->lines, &t->tail);
	while (t->open.count)
		end_otherwise(c, &t->open.items[--t->open.count], thread, now, CP_LINE_OPEN);
}

static void on_shutdown(cprof_profiler *c)
{
	uint64_t now = cp_now();
	size_t i;

	for (i = 0; i < c->threads.count; i++)
		end_open(c, (uint32_t)i, now);
	write_lines(c, true);
	settings_close(c->handle, c->output, &c->out);
}

static void cleanup(cprof_profiler *c)
{
	size_t i;

	cp_text_output_close(&c->out);
	cp_transcript_deinit(&c->lines);
	for (i = 0; i < c->threads.count; i++)
		cp_vec_free(&c->threads.items[i].open);
	cp_vec_free(&c->threads);
	cp_map_free(&c->thread_numbers);
	cprof_callspec_free(c->chosen);
	free(c->output);
	free(c->spec);
	free(c);
}

/* ---- options ---- */

static const char usage[] =
	"calls: prints calls as they happen; --profile=calls[:OPTION[,OPTION...]]\n"
	"  spec=SPEC     which functions, as --trace takes it; 'program' unless told\n"
	"  args, result  with arguments, with results\n"
	"  when=EXPR     only calls for which EXPR over the arguments holds\n"
	"  max-rate=N    calls a second that end a function's tracing; 0: never\n"
	"  json          an event a line, with the keys of cprof replay --json\n"
	"  output=FILE   standard error unless told; +FILE, #DESCRIPTOR, |COMMAND and - as with "
	"log\n"
	"  help          this";

static bool set_text(char **to, const char *value)
{
	free(*to);
	*to = strdup(value);
	return *to != NULL;
}

static bool set_condition(cprof_profiler *c, const char *text)
{
	char *error = cprof_profiler_set_call_condition(text);

	if (error)
		cprof_profiler_fail(c->handle, "%s", error);
	free(error);
	return !error;
}

static bool take_option(cprof_profiler *c, const char *key, const char *value)
{
	uint64_t rate;

	if (!value) {
		c->args |= !strcmp(key, "args");
		c->result |= !strcmp(key, "result");
		c->json |= !strcmp(key, "json");
		return !strcmp(key, "args") || !strcmp(key, "result") || !strcmp(key, "json");
	}
	if (!strcmp(key, "spec") && *value)
		return set_text(&c->spec, value);
	if (!strcmp(key, "output") && *value)
		return set_text(&c->output, value);
	if (!strcmp(key, "when"))
		return set_condition(c, value);
	if (strcmp(key, "max-rate") != 0 || !cp_parse_u64(value, UINT32_MAX, &rate))
		return false;
	cprof_profiler_set_max_rate((uint32_t)rate, (uint32_t)rate);
	return true;
}

static unsigned call_flags(const cprof_profiler *c)
{
	return CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE |
	       CPROF_CALL_INSTRUMENTATION_TAIL_CALL | CPROF_CALL_INSTRUMENTATION_EXCEPTION_LEAVE |
	       (c->args ? CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT : 0) |
	       (c->result ? CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT : 0);
}

static const struct cp_look plain;

void cp_module_calls_init(const char *desc)
{
	cprof_profiler *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->lines = (struct cp_transcript){ .owner = &owner,
					   .ctx = c,
					   .look = &plain,
					   .longest = QUEUE_MAX,
					   .most_indent = INDENT_MOST };
	c->output = strdup("#2");
	c->spec = strdup("program");
	if (c->output && c->spec)
		c->handle = cprof_profiler_create(c);
	if (!c->handle) {
		cleanup(c);
		return;
	}
	cprof_profiler_set_cleanup_callback(c->handle, cleanup);
	if (!settings_parse(c->handle, c, desc, usage, take_option) ||
	    !settings_trace(c->handle, c->spec, call_flags(c), &c->chosen) ||
	    !settings_open_early(c->handle, c->output, &c->out))
		return;
	if (c->args || c->result)
		cprof_profiler_enable_call_context_introspection();
	cprof_profiler_set_runtime_initialized_callback(c->handle, on_initialized);
	cprof_profiler_set_runtime_shutdown_end_callback(c->handle, on_shutdown);
	cprof_profiler_set_heartbeat_callback(c->handle, on_heartbeat);
	cprof_profiler_set_method_enter_callback(c->handle, on_enter);
	cprof_profiler_set_method_leave_callback(c->handle, on_leave);
	cprof_profiler_set_method_inherited_callback(c->handle, on_inherited);
	cprof_profiler_set_method_tail_call_callback(c->handle, on_tail_call);
	cprof_profiler_set_method_exception_leave_callback(c->handle, on_unwind);
	cprof_profiler_set_method_disarmed_callback(c->handle, on_disarmed);
}
