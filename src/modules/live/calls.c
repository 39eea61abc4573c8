/* SPDX-License-Identifier: MIT
 *
 * Traced calls, matched as the recorder matches them, and added up by caller and callee
 * within a second.
 */
#include "modules/live/calls.h"

#include <stdlib.h>

#include "modules/costs.h"
#include "modules/settings.h"

#define CALLS \
	(CPROF_CALL_INSTRUMENTATION_ENTER | CPROF_CALL_INSTRUMENTATION_LEAVE | \
	 CPROF_CALL_INSTRUMENTATION_TAIL_CALL | CPROF_CALL_INSTRUMENTATION_EXCEPTION_LEAVE)

/* A function by its number among those of the sums; CP_LIVE_NONE: no memory. */
static uint32_t function_of(cprof_profiler *p, const cprof_function *f)
{
	const uint64_t *known = cp_map_get(&p->functions, (uintptr_t)f);
	const char *name = cprof_function_name(f);
	uint32_t number;

	if (known)
		return (uint32_t)*known;
	cp_live_lock(p->sums);
	number = cp_live_function(p->sums, name && *name ? name : "[unknown]",
				  cprof_image_name(cprof_function_image(f)), NULL);
	cp_live_unlock(p->sums);
	return cp_map_put(&p->functions, (uintptr_t)f, number) ? number : CP_LIVE_NONE;
}

/* A call is over; with the lock held. */
static struct cp_error *ended(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	const struct edge edge = { span->thread, span->outer ? span->outer->function : CP_LIVE_NONE,
				   span->function };
	int64_t whole = cp_span_likely(span);
	cprof_profiler *p = ctx;
	struct batch *b = collector_batch(p, cp_live_second(p->sums, span->end_ns));
	struct cp_live_amount *sum;
	uint32_t number;
	bool fresh;

	(void)call;
	if (!b || !cp_intern(&b->edges, &edge, sizeof(edge), &number, &fresh) ||
	    (fresh && !cp_vec_push(&b->amounts, (struct cp_live_amount){ 0 })))
		return cp_error_nomem();
	sum = &b->amounts.items[number];
	sum->count += !span->inherited;
	sum->self += cp_span_self(span);
	if (!span->again && whole > 0)
		sum->total += (uint64_t)whole;
	return NULL;
}

static const struct cp_spans_to to = { .end = ended };

static void fail(cprof_profiler *p, struct cp_error *err)
{
	p->failed |= err != NULL;
	cp_error_free(err);
}

static void tell(cprof_profiler *p, const struct cp_record_call *call)
{
	if (call->thread == CP_LIVE_ALL || call->function == CP_LIVE_NONE)
		return;
	pthread_mutex_lock(&p->lock);
	fail(p, cp_spans_event(&p->spans, call));
	pthread_mutex_unlock(&p->lock);
}

/* ---- events ---- */

static void on_event(cprof_profiler *p, const cprof_function *f, enum cp_record_call_kind kind)
{
	struct cp_record_call r = { .kind = (uint8_t)kind,
				    .target = CP_RECORD_NONE,
				    .stack = CP_RECORD_NONE,
				    .entered_by = CP_RECORD_NONE };
	cprof_call call;

	if (!cprof_current_call(&call))
		return;
	r.ts_ns = call.timestamp_ns;
	r.thread = collector_thread(p, cprof_current_thread());
	r.function = function_of(p, f);
	r.depth = kind == CP_RECORD_DISARMED ? 0 : call.depth;
	r.flags = (uint8_t)((call.process_exit ? CP_RECORD_CALL_ENDED : 0) |
			    (call.unsure ? CP_RECORD_CALL_UNSURE : 0) |
			    (call.lost ? CP_RECORD_CALL_LOST : 0));
	r.duration_ns = call.timestamp_ns - call.enter_ns;
	r.overhead_ns = call.overhead_ns;
	r.uncertain_ns = call.uncertain_ns;
	r.on_stack = call.stack;
	tell(p, &r);
}

static void on_enter(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	(void)context;
	on_event(p, f, CP_RECORD_ENTER);
}

