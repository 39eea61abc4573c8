/* SPDX-License-Identifier: MIT
 *
 * `cprof replay --json`: an event a line. Keys are a contract: new ones may
 * come, none goes.
 */
#include "report/replay/json.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "inspect/inspect.h"
#include "report/events/annotations.h"
#include "report/events/exceptions.h"
#include "report/events/locks.h"
#include "report/events/maps.h"
#include "report/look/sink.h"
#include "report/profile/heap.h"
#include "report/profile/invoker.h"
#include "report/profile/profile.h"
#include "report/profile/spans.h"
#include "report/profile/summed.h"
#include "report/profile/values.h"
#include "report/replay/chosen.h"
#include "transcript/json.h"

/* ---- events ---- */

struct writer {
	const struct cp_profile *p;
	struct cp_sink *sink;
	struct cp_json j;
	struct cp_chosen chosen;
	struct cp_annotations annotations;
	size_t next; /* of these, by time */
	uint64_t least_ns;
};

/* `function`: CP_RECORD_NONE: of none. */
static void begin(struct writer *w, const char *event, uint64_t ts_ns, uint32_t thread,
		  uint32_t function, uint32_t depth)
{
	const struct cp_record_thread *t = cp_record_get_thread(w->p->record, thread);
	const struct cp_record_process *q = cp_record_get_process(w->p->record, t->process);
	const struct cp_function *f =
		function == CP_RECORD_NONE ? NULL : &w->p->functions.items[function];
	const struct cp_json_event all = {
		.name = event,
		.ns = ts_ns,
		.pid = q->pid,
		.ns_pid = q->ns_pid,
		.tid = t->tid,
		.ns_tid = t->ns_tid,
		.function = f ? f->name : NULL,
		.image = f ? cp_profile_image_name(w->p, f) : NULL,
		.depth = depth,
	};

	w->j = (struct cp_json){ .out = &w->sink->buf };
	cp_json_event_begin(&w->j, &all);
}

static void finish(struct writer *w)
{
	cp_json_event_end(&w->j);
	cp_sink_spill(w->sink);
}

/* ---- annotations ---- */

static void add_span(struct writer *w, const struct cp_noted_span *s, uint32_t number)
{
	cp_json_str(&w->j, "name", s->name);
	cp_json_str(&w->j, "category", s->category);
	if (s->object)
		cp_json_str(&w->j, "object", s->object);
	if (!s->async)
		cp_json_u64(&w->j, "depth", s->depth);
	if (number == s->end)
		cp_json_u64(&w->j, "duration_ns", s->end_ns - s->start_ns);
}

static void add_switch(struct writer *w, const struct cp_record_annotation *it)
{
	cp_json_u64(&w->j, "from_fiber", it->id >> 32);
	cp_json_u64(&w->j, "to_fiber", (uint32_t)it->id);
	if (it->flags & CP_RECORD_ANNOTATION_NOTICED)
		cp_json_bool(&w->j, "noticed", true);
}

static void add_names(struct writer *w, const struct cp_record_annotation *it)
{
	if (it->name)
		cp_json_str(&w->j, "name", it->name);
	if (it->category)
		cp_json_str(&w->j, "category", it->category);
	if (it->object)
		cp_json_str(&w->j, "object", it->object);
}

static void annotation(struct writer *w, uint32_t number)
{
	const struct cp_annotations *a = &w->annotations;
	struct cp_record_annotation it = cp_record_get_annotation(w->p->record, number);
	const struct cp_track *t = &a->tracks.items[a->tracks_of[number]];
	uint32_t span = cp_annotation_span(a, number);
	const struct cp_noted_span *s = span == CP_RECORD_NONE ? NULL : &a->spans.items[span];

	if (!cp_annotation_shown(a, &it) || (s && s->end_ns - s->start_ns < w->least_ns))
		return;
	begin(w, cp_annotation_event(it.kind), cp_annotation_ns(a, &it), it.thread, CP_RECORD_NONE,
	      0);
	if (it.kind == CP_RECORD_FIBER_NAME)
		cp_json_u64(&w->j, "fiber", it.id);
	else if (t->is_fiber)
		cp_json_u64(&w->j, "fiber", t->fiber);
	if (it.kind == CP_RECORD_FIBER_SWITCH)
		add_switch(w, &it);
	else if (s)
		add_span(w, s, number);
	else
		add_names(w, &it);
	if (it.kind <= CP_RECORD_SPAN_END || it.kind == CP_RECORD_ASYNC_START ||
	    it.kind == CP_RECORD_ASYNC_FINISH)
		cp_json_u64(&w->j, "id", it.id);
	if (it.kind == CP_RECORD_COUNTER || it.kind == CP_RECORD_ANNOTATIONS_LOST)
		cp_json_i64(&w->j, "value", it.value);
	finish(w);
}

