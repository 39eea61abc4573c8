/* SPDX-License-Identifier: MIT
 *
 * The calls of a recording as lines (lines/calls.h), in the order of time. What the
 * program announced stands among them:
 *
 *     0.000130    ▶ parse main.c  "a.conf"
 *     0.000140      ● cache hit
 *     0.000150    ◀ parse  20.0 µs
 */
#include "report/replay/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/events/annotations.h"
#include "report/events/calltable.h"
#include "report/events/exceptions.h"
#include "report/events/locks.h"
#include "report/events/maps.h"
#include "report/look/sink.h"
#include "report/profile/heap.h"
#include "report/profile/invoker.h"
#include "report/profile/spans.h"
#include "report/profile/summed.h"
#include "report/replay/chosen.h"
#include "report/replay/flat.h"
#include "report/replay/printer.h"
#include "report/tables/missing.h"
#include "transcript/calls.h"

#define QUEUE_MAX 512
#define INDENT_MOST 200 /* columns, where there is no width; deeper: the depth in digits */

static void force_line(void *ctx, uint64_t number, uint32_t thread)
{
	struct cp_printer *w = ctx;
	size_t i;

	if (w->tails[thread].line == number) {
		cp_transcript_end_tail(&w->l, &w->tails[thread]);
		return;
	}
	for (i = 0; i < w->open.count; i++) {
		struct cp_line_call *s = cp_printer_shown(w->open.items[i]);

		if (s && s->line == number) {
			cp_transcript_open_braces(&w->l, s);
			return;
		}
	}
}

static void write_line(void *ctx, const struct cp_buf *text)
{
	struct cp_printer *w = ctx;

	cp_buf_add(&w->sink->buf, text->bytes, text->size);
	w->sink->buf.failed |= text->failed;
}

static const struct cp_transcript_owner owner = { cp_printer_label, force_line, write_line };

/* ---- annotations ---- */

/* Open spans of a track indent what comes. */
static uint32_t noted_indent(const struct cp_printer *w, uint32_t track)
{
	uint32_t indent = 0;
	size_t i;

	for (i = 0; i < w->noted.count; i++) {
		const struct cp_replay_noted *n = &w->noted.items[i];

		if (w->annotations.spans.items[n->span].track == track && n->indent >= indent)
			indent = n->indent + 1;
	}
	return indent;
}

/* Ends the lines of a thread that could go on, for what comes now has a line of its own;
 * returns how much calls and spans around it indent that. */
static uint32_t settle(struct cp_printer *w, uint32_t thread, uint32_t track)
{
	uint32_t indent = noted_indent(w, track);
	size_t i;

	cp_transcript_end_tail(&w->l, &w->tails[thread]);
	for (i = 0; i < w->open.count; i++) {
		struct cp_line_call *s = cp_printer_shown(w->open.items[i]);

		if (w->open.items[i]->thread != thread || !s)
			continue;
		cp_transcript_open_braces(&w->l, s);
		indent = s->indent >= indent ? s->indent + 1 : indent;
	}
	return indent;
}

static struct cp_transcript_line *noted_line(struct cp_printer *w, uint64_t ns, uint32_t thread,
					     uint32_t indent)
{
	uint64_t number;

	cp_printer_about(w, ns, thread, CP_RECORD_NONE, 0);
	number = cp_transcript_new(&w->l, ns, thread, w->options->flat ? 0 : indent);
	return number == CP_NO_LINE ? NULL : cp_transcript_at(&w->l, number);
}

static void put_track(struct cp_printer *w, struct cp_transcript_line *line, uint32_t track)
{
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };

	cp_track_name(&w->annotations, track, &name);
	cp_line_name(&w->l, line, CP_PAINT_NAME, name.bytes);
}

static bool too_short(const struct cp_printer *w, const struct cp_noted_span *s)
{
	return s->end_ns - s->start_ns < w->least_ns;
}

