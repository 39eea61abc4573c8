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
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "modules/calls.h"
#include "modules/calls_json.h"
#include "modules/invoked.h"
#include "modules/modules.h"

#define QUEUE_MAX 64
#define INDENT_MOST 60 /* calls; deeper: the depth in digits */
#define THREAD_COLUMNS 12

/* ---- lines ---- */

static struct calls_line *line_at(cprof_profiler *c, uint64_t number)
{
	return &c->queue.items[c->head + (size_t)(number - c->first)];
}

static void add_thread(cprof_profiler *c, struct cp_buf *out, const cprof_thread *thread)
{
	char name[64];
	size_t columns;

	if (c->threads.count < 2)
		return;
	cprof_escape(name, sizeof(name), CPROF_ESCAPE_TERMINAL, cprof_thread_name(thread));
	columns = cp_text_columns(name);
	cp_buf_printf(out, "%s%*s %7d  ", name,
		      columns < THREAD_COLUMNS ? (int)(THREAD_COLUMNS - columns) : 0, "",
		      cprof_thread_tid(thread));
}

/* A new line, begun with time, thread and indentation; NO_LINE without
 * memory. */
static uint64_t new_line(cprof_profiler *c, uint64_t ts_ns, uint32_t thread, uint32_t indent)
{
	uint64_t ns = ts_ns > c->start_ns ? ts_ns - c->start_ns : 0;
	struct calls_line line = { .open = true, .thread = thread };

	cp_buf_printf(&line.text, "%5" PRIu64 ".%06" PRIu64 "  ", ns / 1000000000,
		      ns / 1000 % 1000000);
	add_thread(c, &line.text, c->threads.items[thread].thread);
	if (indent > INDENT_MOST)
		cp_buf_printf(&line.text, "%-*u", 2 * INDENT_MOST, indent);
	else
		cp_buf_printf(&line.text, "%*s", 2 * (int)indent, "");
	if (!cp_vec_push(&c->queue, line)) {
		cp_buf_free(&line.text);
		return NO_LINE;
	}
	return c->first + (c->queue.count - 1 - c->head);
}

static void end_line(struct calls_line *line)
{
	cp_buf_u8(&line->text, '\n');
	line->open = false;
}

static void add_function(struct cp_buf *out, const cprof_function *function)
{
	const char *name = cprof_function_name(function);

	cp_escape(out, CP_ESCAPE_TERMINAL, name, cp_short_name(name));
}

static void add_duration(struct cp_buf *out, uint64_t ns, bool at_most)
{
	cp_buf_str(out, "  ");
	cp_add_time_at_most(out, ns, at_most);
}

static void open_braces(cprof_profiler *c, struct calls_open *call)
{
	struct calls_line *line;

	if (call->line == NO_LINE)
		return;
	line = line_at(c, call->line);
	cp_buf_str(&line->text, " {");
	end_line(line);
	call->line = NO_LINE;
}

static void end_tail(cprof_profiler *c, struct calls_thread *t)
{
	struct calls_line *line;

	if (t->tail.line == NO_LINE)
		return;
	line = line_at(c, t->tail.line);
	cp_buf_str(&line->text, " ⇒ ");
	if (t->tail.target)
		add_function(&line->text, t->tail.target);
	else
		cp_buf_u8(&line->text, '?');
	add_duration(&line->text, t->tail.ns, t->tail.at_most);
	end_line(line);
	t->tail.line = NO_LINE;
}

/* What the line at the head waits for does not come for long. */
static void force_head(cprof_profiler *c)
{
	struct calls_line *line = &c->queue.items[c->head];
	struct calls_thread *t = &c->threads.items[line->thread];
	size_t i;

	if (t->tail.line == c->first)
		end_tail(c, t);
	for (i = t->open.count; i--;)
		if (t->open.items[i].line == c->first)
			open_braces(c, &t->open.items[i]);
	if (c->queue.items[c->head].open) /* nobody's */
		end_line(&c->queue.items[c->head]);
}

/* Writes what is finished; with `all` also what is not. */
static void write_lines(cprof_profiler *c, bool all)
{
	bool any = false;
	size_t i;

	while (c->head < c->queue.count) {
		struct calls_line *line = &c->queue.items[c->head];

		if (line->open && (all || c->queue.count - c->head > QUEUE_MAX))
			force_head(c);
		if (line->open)
			break;
		if (c->out.file && line->text.size)
			fwrite(line->text.bytes, 1, line->text.size, c->out.file);
		cp_text_output_check(&c->out);
		any = true;
		cp_buf_free(&line->text);
		c->head++;
		c->first++;
	}
	for (i = c->head; i < c->queue.count; i++)
		c->queue.items[i - c->head] = c->queue.items[i];
	c->queue.count -= c->head;
	c->head = 0;
	if (any && c->out.file)
		fflush(c->out.file);
	cp_text_output_check(&c->out);
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
	struct calls_thread made = { .thread = thread, .tail = { .line = NO_LINE } };
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
		open_braces(c, &t->open.items[t->open.count - 1]);
		t->open.count--;
	}
}