/* All annotations up to `ns`. */
static void annotations_until(struct writer *w, uint64_t ns)
{
	uint32_t number;

	while ((number = cp_annotations_next(&w->annotations, w->p->record, &w->next, ns)) !=
	       CP_RECORD_NONE)
		annotation(w, number);
}

/* ---- calls ---- */

static void add_stack(struct writer *w, uint32_t stack)
{
	const uint32_t *frames;
	size_t count;

	cp_json_begin(&w->j, "stack", '[');
	for (frames = cp_profile_walk(w->p, stack, &count); count--;) /* the leaf first */
		cp_json_str(&w->j, NULL, cp_profile_function(w->p, frames[count])->name);
	cp_json_end(&w->j, ']');
}

/* An inherited call: who entered it, and when. */
static void inherited(struct writer *w, const struct cp_span *span,
		      const struct cp_record_call *call)
{
	const struct cp_record_thread *by;

	begin(w, "inherited", span->start_ns, span->thread, span->function, span->depth);
	cp_json_u64(&w->j, "entered_ns", cp_profile_ns(w->p, call->ts_ns - call->duration_ns));
	if (call->entered_by != CP_RECORD_NONE) {
		by = cp_record_get_thread(w->p->record, call->entered_by);
		cp_json_i64(&w->j, "entered_pid",
			    cp_record_get_process(w->p->record, by->process)->pid);
		cp_json_i64(&w->j, "entered_tid", by->tid);
	}
	finish(w);
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct writer *w = ctx;

	if ((!span->entered && !span->inherited) || !cp_chosen_span(&w->chosen, span))
		return NULL;
	annotations_until(w, span->start_ns);
	if (span->inherited) {
		inherited(w, span, call);
		return NULL;
	}
	begin(w, "enter", span->start_ns, span->thread, span->function, span->depth);
	cp_invoker_json(w->p, call, &w->j);
	if (call->value_count)
		cp_values_json(&w->j, "args", call->values, call->value_count);
	if (call->stack != CP_RECORD_NONE)
		add_stack(w, call->stack);
	finish(w);
	return NULL;
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	static const char *const events[] = { [CP_SPAN_RETURNED] = "leave",
					      [CP_SPAN_TAIL_CALLED] = "tail_call",
					      [CP_SPAN_UNWOUND] = "unwind",
					      [CP_SPAN_ENDED] = "unwind",
					      [CP_SPAN_LOST] = "unwind" };
	struct writer *w = ctx;
	struct cp_returned r;

	if (!call || !cp_chosen_span(&w->chosen, span))
		return NULL;
	annotations_until(w, span->end_ns);
	begin(w, events[span->end], span->end_ns, span->thread, span->function, span->depth);
	if (span->end == CP_SPAN_TAIL_CALLED)
		cp_json_str(&w->j, "target",
			    span->target == CP_RECORD_NONE
				    ? NULL
				    : w->p->functions.items[span->target].name);
	cp_json_event_unwound(&w->j, span->end == CP_SPAN_ENDED, span->unsure,
			      span->end == CP_SPAN_LOST);
	if (span->inherited)
		cp_json_bool(&w->j, "inherited", true);
	r = cp_call_returned(call);
	if (r.result)
		cp_value_member(&w->j, "result", r.result);
	if (r.local_count)
		cp_values_json(&w->j, "locals", r.locals, r.local_count);
	if (r.changed_count)
		cp_values_json(&w->j, "changed", r.changed, r.changed_count);
	cp_json_event_times(&w->j, span->duration_ns, span->overhead_ns, span->uncertain_ns,
			    span->cpu_ns);
	finish(w);
	return NULL;
}

static struct cp_error *disarmed(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call)
{
	struct writer *w = ctx;

	if (!cp_chosen_function(&w->chosen, function))
		return NULL;
	begin(w, "disarmed", cp_profile_ns(w->p, call->ts_ns), thread, function, call->depth);
	cp_json_u64(&w->j, "rate", call->count);
	finish(w);
	return NULL;
}

static void add_address(struct writer *w, const char *key, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	cp_json_str(&w->j, key, text);
}

static struct cp_error *exception(void *ctx, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call)
{
	struct writer *w = ctx;
	uint64_t ns = cp_profile_ns(w->p, call->ts_ns);
	const char *type = cp_exception_type(call), *file;
	uint32_t line;