static struct cp_error *begin_noted(struct cp_printer *w, uint32_t span,
				    const struct cp_record_annotation *it)
{
	const struct cp_noted_span *s = &w->annotations.spans.items[span];
	struct cp_replay_noted open = { span, 0 };
	struct cp_transcript_line *line;

	if (too_short(w, s))
		return NULL;
	open.indent = settle(w, it->thread, s->track);
	line = noted_line(w, s->start_ns, it->thread, open.indent);
	if (!line)
		return cp_error_nomem();
	cp_line_put(&w->l, line, CP_PAINT_COOL, s->async ? "⇉" : "▶");
	cp_line_name(&w->l, line, CP_PAINT_NAME, s->name);
	cp_line_name(&w->l, line, CP_PAINT_DIM, s->category);
	cp_line_name(&w->l, line, CP_PAINT_PLAIN, s->object);
	cp_line_end(line);
	return s->async || cp_vec_push(&w->noted, open) ? NULL : cp_error_nomem();
}

static struct cp_error *end_noted(struct cp_printer *w, uint32_t span, uint32_t thread, bool open)
{
	const struct cp_noted_span *s = &w->annotations.spans.items[span];
	struct cp_transcript_line *line;
	uint32_t indent;
	size_t i;

	if (too_short(w, s))
		return NULL;
	indent = settle(w, thread, s->async ? s->end_track : s->track);
	for (i = w->noted.count; i-- && w->noted.items[i].span != span;)
		;
	if (i != SIZE_MAX) {
		indent = w->noted.items[i].indent;
		for (; i + 1 < w->noted.count; i++)
			w->noted.items[i] = w->noted.items[i + 1];
		w->noted.count--;
	}
	line = noted_line(w, s->end_ns, thread, indent);
	if (!line)
		return cp_error_nomem();
	cp_line_put(&w->l, line, CP_PAINT_COOL, s->async ? "⇇" : "◀");
	cp_line_name(&w->l, line, CP_PAINT_NAME, s->name);
	if (open)
		cp_line_fit(&w->l, line, CP_PAINT_DIM, " … not over at the end", 9, 6);
	cp_line_time(&w->l, line, s->end_ns - s->start_ns, false, 0);
	cp_line_end(line);
	return NULL;
}

static void put_number(struct cp_printer *w, struct cp_transcript_line *line, const char *before,
		       int64_t value, const char *after)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_printf(&text, "%s%" PRId64 "%s", before, value, after);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, text.bytes ? text.bytes : "");
}

static struct cp_error *moment(struct cp_printer *w, uint32_t number,
			       const struct cp_record_annotation *it)
{
	const struct cp_annotations *a = &w->annotations;
	uint32_t indent = settle(w, it->thread, a->tracks_of[number]);
	struct cp_transcript_line *line =
		noted_line(w, cp_annotation_ns(a, it), it->thread, indent);

	if (!line)
		return cp_error_nomem();
	if (it->kind == CP_RECORD_FIBER_SWITCH) {
		cp_line_put(&w->l, line, CP_PAINT_COOL, "⇄");
		put_track(w, line, a->tracks_of[number]);
		cp_line_put(&w->l, line, CP_PAINT_PLAIN, " →");
		put_track(w, line, a->spans_of[number]);
	} else if (it->kind == CP_RECORD_ANNOTATIONS_LOST) {
		cp_line_put(&w->l, line, CP_PAINT_WARNING, "!");
		put_number(w, line, " ", it->value, " annotations were lost");
	} else {
		cp_line_put(&w->l, line, CP_PAINT_COOL, it->kind == CP_RECORD_COUNTER ? "∿" : "●");
		cp_line_name(&w->l, line, CP_PAINT_NAME, it->name);
		if (it->kind == CP_RECORD_COUNTER)
			put_number(w, line, " = ", it->value, "");
		cp_line_name(&w->l, line, CP_PAINT_DIM, it->category);
		cp_line_name(&w->l, line, CP_PAINT_PLAIN, it->object);
	}
	cp_line_end(line);
	return NULL;
}

static struct cp_error *annotation(struct cp_printer *w, uint32_t number)
{
	const struct cp_annotations *a = &w->annotations;
	struct cp_record_annotation it = cp_record_get_annotation(w->p->record, number);
	uint32_t span = cp_annotation_span(a, number);

