/* SPDX-License-Identifier: MIT
 *
 * The recorder's part for calls.
 *
 *   log:trace=SPEC                 calls of the functions that match; repeated: together
 *   log:args, result, locals       with values; depth=N, string=N: how much of them;
 *                                  elements: of maps and lists, too
 *   log:changes                    with what is different behind arguments at the return
 *   log:when=EXPR                  only calls for which that holds
 *   log:stack                      a stack with each call
 *   log:cpu-time                   the CPU time of each call
 *   log:summary                    what they add up to, and no events
 *   log:under=SPEC and the like    which calls are kept (log/choosing.h)
 *   log:max-rate=N                 calls a second that end a function's tracing; 0: never
 *
 * and by Mono's names: calls, nocalls, callspec=SPEC, calldepth=N.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/types.h"
#include "modules/invoked.h"
#include "modules/log/call_blocks.h"
#include "modules/log/callspec.h"
#include "modules/log/choosing.h"
#include "modules/log/disarmed.h"
#include "modules/log/families.h"
#include "modules/log/marks.h"
#include "modules/log/numbers.h"
#include "modules/log/stack.h"
#include "modules/log/summary.h"
#include "record/call_block.h"

#define CALLS \
	(CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE | \
	 CPROF_CALL_INSTRUMENTATION_TAIL_CALL | CPROF_CALL_INSTRUMENTATION_EXCEPTION_LEAVE)

struct calls {
	bool arguments, result, locals, changes, elements, cpu_time, summary;
	bool asked, refused; /* as Mono has it: calls, nocalls */
	uint32_t most; /* depth of calls; 0: any */
	uint32_t depth, string; /* how much of values */
	CP_VEC(cprof_callspec *) specs; /* owned */
	struct cp_buf list; /* what they were made of, as one */
	bool started;
	CP_VEC(cprof_value) values; /* of the call being recorded */
	uint64_t count;
	struct cp_recorder_summary sums;
	struct cp_recorder_choosing choosing;
	bool conditional;
	struct cp_recorder_call_blocks blocks;
};

static struct calls *calls(const cprof_profiler *log)
{
	return cp_recorder_state(log, &cp_recorder_calls);
}

/* ---- events ---- */

/* False: nothing can be recorded. */
static bool begin(cprof_profiler *log, const cprof_function *f, enum cp_record_call_kind kind,
		  struct cp_record_call *ret)
{
	struct calls *c = calls(log);
	cprof_call call;

	if (!cprof_current_call(&call) || (c->most && call.depth >= c->most) ||
	    !cp_recorder_event(log, &call, kind, ret))
		return false;
	c->values.count = 0;
	ret->function = cp_recorder_function(log, f);
	ret->flags = (uint8_t)((call.process_exit ? CP_RECORD_CALL_ENDED : 0) |
			       (call.unsure ? CP_RECORD_CALL_UNSURE : 0) |
			       (call.lost ? CP_RECORD_CALL_LOST : 0));
	ret->duration_ns = call.timestamp_ns - call.enter_ns;
	ret->overhead_ns = call.overhead_ns;
	ret->uncertain_ns = call.uncertain_ns;
	ret->cpu_ns = call.cpu_ns;
	ret->on_stack = call.stack;
	return true;
}

/* Is the event to be kept? Then its depth is that among those that are. */
static bool keeps(cprof_profiler *log, const cprof_function *f, struct cp_record_call *r)
{
	struct calls *c = calls(log);

	return !c->choosing.chooses || cp_recorder_choice_keeps(&c->choosing, log->writer, f, r);
}

static void end(cprof_profiler *log, struct cp_record_call *r)
{
	struct calls *c = calls(log);

	r->values = c->values.items;
	r->value_count = (uint32_t)c->values.count;
	if (c->summary)
		cp_recorder_summary_add(log, &c->sums, r);
	else if (c->choosing.chooses)
		cp_recorder_choice_write(&c->choosing, log->writer, r);
	else
		cp_recorder_call(log, r);
	c->count++;
}

static void add_value(struct calls *c, const cprof_value *value)
{
	if (value && !cp_vec_push(&c->values, *value))
		c->values.count = 0;
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
		r->target = cp_record_location(log->writer, cp_recorder_image(log, by.image),
					       by.caller - 1 - cprof_image_base(by.image), 0);
}

