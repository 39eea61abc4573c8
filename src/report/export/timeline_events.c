/* SPDX-License-Identifier: MIT
 *
 * When a call took its time is known from the events between its enter and its leave: each
 * piece of a thread's time belongs to the innermost call. How long it was without what tracing
 * added is known when it is over, and then it is shared out to these pieces.
 */
#include "report/export/timeline_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "record/annotations.h"
#include "record/calls.h"
#include "report/events/annotations.h"
#include "report/events/exceptions.h"
#include "report/events/locks.h"
#include "report/profile/create.h"
#include "report/profile/heap.h"
#include "report/profile/spans.h"

/* Cells of a node are put down to this function, which is not the innermost one. */
static CP_ERROR put_down(struct cp_timeline *t, enum cp_series series, uint32_t node,
			 uint32_t function)
{
	struct cp_label label = { .kind = CP_LABEL_FUNCTION, .ref = function };
	uint32_t number;

	CP_TRY(cp_timeline_label(t, &label, &number));
	if (t->nodes.items[node].label == number || cp_map_get(&t->series[series].own, node))
		return NULL;
	return cp_map_put(&t->series[series].own, node, number + 1) ? NULL : cp_error_nomem();
}

/* ---- samples ---- */

/* To the lines and instructions that are shown. */
static CP_ERROR take_rows(struct cp_timeline *t, const struct cp_record_sample *s,
			  struct cp_timeline_cell cell, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t set = t->spots && s->stack < cp_record_stack_count(t->p->record)
			       ? t->spots->by_stack[s->stack]
			       : 0;

	if (!set)
		return NULL;
	cell.node = set - 1;
	return cp_timeline_spread(t,
				  cp_sample_waits(s) ? CP_SERIES_ROWS_WAITING
						     : CP_SERIES_ROWS_RUNNING,
				  cell, from_ns, to_ns);
}

static CP_ERROR take_samples(struct cp_timeline *t)
{
	const struct cp_record_sample *s = cp_record_samples(t->p->record);
	size_t count = cp_record_sample_count(t->p->record), i, frames;

	for (i = 0; i < count; i++, s++) {
		struct cp_timeline_cell cell = { .thread = s->thread,
						 .weight = (int64_t)s->weight_ns,
						 .ticks = s->count };
		enum cp_series series = cp_sample_waits(s) ? CP_SERIES_WAITING : CP_SERIES_RUNNING;
		uint64_t at = cp_profile_ns(t->p, s->ts_ns);
		uint64_t from = at > s->weight_ns ? at - s->weight_ns : 0;
		const uint32_t *walk;
		size_t own;

		if (!cp_profile_accepts(t->p, s))
			continue;
		CP_TRY(cp_timeline_stack(t, s->thread, s->stack, &cell.node));
		walk = cp_profile_walk(t->p, s->stack, &frames);
		own = cp_profile_own_frame(t->p, walk, frames,
					   cp_sample_waits(s) && !cp_sample_is_ready(s));
		CP_TRY(put_down(t, series, cell.node, t->p->frames.items[walk[own]].function));
		CP_TRY(cp_timeline_spread(t, series, cell, from, at));
		CP_TRY(take_rows(t, s, cell, from, at));
	}
	return NULL;
}

/* ---- calls ---- */

struct piece {
	uint32_t bucket;
	uint64_t ns;
};

/* A call that is open. */
struct open_call {
	uint32_t node;
	CP_VEC(struct piece) pieces; /* in which it was the innermost one */
};

/* What is innermost in a thread, and since when. */
struct calling {
	struct open_call *now; /* NULL: none */
	uint64_t since_ns;
};

struct walk {
	struct cp_timeline *t;
	struct calling *threads;
	struct cp_heap heap;
	struct cp_buf text;
	struct cp_error *err; /* of `gone` */
};

static bool add_piece(struct open_call *c, uint32_t bucket, uint64_t ns)
{
	struct piece *last = c->pieces.count ? &c->pieces.items[c->pieces.count - 1] : NULL;

	if (last && last->bucket == bucket) {
		last->ns += ns;
		return true;
	}
	return cp_vec_push(&c->pieces, ((struct piece){ bucket, ns }));
}

/* The time until now was the innermost call's. */
static CP_ERROR pass(struct walk *w, struct calling *c, uint64_t now_ns)
{
	const struct cp_timeline *t = w->t;
	uint64_t at = c->since_ns < t->from_ns ? t->from_ns : c->since_ns, end;
	uint32_t bucket;

	while (c->now && at < now_ns) {
		bucket = cp_timeline_bucket(t, at);
		end = t->from_ns + (bucket + (uint64_t)1) * t->bucket_ns;
		end = end > now_ns || bucket + 1 == t->buckets ? now_ns : end;
		if (!add_piece(c->now, bucket, end - at))
			return cp_error_nomem();
		at = end;
	}
	c->since_ns = now_ns;
	return NULL;
}

static struct open_call *open_of(const struct cp_span *span)
{
	return span ? span->data : NULL;
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct walk *w = ctx;
	struct calling *c = &w->threads[span->thread];
	const struct open_call *outer = open_of(cp_span_shown_outer(span));
	struct open_call *open = calloc(1, sizeof(*open));
	uint32_t parent = 0;

