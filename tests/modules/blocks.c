/* SPDX-License-Identifier: MIT
 *
 * A profiler that prints calls of the program's first thread in the order in which they
 * are told, into the file that its arguments name: in blocks, or, where the name ends with
 * ".single", one by one; with values, where it has ".values" in it, those of blocks as
 * numbers, where it has ".numbers", too.
 *
 *     DEPTH enter|leave|tail|unwind FUNCTION [TARGET] [VALUES]
 *     blocks EVENTS VALUES                     at the end, of those that came in blocks
 */
#include <cprof/cprof.h>
#include <stdio.h>
#include <string.h>

#define CALLS \
	(CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE | \
	 CPROF_CALL_INSTRUMENTATION_TAIL_CALL | CPROF_CALL_INSTRUMENTATION_EXCEPTION_LEAVE)

struct cprof_profiler {
	FILE *out;
	uint64_t in_blocks, values_in_blocks, numbers, last_ns;
};
static cprof_profiler prof;

static void print(cprof_profiler *p, uint64_t ts_ns, uint32_t depth, const char *what,
		  const cprof_function *f, const cprof_function *target)
{
	fprintf(p->out, "\n%u %s %s %s%s", depth, what, cprof_function_name(f),
		target ? cprof_function_name(target) : "",
		ts_ns < p->last_ns ? " BEFORE THE LAST" : "");
	p->last_ns = ts_ns;
}

static void print_value(cprof_profiler *p, const cprof_value *v)
{
	if (!v)
		return;
	fprintf(p->out, " %s %s=%d %d %d%d%d %llx", v->type, v->name, v->kind, v->size, v->source,
		v->cut, v->guessed, (unsigned long long)v->address);
	if (v->symbol)
		fprintf(p->out, " <%s>", v->symbol);
	if (v->kind == CPROF_VALUE_STRING)
		fprintf(p->out, " '%.*s'", (int)v->u.text.length, v->u.text.bytes);
	else if (v->kind == CPROF_VALUE_ERROR)
		fprintf(p->out, " error %d", v->error);
	else
		fprintf(p->out, " %llx", (unsigned long long)v->u.u);
	if (v->count)
		print_value(p, v->items);
}

/* Where the numbers of the next ones are. */
static const uint64_t *print_numbers(cprof_profiler *p, const cprof_value *form, uint32_t count,
				     const uint64_t *numbers)
{
	cprof_value v;
	uint32_t i;

	for (i = 0; i < count; i++) {
		cprof_value_unpack(&form[i], numbers, &v);
		print_value(p, &v);
		numbers += cprof_value_words(&form[i]);
	}
	p->numbers += count;
	return numbers;
}

static bool is_first(cprof_thread *t)
{
	return t && cprof_thread_tid(t) == cprof_process_pid(cprof_thread_process(t));
}

static bool one(cprof_profiler *p, const char *what, const cprof_function *f,
		const cprof_function *target)
{
	cprof_call call;
	bool tells = is_first(cprof_current_thread()) && cprof_current_call(&call);

	if (tells)
		print(p, call.timestamp_ns, call.depth, what, f, target);
	return tells;
}

static void enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	size_t i;

	if (!one(p, "enter", f, NULL) || !context)
		return;
	for (i = 0; i < cprof_call_context_argument_count(context); i++)
		print_value(p, cprof_call_context_argument(context, i));
}

static void leave(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	if (one(p, "leave", f, NULL) && context)
		print_value(p, cprof_call_context_result(context));
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
	static const char *const names[] = { "enter", "leave", "tail", "leave" };
	size_t i, k;

	if (thread != cprof_current_thread())
		fprintf(p->out, "another thread\n");
	for (i = 0; i < count && is_first(thread); i++) {
		const cprof_call_event *e = &events[i];
		const uint64_t *numbers = e->numbers;

		if (e->kind == CPROF_CALL_LEAF) {
			print(p, e->enter_ns, e->depth, "enter", e->function, NULL);
			numbers = print_numbers(p, e->form, e->value_count, numbers);
		}
		p->in_blocks += e->kind == CPROF_CALL_LEAF;
		print(p, e->timestamp_ns, e->depth, names[e->kind], e->function,
		      e->kind == CPROF_CALL_TAIL_CALL ? e->target : NULL);
		if (e->kind == CPROF_CALL_LEAF)
			print_numbers(p, e->result_form, e->result_form != NULL, numbers);
		else if (numbers)
			print_numbers(p, e->form, e->value_count, numbers);
		for (k = 0; e->values && k < e->value_count; k++)
			print_value(p, &e->values[k]);
		p->values_in_blocks += e->value_count + (e->result_form != NULL);
	}
	p->in_blocks += count;
}

static void end(cprof_profiler *p)
{
	fprintf(p->out, "\nblocks %lu %lu\n", (unsigned long)p->in_blocks,
		(unsigned long)p->values_in_blocks);
	if (p->numbers)
		fprintf(p->out, "numbers %lu\n", (unsigned long)p->numbers);
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
	if (strstr(name, ".values"))
		cprof_profiler_enable_call_context_introspection();
	cprof_profiler_trace(handle, spec,
			     CALLS | (strstr(name, ".values")
					      ? CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT |
							CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT
					      : 0));
	cprof_callspec_free(spec);
	cprof_profiler_set_method_enter_callback(handle, enter);
	cprof_profiler_set_method_leave_callback(handle, leave);
	cprof_profiler_set_method_tail_call_callback(handle, tail);
	cprof_profiler_set_method_exception_leave_callback(handle, unwind);
	if (!strstr(name, ".single"))
		cprof_profiler_set_method_block_callback(handle, block);
	cprof_profiler_set_block_numbers(handle, strstr(name, ".numbers") != NULL);
	cprof_profiler_set_runtime_shutdown_end_callback(handle, end);
}