static void on_enter(cprof_profiler *log, const cprof_function *f, cprof_call_context *context)
{
	struct calls *c = calls(log);
	struct cp_record_call r;
	size_t count, i;

	if (!begin(log, f, CP_RECORD_ENTER, &r) || !keeps(log, f, &r))
		return;
	if (!c->summary)
		add_invoker(log, f, &r);
	if (log->stacks && !c->summary)
		r.stack = cp_recorder_call_stack(log, cprof_function_address(f));
	count = context && c->arguments ? cprof_call_context_argument_count(context) : 0;
	for (i = 0; i < count; i++)
		add_value(c, cprof_call_context_argument(context, i));
	end(log, &r);
}

static uint32_t add_changes(struct calls *c, cprof_call_context *context)
{
	size_t count = cprof_call_context_argument_count(context), i, before = c->values.count;

	for (i = 0; i < count; i++)
		add_value(c, cprof_call_context_changed(context, i));
	return c->values.count > before ? (uint32_t)(c->values.count - before) : 0;
}

static void on_leave(cprof_profiler *log, const cprof_function *f, cprof_call_context *context)
{
	struct calls *c = calls(log);
	struct cp_record_call r;
	size_t count, i;

	if (!begin(log, f, CP_RECORD_LEAVE, &r) || !keeps(log, f, &r))
		return;
	if (context && c->result)
		add_value(c, cprof_call_context_result(context));
	r.result_count = c->values.count != 0;
	count = context && c->locals ? cprof_call_context_local_count(context) : 0;
	if (count)
		r.flags |= CP_RECORD_CALL_LOCALS;
	for (i = 0; i < count; i++)
		add_value(c, cprof_call_context_local(context, i));
	if (context && c->changes)
		r.changed_count = add_changes(c, context);
	end(log, &r);
}

static void on_tail_call(cprof_profiler *log, const cprof_function *f, const cprof_function *target)
{
	struct cp_record_call r;

	if (!begin(log, f, CP_RECORD_TAIL_CALL, &r))
		return;
	if (target)
		r.target = cp_recorder_function(log, target);
	if (keeps(log, f, &r))
		end(log, &r);
}

static void on_unwind(cprof_profiler *log, const cprof_function *f, const cprof_object *exception)
{
	struct cp_record_call r;

	(void)exception;
	if (begin(log, f, CP_RECORD_UNWIND, &r) && keeps(log, f, &r))
		end(log, &r);
}

/* ---- blocks ---- */

static void on_block(cprof_profiler *log, cprof_thread *thread, const cprof_call_event *events,
		     size_t count)
{
	struct calls *c = calls(log);
	struct cp_recorder_call_blocks *b = &c->blocks;
	uint64_t *number = cp_recorder_thread(log, thread);

	if (!number || !cp_recorder_call_blocks_take(log, b, events, count))
		return;
	if (c->summary)
		cp_recorder_summary_add_block(log, &c->sums, thread, &b->costs, b->entries.items,
					      b->entries.count);
	else
		cp_record_call_block(log->writer, (uint32_t)*number, &b->costs, b->entries.items,
				     b->entries.count);
	c->count += b->events;
}

static void take_blocks(cprof_profiler *log)
{
	cprof_profiler_set_method_block_callback(log->handle, on_block);
	cprof_profiler_set_block_numbers(log->handle, true);
}

static void on_inherited(cprof_profiler *log, const cprof_function *f)
{
	uint64_t *thread = NULL;
	struct cp_record_call r;
	int32_t tid = 0;

	if (!begin(log, f, CP_RECORD_INHERITED, &r) || !keeps(log, f, &r))
		return;
	if (cprof_current_call_inherited(&tid) && cprof_thread_from_tid(tid))
		thread = cp_recorder_thread(log, cprof_thread_from_tid(tid));
	r.entered_by = thread ? (uint32_t)*thread : CP_RECORD_NONE;
	end(log, &r);
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
	if (!cp_vec_push(&calls(log)->specs, spec)) {
		cprof_callspec_free(spec);
		return false;
	}
	cp_buf_printf(&calls(log)->list, "%s%s", calls(log)->list.size ? "," : "", text);
	cp_recorder_turn_on(log, &cp_recorder_calls);
	return true;
}