static void on_leave(cprof_profiler *p, const cprof_function *f, cprof_call_context *context)
{
	(void)context;
	on_event(p, f, CP_RECORD_LEAVE);
}

static void on_tail_call(cprof_profiler *p, const cprof_function *f, const cprof_function *target)
{
	(void)target;
	on_event(p, f, CP_RECORD_TAIL_CALL);
}

static void on_unwind(cprof_profiler *p, const cprof_function *f, const cprof_object *exception)
{
	(void)exception;
	on_event(p, f, CP_RECORD_UNWIND);
}

static void on_inherited(cprof_profiler *p, const cprof_function *f)
{
	on_event(p, f, CP_RECORD_INHERITED);
}

static void on_disarmed(cprof_profiler *p, const cprof_function *f, uint32_t rate)
{
	(void)rate;
	p->disarmed++;
	on_event(p, f, CP_RECORD_DISARMED);
}

static void on_block(cprof_profiler *p, cprof_thread *thread, const cprof_call_event *events,
		     size_t count)
{
	struct cp_record_call r = { .target = CP_RECORD_NONE, .stack = CP_RECORD_NONE };
	size_t i;

	r.thread = collector_thread(p, thread);
	if (r.thread == CP_LIVE_ALL)
		return;
	pthread_mutex_lock(&p->lock);
	if (!p->costs.inner_ps)
		p->costs = cp_module_detour_costs();
	p->spans.costs = &p->costs;
	for (i = 0; i < count && !p->failed; i++) {
		const cprof_call_event *e = &events[i];

		r.function = function_of(p, e->function);
		r.depth = e->depth;
		if (r.function == CP_LIVE_NONE)
			continue;
		if (e->kind == CPROF_CALL_ENTER || e->kind == CPROF_CALL_LEAF) {
			r.kind = CP_RECORD_ENTER;
			r.ts_ns = e->enter_ns;
			r.duration_ns = 0;
			fail(p, cp_spans_event(&p->spans, &r));
		}
		if (e->kind != CPROF_CALL_ENTER) {
			r.kind = e->kind == CPROF_CALL_TAIL_CALL ? CP_RECORD_TAIL_CALL
								 : CP_RECORD_LEAVE;
			r.ts_ns = e->timestamp_ns;
			r.duration_ns = e->timestamp_ns - e->enter_ns;
			fail(p, cp_spans_event(&p->spans, &r));
		}
	}
	p->spans.costs = NULL;
	pthread_mutex_unlock(&p->lock);
}

/* ---- start and end ---- */

bool collector_calls_start(cprof_profiler *p)
{
	char *error;

	p->spans.to = &to;
	p->spans.ctx = p;
	if (p->wants.max_rate <= UINT32_MAX)
		cprof_profiler_set_max_rate((uint32_t)p->wants.max_rate,
					    (uint32_t)p->wants.max_rate);
	error = p->wants.when ? cprof_profiler_set_call_condition(p->wants.when) : NULL;
	if (error)
		cprof_profiler_fail(p->handle, "%s", error);
	free(error);
	cprof_profiler_set_method_enter_callback(p->handle, on_enter);
	cprof_profiler_set_method_leave_callback(p->handle, on_leave);
	cprof_profiler_set_method_tail_call_callback(p->handle, on_tail_call);
	cprof_profiler_set_method_exception_leave_callback(p->handle, on_unwind);
	cprof_profiler_set_method_inherited_callback(p->handle, on_inherited);
	cprof_profiler_set_method_disarmed_callback(p->handle, on_disarmed);
	cprof_profiler_set_method_block_callback(p->handle, on_block);
	cprof_profiler_set_block_numbers(p->handle, true); /* it reads no values */
	return !error && settings_trace(p->handle, p->wants.trace, CALLS, &p->spec);
}

void collector_calls_forget(cprof_profiler *p, cprof_thread *t)
{
	uint32_t number = collector_thread(p, t);

	if (p->wants.trace && !cp_spans_are_open(&p->spans, number))
		cp_spans_forget(&p->spans, number);
}

void collector_calls_free(cprof_profiler *p)
{
	cp_spans_deinit(&p->spans);
	cp_map_free(&p->functions);
	cprof_callspec_free(p->spec);
}