/* Where no traced function called: who did. */
static void add_invoker(struct cp_buf *out, const cprof_function *f)
{
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };
	cprof_invocation by;

	if (!invoked_by(f, &by))
		return;
	invoked_name(&by, &raw);
	if (raw.size)
		cp_escape(out, CP_ESCAPE_TERMINAL, raw.bytes, raw.size);
	cp_buf_str(out, ": ");
}

static void on_enter(cprof_profiler *c, const cprof_function *f, cprof_call_context *context)
{
	struct calls_open open = { .function = f };
	struct calls_thread *t;
	struct calls_line *line;
	cprof_call call;
	uint32_t number;
	bool continues;

	t = thread_of(c, f, &call, &number);
	if (!t)
		return;
	if (c->json) {
		calls_json(c, "enter", f, &call, c->args ? context : NULL, NULL, 0);
		return;
	}
	open.depth = call.depth;
	drop_lost(c, t, call.depth);
	continues = t->tail.line != NO_LINE && t->tail.depth == call.depth && t->tail.target == f;
	if (continues) {
		open.line = t->tail.line;
		open.indent = t->tail.indent;
		open.before_ns = t->tail.ns;
		open.at_most = t->tail.at_most;
		t->tail.line = NO_LINE;
		cp_buf_str(&line_at(c, open.line)->text, " ⇒ ");
	} else {
		end_tail(c, t);
		if (t->open.count)
			open_braces(c, &t->open.items[t->open.count - 1]);
		open.indent = (uint32_t)t->open.count;
		open.line = new_line(c, call.timestamp_ns, number, open.indent);
	}
	if (open.line == NO_LINE || !cp_vec_push(&t->open, open))
		return;
	line = line_at(c, open.line);
	if (!continues)
		add_invoker(&line->text, f);
	add_function(&line->text, f);
	cp_buf_u8(&line->text, '(');
	if (c->args && context)
		add_arguments(&line->text, context);
	cp_buf_u8(&line->text, ')');
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
	struct calls_open open = { .function = f, .line = NO_LINE, .inherited = true };
	struct calls_thread *t;
	cprof_call call;
	uint32_t number;

	t = thread_of(c, f, &call, &number);
	if (t && c->json) {
		calls_json(c, "inherited", f, &call, NULL, NULL, 0);
	} else if (t) {
		open.depth = call.depth;
		open.indent = (uint32_t)t->open.count;
		cp_vec_push(&t->open, open);
	}
}

static uint64_t line_for_end(cprof_profiler *c, const struct calls_open *open, uint32_t thread,
			     uint64_t ts_ns)
{
	uint64_t number = open->line;

	if (number != NO_LINE)
		return number;
	number = new_line(c, ts_ns, thread, open->indent);
	if (number != NO_LINE)
		cp_buf_u8(&line_at(c, number)->text, '}');
	if (number != NO_LINE && open->inherited) {
		cp_buf_u8(&line_at(c, number)->text, ' ');
		add_function(&line_at(c, number)->text, open->function);
		cp_buf_str(&line_at(c, number)->text, " (called before the fork)");
	}
	return number;
}

/* The line of the call that ends; NO_LINE: it was not seen to begin, or there
 * is no memory. */
static uint64_t close_call(cprof_profiler *c, struct calls_thread *t, uint32_t thread,
			   const cprof_function *f, const cprof_call *call, struct calls_open *open)
{
	end_tail(c, t);
	if (!take_open(c, t, f, call, open))
		return NO_LINE;
	return line_for_end(c, open, thread, call->timestamp_ns);
}

static uint64_t net_ns(const cprof_call *call)
{
	uint64_t ns = call->timestamp_ns - call->enter_ns;

	return ns > call->overhead_ns ? ns - call->overhead_ns : 0;
}