static bool take_callspec(cprof_profiler *log, const char *value)
{
	struct cp_buf spec CP_CLEANUP(cp_buf_free) = { 0 };

	if (!strcmp(value, "none") || !strcmp(value, "disabled")) {
		calls(log)->refused = true;
		return true;
	}
	return cp_recorder_callspec(log, value, &spec) && add_spec(log, spec.bytes);
}

static bool set_condition(cprof_profiler *log, const char *text)
{
	char *error = cprof_profiler_set_call_condition(text);

	if (!error) {
		calls(log)->conditional = true;
		return true;
	}
	cprof_profiler_fail(log->handle, "%s", error);
	free(error);
	return false;
}

static bool set_arguments(cprof_profiler *log, const char *list)
{
	char *error = cprof_profiler_set_call_arguments(list);

	if (!error) {
		calls(log)->arguments = true;
		return true;
	}
	cprof_profiler_fail(log->handle, "%s", error);
	free(error);
	return false;
}

static bool set_rate(const char *value)
{
	uint32_t rate;

	if (!cp_recorder_number(value, &rate))
		return false;
	cprof_profiler_set_max_rate(rate, rate);
	return true;
}

static bool take_flag(cprof_profiler *log, const char *key)
{
	struct calls *c = calls(log);
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{ "args", &c->arguments },    { "result", &c->result },
		{ "locals", &c->locals },     { "changes", &c->changes },
		{ "cpu-time", &c->cpu_time }, { "summary", &c->summary },
		{ "elements", &c->elements },
	};
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(flags); i++) {
		if (strcmp(key, flags[i].name) != 0)
			continue;
		*flags[i].flag = true;
		return true;
	}
	return false;
}

static bool take_word(cprof_profiler *log, const char *key)
{
	struct calls *c = calls(log);

	if (strcmp(key, "calls") != 0 && strcmp(key, "nocalls") != 0)
		return take_flag(log, key);
	c->asked = *key == 'c';
	c->refused = *key == 'n';
	cp_recorder_part(log, &cp_recorder_calls)->on = c->asked || c->specs.count;
	return true;
}

/* Which calls are kept. What that goes by is traced as well. */
static bool take_choice(cprof_profiler *log, const char *key, const char *value, bool *known_ret)
{
	CP_FREE char *error = NULL;
	struct cp_recorder_choosing *c = &calls(log)->choosing;
	bool good = cp_recorder_choice_take(c, key, value, known_ret, &error);

	c->held = &log->held;
	if (error)
		cprof_profiler_fail(log->handle, "%s", error);
	if (good && strcmp(key, "levels") != 0 && strcmp(key, "min-duration") != 0)
		good = add_spec(log, value);
	return good;
}

static bool take(cprof_profiler *log, const char *key, const char *value)
{
	struct calls *c = calls(log);
	bool known, good = value && take_choice(log, key, value, &known);

	if (!value)
		return take_word(log, key);
	if (known)
		return good;
	if (!strcmp(key, "trace"))
		return add_spec(log, value);
	if (!strcmp(key, "callspec"))
		return take_callspec(log, value);
	if (!strcmp(key, "when"))
		return set_condition(log, value);
	if (!strcmp(key, "args"))
		return set_arguments(log, value);
	if (!strcmp(key, "max-rate"))
		return set_rate(value);
	if (!strcmp(key, "calldepth"))
		return cp_recorder_number(value, &c->most);
	if (!strcmp(key, "depth"))
		return cp_recorder_number(value, &c->depth);
	return !strcmp(key, "string") && cp_recorder_number(value, &c->string);
}

/* ---- the family ---- */

static void decide(cprof_profiler *log)
{
	struct calls *c = calls(log);
	struct cp_recorder_part *part = cp_recorder_part(log, &cp_recorder_calls);

	if (c->asked && !c->specs.count && !c->refused)
		add_spec(log, "program");
	part->on = c->specs.count && !c->refused;
	if (c->arguments || c->result || c->locals || c->changes)
		part->holds |= CP_RECORD_HAS_ARGUMENTS;
	if (c->summary && part->holds & CP_RECORD_HAS_ARGUMENTS)
		cprof_profiler_fail(log->handle, "log: summary keeps no values of calls");
	if (c->summary && (c->choosing.least_ns || c->choosing.specs[CP_PATHS_TO]))
		cprof_profiler_fail(log->handle, "log: summary keeps no calls that min-duration "
						 "or paths-to could choose");
	if (c->summary)
		part->holds = CP_RECORD_HAS_CALL_SUMS;
}