	if (!cp_chosen_function(&w->chosen, function))
		return NULL;
	annotations_until(w, ns);
	begin(w, call->kind == CP_RECORD_THROW ? "throw" : "catch", ns, thread, function,
	      call->depth);
	cp_json_str(&w->j, "type", *type ? type : NULL);
	if (cp_exception_is_rethrown(call))
		cp_json_bool(&w->j, "rethrown", true);
	add_address(w, "address", cp_exception_address(call));
	file = cp_exception_file(w->p, call, &line);
	if (file) {
		cp_json_str(&w->j, "file", file);
		cp_json_u64(&w->j, "line", line);
	}
	if (call->kind == CP_RECORD_CATCH && call->count != CP_RECORD_NONE)
		cp_json_u64(&w->j, "clause", call->count);
	if (call->stack != CP_RECORD_NONE)
		add_stack(w, call->stack);
	finish(w);
	return NULL;
}

static struct cp_error *wait_over(void *ctx, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call)
{
	struct writer *w = ctx;
	uint64_t ns = cp_profile_ns(w->p, call->ts_ns);
	const cprof_value *lock = call->value_count ? &call->values[0] : NULL;

	if (!cp_chosen_function(&w->chosen, function))
		return NULL;
	annotations_until(w, ns);
	begin(w, "wait", ns, thread, function, call->depth);
	add_address(w, "address", cp_wait_address(call));
	cp_json_str(&w->j, "type", lock && lock->type && *lock->type ? lock->type : NULL);
	cp_json_str(&w->j, "variable", lock && lock->symbol && *lock->symbol ? lock->symbol : NULL);
	if (cp_wait_owner(call))
		cp_json_u64(&w->j, "owner", (uint64_t)cp_wait_owner(call));
	cp_json_u64(&w->j, "duration_ns", call->duration_ns);
	cp_json_str(&w->j, "end", cp_wait_end(call));
	if (call->stack != CP_RECORD_NONE)
		add_stack(w, call->stack);
	finish(w);
	return NULL;
}

static struct cp_error *heap(void *ctx, uint32_t thread, uint32_t function,
			     const struct cp_record_call *call)
{
	struct writer *w = ctx;
	uint64_t ns = cp_profile_ns(w->p, call->ts_ns), before = cp_heap_previous(call);

	if (!cp_chosen_function(&w->chosen, function) ||
	    !cp_heap_shown(w->p, thread, function, call))
		return NULL;
	annotations_until(w, ns);
	begin(w, cp_heap_event(call), ns, thread, function, call->depth);
	if (cp_heap_address(call))
		add_address(w, "address", cp_heap_address(call));
	if (before && before != cp_heap_address(call))
		add_address(w, "previous", before);
	if (call->kind != CP_RECORD_FREED)
		cp_json_u64(&w->j, "size", cp_heap_size(call));
	if (call->stack != CP_RECORD_NONE)
		add_stack(w, call->stack);
	finish(w);
	return NULL;
}

static struct cp_error *map(void *ctx, uint32_t thread, uint32_t function,
			    const struct cp_record_call *call)
{
	struct writer *w = ctx;
	uint64_t ns = cp_profile_ns(w->p, call->ts_ns);

	if (!cp_chosen_function(&w->chosen, function) ||
	    !cp_heap_shown(w->p, thread, function, call))
		return NULL;
	annotations_until(w, ns);
	begin(w, call->kind == CP_RECORD_MAPPED ? "map" : "unmap", ns, thread, function,
	      call->depth);
	cp_map_json(call, &w->j);
	if (call->stack != CP_RECORD_NONE)
		add_stack(w, call->stack);
	finish(w);
	return NULL;
}

CP_ERROR cp_replay_json(const struct cp_profile *p, const struct cp_replay_options *o,
			struct cp_sink *sink)
{
	static const struct cp_span_visitor visitor = { .enter = enter,
							.leave = leave,
							.disarmed = disarmed,
							.exception = exception,
							.wait = wait_over,
							.heap = heap,
							.map = map };
	struct writer w = { .p = p, .sink = sink, .least_ns = p->filter.calls.least_ns };
	struct cp_error *err;

	CP_TRY(cp_profile_need_events(p));
	err = cp_chosen_init(&w.chosen, p, o);
	if (!err)
		err = cp_annotations_build(p, &w.annotations);
	if (!err)
		err = cp_spans_walk(p, &visitor, &w);
	if (!err)
		annotations_until(&w, UINT64_MAX);
	cp_annotations_deinit(&w.annotations);
	cp_chosen_deinit(&w.chosen);
	return err;
}