	w->tracks[it.thread] = a->tracks_of[number];
	if (it.kind == CP_RECORD_FIBER_SWITCH)
		w->tracks[it.thread] = a->spans_of[number];
	if (!cp_annotation_shown(a, &it))
		return NULL;
	switch ((enum cp_record_annotation_kind)it.kind) {
	case CP_RECORD_SPAN_BEGIN:
	case CP_RECORD_ASYNC_START:
		return begin_noted(w, span, &it);
	case CP_RECORD_SPAN_END:
	case CP_RECORD_ASYNC_FINISH:
		return span == CP_RECORD_NONE ? NULL : end_noted(w, span, it.thread, false);
	case CP_RECORD_INSTANT:
	case CP_RECORD_COUNTER:
	case CP_RECORD_FIBER_SWITCH:
	case CP_RECORD_ANNOTATIONS_LOST:
		return moment(w, number, &it);
	case CP_RECORD_THREAD_NAME:
	case CP_RECORD_FIBER_NAME:
	case CP_RECORD_ANNOTATION_KINDS:
		break;
	}
	return NULL;
}

static struct cp_error *unended_until(struct cp_printer *w, uint64_t ns)
{
	const struct cp_annotations *a = &w->annotations;
	uint32_t span;

	while ((span = cp_annotations_next_unended(a, &w->next_unended, ns)) != CP_RECORD_NONE)
		if (cp_noted_shown(a, &a->spans.items[span]))
			CP_TRY(end_noted(w, span,
					 a->tracks.items[a->spans.items[span].track].thread, true));
	return NULL;
}

/* All annotations up to `ns`. */
static struct cp_error *annotations_until(struct cp_printer *w, uint64_t ns)
{
	const struct cp_record *record = w->p->record;
	struct cp_record_annotation it;
	uint32_t number;

	while ((number = cp_annotations_next(&w->annotations, record, &w->next, ns)) !=
	       CP_RECORD_NONE) {
		it = cp_record_get_annotation(record, number);
		CP_TRY(unended_until(w, cp_annotation_ns(&w->annotations, &it)));
		CP_TRY(annotation(w, number));
		cp_printer_write(w);
	}
	return NULL;
}

/* The rest of them, then the spans that are not over. */
static struct cp_error *annotations_end(struct cp_printer *w)
{
	CP_TRY(annotations_until(w, UINT64_MAX));
	return unended_until(w, UINT64_MAX);
}

/* ---- events ---- */

static uint32_t call_indent(const struct cp_printer *w, const struct cp_span *span,
			    const struct cp_span *outer)
{
	uint32_t indent = noted_indent(w, w->tracks[span->thread]);

	return outer && cp_printer_shown(outer)->indent >= indent
		       ? cp_printer_shown(outer)->indent + 1
		       : indent;
}

static struct cp_error *begin_call(struct cp_printer *w, const struct cp_span *span,
				   struct cp_span *outer, const struct cp_record_call *call)
{
	struct cp_buf by CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_line_begin begin = {
		.ns = span->start_ns,
		.thread = span->thread,
		.depth = span->depth,
		.indent = call_indent(w, span, outer),
		.function = span->entered ? span->function : CP_NO_FUNCTION,
		.name = cp_printer_name(w, span->function),
	};

	cp_invoker_name(w->p, call, &by);
	begin.invoker = by.size ? by.bytes : NULL;
	begin.arguments = "…";
	if (span->entered)
		begin.arguments = cp_printer_values(w, call->values, call->value_count, false);
	return cp_transcript_begin_call(&w->l, &w->tails[span->thread], cp_printer_shown(outer),
					&begin, cp_printer_shown(span))
		       ? NULL
		       : cp_error_nomem();
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct cp_printer *w = ctx;
	struct cp_span *outer = cp_span_shown_outer(span);
	struct cp_line_call *s;

	if (!cp_chosen_span(&w->chosen, span))
		return NULL;
	CP_TRY(annotations_until(w, span->start_ns));
	cp_printer_about(w, span->start_ns, span->thread, span->function, span->depth);
	w->subject.stack = call ? call->stack : CP_RECORD_NONE;
	cp_printer_on_stack(w, span);
	if (w->options->flat)
		return cp_flat_enter(w, span, call);
	s = cp_printer_show(w);
	span->data = s;
	if (!s || !cp_vec_push(&w->open, span))
		return cp_error_nomem();
	if (!span->inherited)
		return begin_call(w, span, outer, call);
	*s = (struct cp_line_call){ .inherited = true,
				    .line = CP_NO_LINE,
				    .indent = call_indent(w, span, outer) };
	return NULL;
}