static unsigned instrumentation(const cprof_profiler *log)
{
	const struct calls *c = calls(log);

	return CALLS | (c->arguments || c->changes ? CPROF_CALL_INSTRUMENTATION_ENTER_CONTEXT : 0) |
	       (c->result || c->locals || c->changes ? CPROF_CALL_INSTRUMENTATION_LEAVE_CONTEXT
						     : 0) |
	       (c->changes ? CPROF_CALL_INSTRUMENTATION_CHANGES : 0) |
	       (c->locals ? CPROF_CALL_INSTRUMENTATION_LOCALS : 0) |
	       (c->elements ? CPROF_CALL_INSTRUMENTATION_ELEMENTS : 0) |
	       (log->stacks && !c->summary ? CPROF_CALL_INSTRUMENTATION_STACK : 0);
}

static void start(cprof_profiler *log)
{
	struct calls *c = calls(log);
	cprof_callspec **spec;

	c->started = true;
	c->blocks.most = c->most;
	c->blocks.is_summary = c->summary;
	c->blocks.arguments = c->arguments && !c->summary;
	c->blocks.result = c->result && !c->summary;
	cp_recorder_watch_disarmed(log);
	if (c->arguments || c->result || c->locals || c->changes)
		cprof_profiler_enable_call_context_introspection();
	if (c->cpu_time)
		cprof_profiler_enable_call_cpu_time();
	cprof_profiler_set_value_limits(c->depth, c->string);
	cp_vec_for_each(&c->specs, spec)
		cprof_profiler_trace(log->handle, *spec, instrumentation(log));
	cprof_profiler_set_method_enter_callback(log->handle, on_enter);
	cprof_profiler_set_method_leave_callback(log->handle, on_leave);
	cprof_profiler_set_method_tail_call_callback(log->handle, on_tail_call);
	cprof_profiler_set_method_exception_leave_callback(log->handle, on_unwind);
	cprof_profiler_set_method_inherited_callback(log->handle, on_inherited);
	if (!c->choosing.chooses && !log->followed) /* else one by one */
		take_blocks(log);
}

/* ---- while it runs ---- */

/* Traces what is wanted now; false: that was refused. */
static bool trace_again(cprof_profiler *log)
{
	struct calls *c = calls(log);
	const cprof_callspec *spec = c->specs.count && !log->paused ? c->specs.items[0] : NULL;
	cprof_status status;

	status = cprof_profiler_retrace(log->handle, spec, instrumentation(log));
	if (status == CPROF_OK && spec && !c->started)
		start(log);
	if (status == CPROF_E_NOT_SUPPORTED)
		cprof_command_refuse(log->handle, "this session began without --trace and lets "
						  "children go (--no-follow): they would keep "
						  "breakpoints");
	else if (status == CPROF_E_INCONSISTENT_WITH_FLAGS)
		cprof_command_refuse(log->handle,
				     "processes that cprof did not see born share the "
				     "program's memory: they would run into breakpoints "
				     "and die");
	else if (status != CPROF_OK)
		cprof_command_refuse(log->handle, "%s", cprof_status_string(status));
	return status == CPROF_OK;
}

static void forget_specs(struct calls *c)
{
	cprof_callspec **spec;

	cp_vec_for_each(&c->specs, spec)
		cprof_callspec_free(*spec);
	c->specs.count = 0;
	cp_buf_free(&c->list);
}

/* Before a pause all SPECs are one. */
static bool join(struct calls *c)
{
	cprof_callspec *all, **old;

	if (c->specs.count < 2)
		return true;
	all = cprof_callspec_parse(c->list.bytes, NULL);
	if (!all)
		return false;
	cp_vec_for_each(&c->specs, old)
		cprof_callspec_free(*old);
	c->specs.items[0] = all;
	c->specs.count = 1;
	return true;
}

static void on_pause(cprof_profiler *log)
{
	struct calls *c = calls(log);

	if (c->specs.count && !c->refused && join(c))
		trace_again(log);
}

/* A SPEC that somebody typed; NULL: it makes no sense or matches nothing, and that was
 * said. */