	(void)call;
	if (!open)
		return cp_error_nomem();
	span->data = open;
	if (outer)
		parent = outer->node;
	else
		CP_TRY(cp_timeline_root(w->t, span->thread, &parent));
	CP_TRY(cp_timeline_frame(w->t, parent, w->t->p->location_frames[span->location + 1] - 1,
				 &open->node));
	CP_TRY(pass(w, c, span->start_ns));
	c->now = open;
	return NULL;
}

/* The time of a call by itself, shared out to its pieces. */
static CP_ERROR share_out(struct walk *w, const struct cp_span *span, const struct open_call *open)
{
	struct cp_timeline_cell cell = { .thread = span->thread, .node = open->node };
	const int64_t self = cp_span_likely(span) - span->inner_ns;
	int64_t given = 0, until;
	double sum = 0, so_far = 0;
	size_t i;

	for (i = 0; i < open->pieces.count; i++)
		sum += (double)open->pieces.items[i].ns;
	for (i = 0; i < open->pieces.count && sum > 0; i++) {
		so_far += (double)open->pieces.items[i].ns;
		until = (int64_t)((double)self * (so_far / sum));
		cell.bucket = open->pieces.items[i].bucket;
		cell.weight = until - given;
		given = until;
		CP_TRY(cp_timeline_add(w->t, CP_SERIES_CALLS, &cell));
	}
	cell.bucket = cp_timeline_bucket(w->t, span->start_ns);
	cell.weight = self - given;
	cell.ticks = !span->inherited;
	return cp_timeline_add(w->t, CP_SERIES_CALLS, &cell);
}

static CP_ERROR add_duration(struct walk *w, const struct cp_span *span)
{
	struct cp_label label = { .kind = CP_LABEL_FUNCTION, .ref = span->function };
	struct cp_timeline_cell cell = { .thread = span->thread, .weight = 1 };
	uint32_t number;

	if (span->inherited || span->end >= CP_SPAN_LOST)
		return NULL;
	CP_TRY(cp_timeline_label(w->t, &label, &number));
	cell.bucket = cp_timeline_bucket(w->t, span->start_ns);
	cell.node = CP_TIMELINE_DURATION(number, span->net_ns);
	return cp_timeline_add(w->t, CP_SERIES_DURATIONS, &cell);
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct walk *w = ctx;
	struct calling *c = &w->threads[span->thread];
	struct open_call *open = open_of(span);
	struct cp_error *err = pass(w, c, span->end_ns);

	(void)call;
	if (!open)
		return err;
	if (!err)
		err = share_out(w, span, open);
	if (!err)
		err = add_duration(w, span);
	c->now = open_of(cp_span_shown_outer(span));
	cp_vec_free(&open->pieces);
	free(open);
	span->data = NULL;
	return err;
}

/* ---- locks and exceptions ---- */

/* Where it was: the stack, where there is one, or the function alone. */
static CP_ERROR place_of(struct walk *w, uint32_t thread, uint32_t function,
			 const struct cp_record_call *call, uint32_t *ret)
{
	struct cp_label label = { .kind = CP_LABEL_FUNCTION, .ref = function };
	uint32_t root;

	if (call->stack != CP_RECORD_NONE)
		return cp_timeline_stack(w->t, thread, call->stack, ret);
	CP_TRY(cp_timeline_root(w->t, thread, &root));
	return cp_timeline_child(w->t, root, &label, 0, ret);
}

/* On top of it stands what it was about, whose name is in w->text. */
static CP_ERROR add_thing(struct walk *w, uint32_t *node)
{
	struct cp_label label = { .kind = CP_LABEL_THING };

	if (w->text.failed)
		return cp_error_nomem();
	label.text = w->text.bytes ? w->text.bytes : "";
	return cp_timeline_child(w->t, *node, &label, 0, node);
}

static struct cp_error *wait_for(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call)
{
	struct walk *w = ctx;
	uint64_t end = cp_profile_ns(w->t->p, call->ts_ns), ns = call->duration_ns;
	struct cp_timeline_cell cell = { .thread = thread, .weight = (int64_t)ns, .ticks = 1 };

	CP_TRY(place_of(w, thread, function, call, &cell.node));
	cp_buf_clear(&w->text);
	cp_wait_name(call, &w->text);
	CP_TRY(add_thing(w, &cell.node));
	return cp_timeline_spread(w->t, CP_SERIES_LOCKS, cell, end > ns ? end - ns : 0, end);
}

static struct cp_error *exception(void *ctx, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call)
{
	struct walk *w = ctx;
	struct cp_timeline_cell cell = { .thread = thread, .weight = 1, .ticks = 1 };

	if (call->kind != CP_RECORD_THROW)
		return NULL;
	CP_TRY(place_of(w, thread, function, call, &cell.node));
	cp_buf_clear(&w->text);
	cp_buf_str(&w->text, *cp_exception_type(call) ? cp_exception_type(call) : "exception");
	CP_TRY(add_thing(w, &cell.node));
	cell.bucket = cp_timeline_bucket(w->t, cp_profile_ns(w->t->p, call->ts_ns));
	return cp_timeline_add(w->t, CP_SERIES_THROWN, &cell);
}