static void forget(struct cp_printer *w, const struct cp_span *span)
{
	size_t i;

	for (i = w->open.count; i-- && w->open.items[i] != span;)
		;
	for (; i + 1 < w->open.count; i++)
		w->open.items[i] = w->open.items[i + 1];
	w->open.count--;
}

/* A shown call is told to its end. */
static struct cp_error *over(struct cp_printer *w, struct cp_span *span)
{
	forget(w, span);
	cp_printer_let_go(w, span->data);
	span->data = NULL;
	cp_printer_write(w);
	return NULL;
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct cp_printer *w = ctx;
	struct cp_line_tail *tail = &w->tails[span->thread];
	struct cp_line_call *s = cp_printer_shown(span);
	uint64_t number, ns;
	bool at_most, known = span->target != CP_RECORD_NONE;

	if (!s)
		return NULL;
	CP_TRY(annotations_until(w, span->end_ns));
	cp_printer_about(w, span->end_ns, span->thread, span->function, span->depth);
	if (w->options->flat || s->line == CP_NO_LINE)
		cp_printer_on_stack(w, span);
	if (w->options->flat) {
		CP_TRY(cp_flat_leave(w, span, call));
		return over(w, span);
	}
	cp_transcript_end_tail(&w->l, tail);
	number = cp_transcript_closing(&w->l, s, cp_printer_name(w, span->function), span->end_ns,
				       span->thread);
	if (number == CP_NO_LINE)
		return cp_error_nomem();
	ns = s->before_ns + span->net_ns;
	at_most = s->at_most || span->uncertain_ns;
	if (span->end == CP_SPAN_TAIL_CALLED)
		*tail = (struct cp_line_tail){ .line = number,
					       .depth = span->depth,
					       .indent = s->indent,
					       .target = known ? span->target : CP_NO_FUNCTION,
					       .name = known ? cp_printer_name(w, span->target)
							     : NULL,
					       .ns = ns,
					       .at_most = at_most };
	else
		cp_printer_end_line(w, cp_transcript_at(&w->l, number), span, call,
				    (struct cp_net_time){ ns, at_most });
	return over(w, span);
}

static struct cp_error *disarmed(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call)
{
	struct cp_printer *w = ctx;
	uint64_t number;
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!cp_chosen_function(&w->chosen, function))
		return NULL;
	cp_printer_about(w, cp_profile_ns(w->p, call->ts_ns), thread, function, call->depth);
	number = cp_transcript_new(&w->l, cp_profile_ns(w->p, call->ts_ns), thread, 0);
	if (number == CP_NO_LINE)
		return cp_error_nomem();
	cp_add_disarmed(&text, call->count);
	cp_line_disarmed(&w->l, cp_transcript_at(&w->l, number), cp_printer_name(w, function),
			 text.bytes ? text.bytes : "");
	return NULL;
}

static struct cp_span *innermost(const struct cp_printer *w, uint32_t thread)
{
	size_t i;

	for (i = w->open.count; i--;)
		if (w->open.items[i]->thread == thread)
			return w->open.items[i];
	return NULL;
}

static void put_stack(struct cp_printer *w, const struct cp_record_call *call, uint64_t ns,
		      uint32_t indent)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const uint32_t *frames;
	uint64_t number;
	size_t count;

	for (frames = cp_profile_walk(w->p, call->stack, &count); count--;) { /* the leaf first */
		if ((number = cp_transcript_new(&w->l, ns, call->thread, indent + 2)) == CP_NO_LINE)
			return;
		cp_buf_clear(&text);
		cp_add_name(&text, cp_profile_function(w->p, frames[count])->name);
		cp_line_fit(&w->l, cp_transcript_at(&w->l, number), CP_PAINT_DIM,
			    text.bytes ? text.bytes : "", 0, 8);
		cp_line_end(cp_transcript_at(&w->l, number));
	}
}

/* A line of its own among the calls of a thread: an exception, a wait. */
struct moment {
	uint64_t ns, number;
	uint32_t indent;
};