static cprof_callspec *read_spec(cprof_profiler *log, const char *text)
{
	CP_FREE char *error = NULL, *near = NULL;
	cprof_callspec *spec = cprof_callspec_parse(text, &error);

	if (!spec) {
		cprof_command_refuse(log->handle, "%s", error ? error : "out of memory");
		return NULL;
	}
	if (cprof_callspec_count(spec))
		return spec;
	near = cprof_callspec_near(text);
	cprof_command_refuse(log->handle, "no function matches '%s'%s%s", text, near ? ": " : "",
			     near ? near : "");
	cprof_callspec_free(spec);
	return NULL;
}

/* Takes the place of all SPECs; false: it could not, and that was said. */
static bool use_list(cprof_profiler *log, struct cp_buf *list, uint64_t *count_ret)
{
	struct calls *c = calls(log);
	cprof_callspec *all = list->failed ? NULL : cprof_callspec_parse(list->bytes, NULL);

	if (!all || !cp_vec_reserve(&c->specs, 1)) {
		cprof_callspec_free(all);
		cprof_command_refuse(log->handle, "out of memory");
		return false;
	}
	forget_specs(c);
	c->specs.items[c->specs.count++] = all;
	c->list = *list;
	*list = (struct cp_buf){ 0 };
	*count_ret = cprof_callspec_count(all);
	c->refused = false;
	cp_recorder_turn_on(log, &cp_recorder_calls);
	return trace_again(log);
}

static void add_trace(cprof_profiler *log, const char *text)
{
	struct cp_buf list CP_CLEANUP(cp_buf_free) = { 0 };
	cprof_callspec *spec = read_spec(log, text);
	struct calls *c = calls(log);
	uint64_t count;

	if (!spec)
		return;
	cprof_callspec_free(spec);
	if (c->list.size && !c->refused)
		cp_buf_printf(&list, "%s,", c->list.bytes);
	cp_buf_str(&list, text);
	if (!use_list(log, &list, &count))
		return;
	cp_recorder_mark_of(log, "traced", text);
	cprof_command_answer(log->handle, "traced: %llu function%s%s", (unsigned long long)count,
			     count == 1 ? "" : "s",
			     log->paused ? ", when the recording goes on" : "");
}

/* The list, and behind it each entry of `text` with a minus; false: `text` has one. */
static bool exclude(struct cp_buf *list, const char *text)
{
	const char *end;

	for (; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, ',');
		if (*text == '-')
			return false;
		cp_buf_str(list, ",-");
		cp_buf_add(list, text, (size_t)(end - text));
	}
	return true;
}

static void end_trace(cprof_profiler *log, const char *text)
{
	struct cp_buf list CP_CLEANUP(cp_buf_free) = { 0 };
	struct calls *c = calls(log);
	uint64_t before, count;
	cprof_callspec *spec;

	if (!c->list.size || c->refused) {
		cprof_command_refuse(log->handle, "nothing is traced");
		return;
	}
	cp_buf_str(&list, c->list.bytes);
	if (!exclude(&list, text)) {
		cprof_command_refuse(log->handle, "untrace takes what is not to be traced any "
						  "more, without a minus");
		return;
	}
	spec = read_spec(log, text);
	if (!spec)
		return;
	cprof_callspec_free(spec);
	join(c);
	before = c->specs.count ? cprof_callspec_count(c->specs.items[0]) : 0;
	if (!use_list(log, &list, &count))
		return;
	if (!count) {
		forget_specs(c);
		trace_again(log);
	}
	if (count == before)
		cprof_command_refuse(log->handle, "nothing that '%s' matches was traced", text);
	else
		cprof_command_answer(log->handle, "traced: %llu function%s",
				     (unsigned long long)count, count == 1 ? "" : "s");
	if (count != before)
		cp_recorder_mark_of(log, "no longer traced", text);
}

static bool on_command(cprof_profiler *log, const char *name, const char *argument)
{
	if (!strcmp(name, "trace"))
		add_trace(log, argument);
	else if (!strcmp(name, "untrace"))
		end_trace(log, argument);
	else
		return false;
	return true;
}

static void on_rotate(cprof_profiler *log)
{
	struct calls *c = calls(log);

	cp_recorder_call_blocks_forget(&c->blocks);
	cp_recorder_summary_deinit(&c->sums);
	c->sums = (struct cp_recorder_summary){ 0 };
}