static CP_ERROR walk_calls(struct walk *w)
{
	static const struct cp_span_visitor visitor = {
		.enter = enter, .leave = leave, .exception = exception, .wait = wait_for
	};

	w->threads = calloc(cp_record_thread_count(w->t->p->record) + 1, sizeof(*w->threads));
	if (!w->threads)
		return cp_error_nomem();
	return cp_spans_walk(w->t->p, &visitor, w);
}

/* ---- the heap ---- */

static CP_ERROR add_block(struct cp_timeline *t, enum cp_series series,
			  const struct cp_heap_block *b, uint64_t ts_ns)
{
	struct cp_timeline_cell cell = { .thread = b->thread,
					 .weight = (int64_t)b->weight.bytes,
					 .ticks = (int64_t)b->weight.blocks };

	CP_TRY(cp_timeline_stack(t, b->thread, b->stack, &cell.node));
	CP_TRY(put_down(t, series, cell.node, b->function));
	cell.bucket = cp_timeline_bucket(t, cp_profile_ns(t->p, ts_ns));
	return cp_timeline_add(t, series, &cell);
}

static bool is_in_time(const struct cp_timeline *t, uint64_t ts_ns)
{
	return cp_profile_ns(t->p, ts_ns) >= t->from_ns;
}

static void gone(void *ctx, const struct cp_heap_block *b, uint64_t ts_ns)
{
	struct walk *w = ctx;

	if (!is_in_time(w->t, b->ts_ns))
		return;
	if (!w->err)
		w->err = add_block(w->t, CP_SERIES_ALLOCATED, b, b->ts_ns);
	if (!w->err)
		w->err = add_block(w->t, CP_SERIES_FREED, b, ts_ns);
}

static CP_ERROR take_heap(struct walk *w)
{
	const struct cp_heap_block *b;

	w->heap.by_thread = true;
	w->heap.gone = gone;
	w->heap.gone_ctx = w;
	CP_TRY(cp_heap_build(w->t->p, &w->heap));
	w->t->live_unknown = w->heap.sampled;
	CP_TRY(cp_steal(w->err));
	cp_vec_for_each(&w->heap.blocks, b)
		if (b->process != CP_RECORD_NONE && b->counts && is_in_time(w->t, b->ts_ns))
			CP_TRY(add_block(w->t, CP_SERIES_ALLOCATED, b, b->ts_ns));
	return NULL;
}

/* ---- what the program announced ---- */

/* A span's time is taken from the one around it: what is left is its own. */
static CP_ERROR add_span(struct cp_timeline *t, const struct cp_annotations *a, uint32_t number,
			 uint32_t *nodes)
{
	const struct cp_noted_span *s = &a->spans.items[number];
	const struct cp_label label = { .kind = CP_LABEL_THING, .text = s->name };
	struct cp_timeline_cell cell = { .thread = a->tracks.items[s->track].thread,
					 .weight = (int64_t)(s->end_ns - s->start_ns),
					 .ticks = 1 };
	bool inner = s->outer != CP_RECORD_NONE && nodes[s->outer];
	uint32_t around;

	if (inner)
		around = nodes[s->outer];
	else
		CP_TRY(cp_timeline_root(t, cell.thread, &around));
	CP_TRY(cp_timeline_child(t, around, &label, 0, &nodes[number]));
	cell.node = nodes[number];
	CP_TRY(cp_timeline_spread(t, CP_SERIES_SPANS, cell, s->start_ns, s->end_ns));
	if (!inner || s->async)
		return NULL;
	cell.node = around;
	cell.weight = -cell.weight;
	cell.ticks = 0;
	return cp_timeline_spread(t, CP_SERIES_SPANS, cell, s->start_ns, s->end_ns);
}

static CP_ERROR take_spans(struct cp_timeline *t)
{
	struct cp_annotations a CP_CLEANUP(cp_annotations_deinit) = { 0 };
	CP_FREE uint32_t *nodes = NULL; /* by span */
	uint32_t i;

	CP_TRY(cp_annotations_build(t->p, &a));
	nodes = calloc(a.spans.count + 1, sizeof(*nodes));
	if (!nodes)
		return cp_error_nomem();
	for (i = 0; i < a.spans.count; i++)
		if (cp_noted_shown(&a, &a.spans.items[i]))
			CP_TRY(add_span(t, &a, i, nodes));
	return NULL;
}

/* ---- all ---- */

static void deinit(struct walk *w)
{
	free(w->threads);
	cp_heap_deinit(&w->heap);
	cp_buf_free(&w->text);
	cp_error_free(w->err);
}

CP_ERROR cp_timeline_take(struct cp_timeline *t)
{
	struct walk w CP_CLEANUP(deinit) = { .t = t };

	CP_TRY(take_samples(t));
	CP_TRY(walk_calls(&w));
	if (cp_record_heap_count(t->p->record))
		CP_TRY(take_heap(&w));
	return cp_record_annotation_count(t->p->record) ? take_spans(t) : NULL;
}