static struct cp_error *begin_moment(struct cp_printer *w, uint32_t thread,
				     const struct cp_record_call *call, struct moment *ret)
{
	struct cp_span *around = innermost(w, thread);

	ret->ns = cp_profile_ns(w->p, call->ts_ns);
	ret->indent = around && !w->options->flat ? cp_printer_shown(around)->indent + 1 : 0;
	CP_TRY(annotations_until(w, ret->ns));
	cp_transcript_end_tail(&w->l, &w->tails[thread]);
	if (around)
		cp_transcript_open_braces(&w->l, cp_printer_shown(around));
	cp_printer_about(w, ret->ns, thread, CP_RECORD_NONE, 0);
	ret->number = cp_transcript_new(&w->l, ret->ns, thread, ret->indent);
	return ret->number == CP_NO_LINE ? cp_error_nomem() : NULL;
}

static void end_moment(struct cp_printer *w, const struct cp_record_call *call,
		       const struct moment *m)
{
	cp_line_end(cp_transcript_at(&w->l, m->number));
	if (call->stack != CP_RECORD_NONE)
		put_stack(w, call, m->ns, m->indent);
	cp_printer_write(w);
}

static struct cp_error *exception(void *ctx, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call)
{
	struct cp_printer *w = ctx;
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const char *type = cp_exception_type(call);
	bool thrown = call->kind == CP_RECORD_THROW;
	struct cp_transcript_line *line;
	struct moment m;

	if (!cp_chosen_function(&w->chosen, function))
		return NULL;
	CP_TRY(begin_moment(w, thread, call, &m));
	line = cp_transcript_at(&w->l, m.number);
	cp_line_put(&w->l, line, CP_PAINT_WARNING, "↯ ");
	cp_line_put(&w->l, line, CP_PAINT_WARNING, cp_exception_verb(call));
	cp_add_name(&text, *type ? type : "?");
	cp_line_fit(&w->l, line, CP_PAINT_BOLD, text.bytes ? text.bytes : "", 24, 12);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, thrown ? " at " : " in ");
	cp_buf_clear(&text);
	cp_exception_place(w->p, call, function, &text);
	cp_line_fit(&w->l, line, CP_PAINT_NAME, text.bytes ? text.bytes : "", 0, 8);
	end_moment(w, call, &m);
	return NULL;
}

/* "‖ waited TEXT in FUNCTION", with or without a mark; `raw` is the program's text. */
static struct cp_error *met_in(struct cp_printer *w, uint32_t thread, uint32_t function,
			       const struct cp_record_call *call, const char *mark,
			       const struct cp_buf *raw)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_transcript_line *line;
	struct moment m;

	CP_TRY(begin_moment(w, thread, call, &m));
	line = cp_transcript_at(&w->l, m.number);
	if (*mark)
		cp_line_put(&w->l, line, CP_PAINT_WARNING, mark);
	cp_add_name(&text, raw->bytes ? raw->bytes : "");
	cp_line_fit(&w->l, line, CP_PAINT_PLAIN, text.bytes ? text.bytes : "", 24, 12);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, " in ");
	cp_line_function(&w->l, line, cp_printer_name(w, function), 0, 8);
	end_moment(w, call, &m);
	return NULL;
}

/* At its end. */
static struct cp_error *wait_over(void *ctx, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call)
{
	struct cp_printer *w = ctx;
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };

	if (!cp_chosen_function(&w->chosen, function))
		return NULL;
	cp_wait_text(w->p, call, &raw);
	return met_in(w, thread, function, call, "‖ waited ", &raw);
}

/* An event of memory, in the words of its family. */
static struct cp_error *of_memory(struct cp_printer *w, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call,
				  void (*words)(const struct cp_record_call *, struct cp_buf *))
{
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };

	if (!cp_chosen_function(&w->chosen, function) ||
	    !cp_heap_shown(w->p, thread, function, call))
		return NULL;
	words(call, &raw);
	return met_in(w, thread, function, call, "", &raw);
}

static struct cp_error *heap(void *ctx, uint32_t thread, uint32_t function,
			     const struct cp_record_call *call)
{
	return of_memory(ctx, thread, function, call, cp_heap_text);
}

static struct cp_error *map(void *ctx, uint32_t thread, uint32_t function,
			    const struct cp_record_call *call)
{
	return of_memory(ctx, thread, function, call, cp_map_text);
}

/* ---- all of it ---- */

struct cp_replay {
	struct cp_printer w;
	struct cp_spans_walk *walk;
	uint64_t settled; /* lines before this one were there at the last cp_replay_settle() */
};