static void on_thread_exited(cprof_profiler *log, cprof_thread *t)
{
	const uint64_t *number = cp_map_get(&log->threads, (uintptr_t)t);

	cp_recorder_summary_forget(log, &calls(log)->sums, t);
	if (number)
		cp_recorder_choice_forget(&calls(log)->choosing, (uint32_t)*number);
}

static void on_disarmed(cprof_profiler *log, const struct cp_record_call *r)
{
	if (calls(log)->choosing.chooses)
		cp_recorder_choice_disarmed(&calls(log)->choosing, log->writer, r);
	if (calls(log)->summary)
		cp_recorder_summary_add(log, &calls(log)->sums, r);
}

static void beat(cprof_profiler *log)
{
	if (calls(log)->choosing.chooses)
		cp_recorder_choice_beat(&calls(log)->choosing, log->writer);
	if (calls(log)->summary)
		cp_recorder_summary_beat(log, &calls(log)->sums);
}

static void end_calls(cprof_profiler *log)
{
	if (calls(log)->choosing.chooses)
		cp_recorder_choice_end(&calls(log)->choosing, log->writer, cp_now());
	if (calls(log)->summary)
		cp_recorder_summary_end(log, &calls(log)->sums);
}

static void totals(const cprof_profiler *log, struct cp_record_totals *t)
{
	cprof_call_statistics c;

	cprof_get_call_statistics(&c);
	t->calls = cp_recorder_calls_count(log);
	t->calls_left_out = calls(log)->choosing.left_out;
	t->call_stops = c.hits;
	t->call_rejected_inside = c.rejected_inside;
	t->call_rejected_condition = c.rejected_condition;
	t->call_condition_unknown = c.condition_unknown;
	t->call_rejected_late = c.rejected_late;
	t->call_unmatched = c.unmatched;
	t->call_functions = c.functions;
	t->call_sites = c.sites;
	t->call_disarmed = log->disarmed;
	t->call_fast = c.fast_functions;
	t->call_records = c.records;
	t->call_records_lost = c.records_lost;
	t->call_fast_sites = c.fast_sites;
	t->detour_ns = c.detour_ns;
	t->call_records_unread = c.records_unread;
	t->call_conditional = calls(log)->conditional;
	t->trap_ns = c.trap_ns;
	t->trap_low_ns = c.trap_low_ns;
	t->trap_high_ns = c.trap_high_ns;
	t->traps = c.traps;
}

const char *cp_recorder_calls_traced(const cprof_profiler *log)
{
	const struct calls *c = calls(log);

	return c->list.size && !c->refused ? c->list.bytes : "";
}

uint64_t cp_recorder_calls_count(const cprof_profiler *log)
{
	return calls(log)->count - calls(log)->choosing.unwritten;
}

static void release(void *state)
{
	struct calls *c = state;
	cprof_callspec **spec;

	cp_vec_for_each(&c->specs, spec)
		cprof_callspec_free(*spec);
	cp_vec_free(&c->specs);
	cp_buf_free(&c->list);
	cp_vec_free(&c->values);
	cp_vec_free(&c->blocks.entries);
	cp_recorder_summary_deinit(&c->sums);
	cp_recorder_choice_deinit(&c->choosing);
}

const struct cp_recorder_family cp_recorder_calls = {
	.help = "  calls              calls of the program's functions\n"
		"  callspec=SPEC      calls of these; as --trace takes it, and none, wrapper\n"
		"  calldepth=N        no calls inside so many traced ones; 0: all\n"
		"  under=SPEC, not-under=SPEC, paths-to=SPEC, levels=N, min-duration=TIME,\n"
		"  start-at=SPEC, stop-at=SPEC\n"
		"                     which calls are kept, as options of run\n"
		"  args, result, locals, changes, stack, cpu-time, depth=N, string=N, when=EXPR, "
		"max-rate=N, summary\n"
		"                     as options of run\n",
	.holds = CP_RECORD_HAS_CALLS,
	.state_size = sizeof(struct calls),
	.follows_nodefaults = true,
	.take = take,
	.decide = decide,
	.start = start,
	.thread_exited = on_thread_exited,
	.disarmed = on_disarmed,
	.command = on_command,
	.pause = on_pause,
	.rotate = on_rotate,
	.beat = beat,
	.end = end_calls,
	.totals = totals,
	.release = release,
};