static void end_call(cprof_profiler *c, const cprof_function *f, const char *how,
		     const cprof_value *result)
{
	struct calls_open open;
	struct calls_thread *t;
	struct calls_line *line;
	uint64_t number;
	uint32_t thread;
	cprof_call call;

	t = thread_of(c, f, &call, &thread);
	if (!t)
		return;
	if (c->json) {
		calls_json(c, how ? "unwind" : "leave", f, &call, NULL, result, 0);
		return;
	}
	number = close_call(c, t, thread, f, &call, &open);
	if (number == NO_LINE)
		return;
	line = line_at(c, number);
	if (how)
		cp_buf_str(&line->text, call.process_exit ? " ✗ its thread ended"
					: call.unsure	  ? " ✗ unwound, or at rest"
							  : how);
	if (result) {
		cp_buf_str(&line->text, " = ");
		add_value(&line->text, result);
	}
	add_duration(&line->text, open.before_ns + net_ns(&call),
		     open.at_most || call.uncertain_ns);
	end_line(line);
	write_lines(c, false);
}

static void on_leave(cprof_profiler *c, const cprof_function *f, cprof_call_context *context)
{
	end_call(c, f, NULL, c->result && context ? cprof_call_context_result(context) : NULL);
}

static void on_unwind(cprof_profiler *c, const cprof_function *f, const cprof_object *exception)
{
	(void)exception;
	end_call(c, f, " ✗ unwound", NULL);
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
	if (number == NO_LINE)
		return;
	t->tail = (struct calls_tail){ number,
				       call.depth,
				       open.indent,
				       target,
				       open.before_ns + net_ns(&call),
				       open.at_most || call.uncertain_ns };
	write_lines(c, false);
}

/* The same one, maybe of another process. */
static bool same_function(const cprof_function *a, const cprof_function *b)
{
	const cprof_image *of_a = cprof_function_image(a), *of_b = cprof_function_image(b);

	return cprof_image_assembly(of_a) == cprof_image_assembly(of_b) &&
	       cprof_function_address(a) - cprof_image_base(of_a) ==
		       cprof_function_address(b) - cprof_image_base(of_b);
}

/* From here on nothing says how its calls end, in no thread. */
static void lose_calls(cprof_profiler *c, uint32_t thread, const cprof_function *f, uint64_t ts_ns)
{
	struct calls_thread *t = &c->threads.items[thread];
	size_t i, k;

	for (i = t->open.count; i--;) {
		uint64_t number;

		if (!same_function(t->open.items[i].function, f))
			continue;
		number = line_for_end(c, &t->open.items[i], thread, ts_ns);
		if (number != NO_LINE) {
			cp_buf_str(&line_at(c, number)->text, " … its end was lost");
			end_line(line_at(c, number));
		}
		for (k = i; k + 1 < t->open.count; k++)
			t->open.items[k] = t->open.items[k + 1];
		t->open.count--;
	}
}

static void on_disarmed(cprof_profiler *c, const cprof_function *f, uint32_t rate)
{
	struct calls_thread *t;
	struct calls_line *line;
	uint64_t number;
	uint32_t thread;
	cprof_call call;
	size_t i;

	t = thread_of(c, f, &call, &thread);
	if (!t)
		return;
	if (c->json) {
		calls_json(c, "disarmed", f, &call, NULL, NULL, rate);
		return;
	}
	for (i = 0; i < c->threads.count; i++)
		lose_calls(c, (uint32_t)i, f, call.timestamp_ns);
	number = new_line(c, call.timestamp_ns, thread, 0);
	if (number == NO_LINE)
		return;
	line = line_at(c, number);
	cp_buf_str(&line->text, "! ");
	add_function(&line->text, f);
	if (rate)
		cp_buf_printf(&line->text, " is no longer traced: %u calls in a second", rate);
	else
		cp_buf_str(&line->text,
			   " is no longer traced: signals came faster than they were handled");
	end_line(line);
	write_lines(c, false);
}

/* ---- start and end ---- */

static void on_initialized(cprof_profiler *c)
{
	const cprof_process *p = cprof_current_process();

	/* What this event waited for, others did not wait for. */
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
	uint64_t number;

	end_tail(c, t);
	while (t->open.count) {
		struct calls_open *open = &t->open.items[--t->open.count];

		number = line_for_end(c, open, thread, now);
		if (number == NO_LINE)
			continue;
		cp_buf_str(&line_at(c, number)->text, " … not over at the end");
		end_line(line_at(c, number));
	}
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
	for (i = 0; i < c->queue.count; i++)
		cp_buf_free(&c->queue.items[i].text);
	for (i = 0; i < c->threads.count; i++)
		cp_vec_free(&c->threads.items[i].open);
	cp_vec_free(&c->queue);
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

void cp_module_calls_init(const char *desc)
{
	cprof_profiler *c = calloc(1, sizeof(*c));

	if (!c)
		return;
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