static struct cp_error *begin(struct cp_replay *r, const struct cp_replay_options *o)
{
	static const struct cp_span_visitor visitor = { .enter = enter,
							.leave = leave,
							.disarmed = disarmed,
							.exception = exception,
							.wait = wait_over,
							.heap = heap,
							.map = map };
	struct cp_printer *w = &r->w;

	CP_TRY(cp_printer_init(w));
	w->least_ns = w->p->filter.calls.least_ns;
	CP_TRY(cp_annotations_build(w->p, &w->annotations));
	CP_TRY(cp_chosen_init(&w->chosen, w->p, o));
	return cp_spans_walk_begin(w->p, &visitor, w, &r->walk);
}

CP_ERROR cp_replay_begin(const struct cp_profile *p, const struct cp_replay_options *o,
			 const struct cp_look *look, struct cp_sink *sink, struct cp_replay **ret)
{
	struct cp_replay *r = calloc(1, sizeof(*r));
	struct cp_error *err;

	if (!r)
		return cp_error_nomem();
	r->w = (struct cp_printer){ .p = p,
				    .sink = sink,
				    .options = o,
				    .l = { .owner = &owner,
					   .ctx = &r->w,
					   .look = look,
					   .longest = QUEUE_MAX,
					   .most_indent = INDENT_MOST } };
	err = begin(r, o);
	if (err)
		cp_replay_destroy(r);
	else
		*ret = r;
	return err;
}

void cp_replay_destroy(struct cp_replay *r)
{
	size_t i;

	if (!r)
		return;
	cp_transcript_deinit(&r->w.l);
	for (i = 0; i < r->w.open.count; i++)
		free(r->w.open.items[i]->data);
	cp_vec_free(&r->w.open);
	cp_vec_free(&r->w.noted);
	cp_spans_walk_destroy(r->walk);
	cp_annotations_deinit(&r->w.annotations);
	cp_printer_deinit(&r->w);
	cp_chosen_deinit(&r->w.chosen);
	free(r);
}

CP_ERROR cp_replay_grow(struct cp_replay *r)
{
	CP_TRY(cp_printer_grow(&r->w));
	CP_TRY(cp_spans_walk_grow(r->walk));
	return cp_chosen_grow(&r->w.chosen);
}

bool cp_replay_event(void *replay, const struct cp_record_call *call)
{
	struct cp_replay *r = replay;

	return cp_spans_walk_event(r->walk, call);
}

CP_ERROR cp_replay_check(struct cp_replay *r)
{
	return cp_spans_walk_end(r->walk, false);
}

void cp_replay_settle(struct cp_replay *r)
{
	cp_transcript_write_before(&r->w.l, r->settled);
	r->settled = cp_transcript_next(&r->w.l);
}

CP_ERROR cp_replay_end(struct cp_replay *r)
{
	struct cp_printer *w = &r->w;
	size_t i;

	CP_TRY(cp_spans_walk_end(r->walk, true));
	CP_TRY(annotations_end(w));
	for (i = 0; i < w->threads; i++)
		cp_transcript_end_tail(&w->l, &w->tails[i]);
	cp_printer_write(w);
	return NULL;
}

static struct cp_error *print_all(struct cp_replay *r)
{
	const struct cp_profile *p = r->w.p;
	struct cp_sink *sink = r->w.sink;

	CP_TRY(cp_record_each_call(p->record, cp_replay_event, r));
	CP_TRY(cp_replay_end(r));
	if (!cp_record_call_count(p->record) && !cp_record_annotation_count(p->record) &&
	    !cp_record_exception_count(p->record) && !cp_record_wait_count(p->record) &&
	    !cp_record_heap_count(p->record) && !cp_record_map_count(p->record))
		cp_buf_str(&sink->buf, "No call was recorded.\n");
	else if (!r->w.l.any)
		cp_buf_str(&sink->buf, "Nothing passes the filter.\n");
	return NULL;
}

CP_ERROR cp_replay_text(const struct cp_profile *p, const struct cp_replay_options *o,
			const struct cp_look *look, struct cp_sink *sink)
{
	struct cp_replay *r;
	struct cp_error *err;

	CP_TRY(cp_profile_need_events(p));
	CP_TRY(cp_replay_begin(p, o, look, sink, &r));
	err = print_all(r);
	cp_report_missing_calls(p, look, &sink->buf);
	cp_replay_destroy(r);
	return err;
}
