/* SPDX-License-Identifier: MIT
 *
 * Calls as a person wants to read them:
 *
 *     0.000120  serve(3) {
 *     0.000155    lookup("host", 4) = "10.0.0.7"  12.3 µs
 *     0.000190    a(1) ⇒ b(2) = 4  3.10 µs
 *     0.000220  } = 0  104 µs
 *
 * A call's line can only be finished when the next event of its thread is
 * known. Meanwhile what comes after it waits in a queue, so that lines come in
 * the order of time, whichever thread they are of; when that becomes long, the
 * line at its head is written as that of a call with calls in it.
 *
 * Where a call comes from code that is not traced, its line begins with who made
 * it: "start: ", "thread: ", "signal SIGUSR1: ", "callback from qsort: ".
 *
 * What the program announced stands among them:
 *
 *     0.000130    ▶ parse main.c  "a.conf"
 *     0.000140      ● cache hit
 *     0.000150    ◀ parse  20.0 µs
 */
#include "report/replay/replay.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/events/annotations.h"
#include "report/events/calltable.h"
#include "report/events/exceptions.h"
#include "report/events/locks.h"
#include "report/look/sink.h"
#include "report/profile/heap.h"
#include "report/profile/invoker.h"
#include "report/profile/spans.h"
#include "report/profile/values.h"
#include "report/replay/chosen.h"
#include "report/replay/lines.h"
#include "report/tables/missing.h"

#define QUEUE_MAX 512

/* What is known of a shown call; its span's `data`. */
struct shown {
	bool inherited; /* its end says so, for nothing said how it began */
	uint64_t line; /* that it can go on; CP_NO_LINE: calls in it came first */
	uint32_t indent;
	uint64_t before_ns; /* time of the calls whose tail call it is */
	bool at_most; /* that is a bound */
};

/* A tail call whose target may come next. */
struct tail {
	uint64_t line; /* CP_NO_LINE: none */
	uint32_t depth, indent, target;
	uint64_t ns;
	bool at_most;
};

/* A span that the program began. */
struct noted {
	uint32_t span, indent;
};

struct printer {
	struct cp_replay_lines l;
	struct cp_chosen chosen;
	CP_VEC(struct cp_span *) open; /* shown ones */
	struct tail *tails; /* by thread */
	struct cp_annotations annotations;
	size_t next, next_unended; /* annotation, span: in the order of time */
	uint32_t *tracks; /* by thread: that it is on now; CP_RECORD_NONE: not known */
	CP_VEC(struct noted) noted; /* open ones */
	uint64_t least_ns;
};

/* ---- lines ---- */

static struct shown *shown_of(const struct cp_span *span)
{
	return span ? span->data : NULL;
}

/* The call has calls in it. */
static void open_braces(struct printer *w, struct shown *s)
{
	struct cp_replay_line *line;

	if (s->line == CP_NO_LINE)
		return;
	line = cp_line_at(&w->l, s->line);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, " {");
	cp_line_end(line);
	s->line = CP_NO_LINE;
}

static void end_tail(struct printer *w, struct tail *tail)
{
	struct cp_replay_line *line;

	if (tail->line == CP_NO_LINE)
		return;
	line = cp_line_at(&w->l, tail->line);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, " ⇒ ");
	if (tail->target == CP_RECORD_NONE)
		cp_line_put(&w->l, line, CP_PAINT_DIM, "?");
	else
		cp_line_function(&w->l, line, tail->target, CP_LINE_TIME(tail->at_most), 5);
	cp_line_time(&w->l, line, tail->ns, tail->at_most, 0);
	cp_line_end(line);
	tail->line = CP_NO_LINE;
}

/* What the line at the head waits for does not come for long. */
static void force_head(struct printer *w)
{
	const struct cp_replay_line *line = &w->l.queue.items[w->l.head];
	struct tail *tail = &w->tails[line->thread];
	size_t i;

	if (tail->line == w->l.first) {
		end_tail(w, tail);
		return;
	}
	for (i = 0; i < w->open.count; i++) {
		struct shown *s = shown_of(w->open.items[i]);

		if (s && s->line == w->l.first) {
			open_braces(w, s);
			return;
		}
	}
}

static void write_lines(struct printer *w)
{
	size_t i;

	while (w->l.head < w->l.queue.count) {
		struct cp_replay_line *line = &w->l.queue.items[w->l.head];

		if (line->open && w->l.queue.count - w->l.head > QUEUE_MAX)
			force_head(w);
		if (line->open)
			break;
		cp_buf_add(&w->l.sink->buf, line->text.bytes, line->text.size);
		w->l.sink->buf.failed |= line->text.failed;
		cp_buf_free(&line->text);
		w->l.head++;
		w->l.first++;
	}
	if (w->l.head > QUEUE_MAX) {
		for (i = w->l.head; i < w->l.queue.count; i++)
			w->l.queue.items[i - w->l.head] = w->l.queue.items[i];
		w->l.queue.count -= w->l.head;
		w->l.head = 0;
	}
	cp_sink_spill(w->l.sink);
}

/* ---- annotations ---- */

/* What spans of the thread's track are open: they indent what comes. */
static uint32_t noted_indent(const struct printer *w, uint32_t track)
{
	uint32_t indent = 0;
	size_t i;

	for (i = 0; i < w->noted.count; i++) {
		const struct noted *n = &w->noted.items[i];

		if (w->annotations.spans.items[n->span].track == track && n->indent >= indent)
			indent = n->indent + 1;
	}
	return indent;
}

/* Nothing of the thread may go on behind what comes now: a line of its own, so
 * much indented by the calls and spans around it. */
static uint32_t settle(struct printer *w, uint32_t thread, uint32_t track)
{
	uint32_t indent = noted_indent(w, track);
	size_t i;

	end_tail(w, &w->tails[thread]);
	for (i = 0; i < w->open.count; i++) {
		struct shown *s = shown_of(w->open.items[i]);

		if (w->open.items[i]->thread != thread || !s)
			continue;
		open_braces(w, s);
		indent = s->indent >= indent ? s->indent + 1 : indent;
	}
	return indent;
}

static struct cp_replay_line *noted_line(struct printer *w, uint64_t ns, uint32_t thread,
					 uint32_t indent)
{
	uint64_t number = cp_line_new(&w->l, ns, thread, indent);

	return number == CP_NO_LINE ? NULL : cp_line_at(&w->l, number);
}

static void put_track(struct printer *w, struct cp_replay_line *line, uint32_t track)
{
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };

	cp_track_name(&w->annotations, track, &name);
	cp_line_name(&w->l, line, CP_PAINT_NAME, name.bytes);
}

static bool too_short(const struct printer *w, const struct cp_noted_span *s)
{
	return s->end_ns - s->start_ns < w->least_ns;
}

static struct cp_error *begin_noted(struct printer *w, uint32_t span,
				    const struct cp_record_annotation *it)
{
	const struct cp_noted_span *s = &w->annotations.spans.items[span];
	struct noted open = { span, 0 };
	struct cp_replay_line *line;

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

static struct cp_error *end_noted(struct printer *w, uint32_t span, uint32_t thread, bool open)
{
	const struct cp_noted_span *s = &w->annotations.spans.items[span];
	struct cp_replay_line *line;
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

static void put_number(struct printer *w, struct cp_replay_line *line, const char *before,
		       int64_t value, const char *after)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_printf(&text, "%s%" PRId64 "%s", before, value, after);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, text.bytes ? text.bytes : "");
}

static struct cp_error *moment(struct printer *w, uint32_t number,
			       const struct cp_record_annotation *it)
{
	const struct cp_annotations *a = &w->annotations;
	uint32_t indent = settle(w, it->thread, a->tracks_of[number]);
	struct cp_replay_line *line = noted_line(w, cp_annotation_ns(a, it), it->thread, indent);

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

static struct cp_error *annotation(struct printer *w, uint32_t number)
{
	const struct cp_annotations *a = &w->annotations;
	struct cp_record_annotation it = cp_record_get_annotation(w->l.p->record, number);
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

static struct cp_error *unended_until(struct printer *w, uint64_t ns)
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
static struct cp_error *annotations_until(struct printer *w, uint64_t ns)
{
	const struct cp_record *record = w->l.p->record;
	struct cp_record_annotation it;
	uint32_t number;

	while ((number = cp_annotations_next(&w->annotations, record, &w->next, ns)) !=
	       CP_RECORD_NONE) {
		it = cp_record_get_annotation(record, number);
		CP_TRY(unended_until(w, cp_annotation_ns(&w->annotations, &it)));
		CP_TRY(annotation(w, number));
		write_lines(w);
	}
	return NULL;
}

/* The rest of them, then the spans that are not over. */
static struct cp_error *annotations_end(struct printer *w)
{
	CP_TRY(annotations_until(w, UINT64_MAX));
	return unended_until(w, UINT64_MAX);
}

/* ---- events ---- */

/* The line for a tail call: that of who made it, if there is room. */
static uint64_t continue_tail(struct printer *w, const struct tail *tail,
			      const struct cp_span *span)
{
	struct cp_replay_line *line = cp_line_at(&w->l, tail->line);
	uint64_t number = tail->line;

	if (w->l.look->columns && line->columns + CP_LINE_LEAST > w->l.look->columns) {
		cp_line_end(line);
		number = cp_line_new(&w->l, span->start_ns, span->thread, tail->indent);
		if (number != CP_NO_LINE)
			cp_line_put(&w->l, cp_line_at(&w->l, number), CP_PAINT_PLAIN, "⇒ ");
	} else {
		cp_line_put(&w->l, line, CP_PAINT_PLAIN, " ⇒ ");
	}
	return number;
}

/* Who called, if that is not a traced function: before the call, or where that
 * leaves too little room on a line of its own. */
static bool put_invoker(struct printer *w, struct shown *s, const struct cp_span *span,
			const struct cp_record_call *call)
{
	struct cp_replay_line *line = cp_line_at(&w->l, s->line);
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t most = w->l.look->columns;

	cp_invoker_name(w->l.p, call, &raw);
	if (!raw.size)
		return true;
	cp_add_name(&text, raw.bytes);
	cp_buf_u8(&text, ':');
	cp_line_fit(&w->l, line, CP_PAINT_DIM, text.bytes, 0, 8);
	if (!most || line->columns + CP_LINE_LEAST < most) {
		cp_line_put(&w->l, line, CP_PAINT_PLAIN, " ");
		return true;
	}
	cp_line_end(line);
	s->line = cp_line_new(&w->l, span->start_ns, span->thread, s->indent);
	return s->line != CP_NO_LINE;
}

static uint32_t call_indent(const struct printer *w, const struct cp_span *span,
			    const struct cp_span *outer)
{
	uint32_t indent = noted_indent(w, w->tracks[span->thread]);

	return outer && shown_of(outer)->indent >= indent ? shown_of(outer)->indent + 1 : indent;
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct printer *w = ctx;
	struct tail *tail = &w->tails[span->thread];
	struct cp_span *outer = cp_span_shown_outer(span);
	struct cp_buf args CP_CLEANUP(cp_buf_free) = { 0 };
	struct shown *s;
	struct cp_replay_line *line;

	if (!cp_chosen_span(&w->chosen, span))
		return NULL;
	CP_TRY(annotations_until(w, span->start_ns));
	s = calloc(1, sizeof(*s));
	span->data = s;
	if (!s || !cp_vec_push(&w->open, span))
		return cp_error_nomem();
	if (span->inherited) {
		*s = (struct shown){ true, CP_NO_LINE, call_indent(w, span, outer), 0, false };
		return NULL;
	}
	if (tail->line != CP_NO_LINE && tail->depth == span->depth && span->entered &&
	    tail->target == span->function) {
		s->line = continue_tail(w, tail, span);
		s->indent = tail->indent;
		s->before_ns = tail->ns;
		s->at_most = tail->at_most;
		tail->line = CP_NO_LINE;
		if (s->line == CP_NO_LINE)
			return cp_error_nomem();
	} else {
		end_tail(w, tail);
		if (outer)
			open_braces(w, shown_of(outer));
		s->indent = call_indent(w, span, outer);
		s->line = cp_line_new(&w->l, span->start_ns, span->thread, s->indent);
		if (s->line == CP_NO_LINE || !put_invoker(w, s, span, call))
			return cp_error_nomem();
	}
	line = cp_line_at(&w->l, s->line);
	cp_line_function(&w->l, line, span->function, 24, 12);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, "(");
	if (span->entered)
		cp_values_text(&args, call->values, call->value_count, false);
	else
		cp_buf_str(&args, "…");
	cp_line_fit(&w->l, line, CP_PAINT_PLAIN, args.bytes ? args.bytes : "", 24, 4);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, ")");
	return NULL;
}

static bool fits(const struct printer *w, const struct cp_replay_line *line)
{
	return !w->l.look->columns || line->columns + 24 <= w->l.look->columns;
}

static void put_values(struct printer *w, struct cp_replay_line *line,
		       const struct cp_record_call *call, size_t time)
{
	struct cp_returned r = cp_call_returned(call);
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (r.result) {
		cp_values_text(&text, r.result, 1, false);
		cp_line_put(&w->l, line, CP_PAINT_PLAIN, " = ");
		cp_line_fit(&w->l, line, CP_PAINT_BOLD, text.bytes ? text.bytes : "", time, 6);
	}
	if (r.changed_count && fits(w, line)) {
		cp_buf_clear(&text);
		cp_values_text(&text, r.changed, r.changed_count, true);
		cp_line_put(&w->l, line, CP_PAINT_PLAIN, "  → ");
		cp_line_fit(&w->l, line, CP_PAINT_PLAIN, text.bytes ? text.bytes : "", time + 2, 8);
	}
	if (!r.local_count || !fits(w, line))
		return;
	cp_buf_clear(&text);
	cp_values_text(&text, r.locals, r.local_count, true);
	cp_line_put(&w->l, line, CP_PAINT_DIM, "  [");
	cp_line_fit(&w->l, line, CP_PAINT_DIM, text.bytes ? text.bytes : "", time + 2, 8);
	cp_line_put(&w->l, line, CP_PAINT_DIM, "]");
}

/* `time`: columns that are left for it. */
static void put_end(struct printer *w, struct cp_replay_line *line, const struct cp_span *span,
		    const struct cp_record_call *call, size_t time)
{
	switch (span->end) {
	case CP_SPAN_RETURNED:
		put_values(w, line, call, time);
		break;
	case CP_SPAN_UNWOUND:
		cp_line_fit(&w->l, line, CP_PAINT_WARNING,
			    span->unsure ? " ✗ unwound, or at rest" : " ✗ unwound", time, 6);
		break;
	case CP_SPAN_ENDED:
		cp_line_fit(&w->l, line, CP_PAINT_WARNING, " ✗ its thread ended", time, 6);
		break;
	case CP_SPAN_LOST:
		cp_line_fit(&w->l, line, CP_PAINT_WARNING, " … its end was lost", time, 6);
		break;
	case CP_SPAN_OPEN:
		cp_line_fit(&w->l, line, CP_PAINT_DIM, " … not over at the end", time, 6);
		break;
	case CP_SPAN_TAIL_CALLED:
		break;
	}
}

static void forget(struct printer *w, const struct cp_span *span)
{
	size_t i;

	for (i = w->open.count; i-- && w->open.items[i] != span;)
		;
	for (; i + 1 < w->open.count; i++)
		w->open.items[i] = w->open.items[i + 1];
	w->open.count--;
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct printer *w = ctx;
	struct tail *tail = &w->tails[span->thread];
	struct shown *s = shown_of(span);
	uint64_t number, ns;
	bool at_most;

	if (!s)
		return NULL;
	CP_TRY(annotations_until(w, span->end_ns));
	end_tail(w, tail);
	number = s->line;
	if (number == CP_NO_LINE) {
		number = cp_line_new(&w->l, span->end_ns, span->thread, s->indent);
		if (number == CP_NO_LINE)
			return cp_error_nomem();
		cp_line_put(&w->l, cp_line_at(&w->l, number), CP_PAINT_PLAIN, "}");
		if (s->inherited)
			cp_line_inherited(&w->l, cp_line_at(&w->l, number), span->function);
	}
	ns = s->before_ns + span->net_ns;
	at_most = s->at_most || span->uncertain_ns;
	if (span->end == CP_SPAN_TAIL_CALLED) {
		*tail = (struct tail){ number, span->depth, s->indent, span->target, ns, at_most };
	} else {
		put_end(w, cp_line_at(&w->l, number), span, call, CP_LINE_TIME(at_most));
		cp_line_time(&w->l, cp_line_at(&w->l, number), ns, at_most, span->cpu_ns);
		cp_line_end(cp_line_at(&w->l, number));
	}
	forget(w, span);
	free(s);
	span->data = NULL;
	write_lines(w);
	return NULL;
}

static struct cp_error *disarmed(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call)
{
	struct printer *w = ctx;
	uint64_t number;
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!cp_chosen_function(&w->chosen, function))
		return NULL;
	number = cp_line_new(&w->l, cp_profile_ns(w->l.p, call->ts_ns), thread, 0);
	if (number == CP_NO_LINE)
		return cp_error_nomem();
	cp_line_put(&w->l, cp_line_at(&w->l, number), CP_PAINT_WARNING, "! ");
	cp_line_function(&w->l, cp_line_at(&w->l, number), function, 24, 12);
	cp_add_disarmed(&text, call->count);
	cp_line_fit(&w->l, cp_line_at(&w->l, number), CP_PAINT_WARNING,
		    text.bytes ? text.bytes : "", 0, 8);
	cp_line_end(cp_line_at(&w->l, number));
	return NULL;
}

static struct cp_span *innermost(const struct printer *w, uint32_t thread)
{
	size_t i;

	for (i = w->open.count; i--;)
		if (w->open.items[i]->thread == thread)
			return w->open.items[i];
	return NULL;
}

static void put_stack(struct printer *w, const struct cp_record_call *call, uint64_t ns,
		      uint32_t indent)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const uint32_t *frames;
	uint64_t number;
	size_t count;

	for (frames = cp_profile_walk(w->l.p, call->stack, &count); count--;) { /* the leaf first */
		if ((number = cp_line_new(&w->l, ns, call->thread, indent + 2)) == CP_NO_LINE)
			return;
		cp_buf_clear(&text);
		cp_add_name(&text, cp_profile_function(w->l.p, frames[count])->name);
		cp_line_fit(&w->l, cp_line_at(&w->l, number), CP_PAINT_DIM,
			    text.bytes ? text.bytes : "", 0, 8);
		cp_line_end(cp_line_at(&w->l, number));
	}
}

/* A line of its own among the calls of a thread: an exception, a wait. */
struct moment {
	uint64_t ns, number;
	uint32_t indent;
};

static struct cp_error *begin_moment(struct printer *w, uint32_t thread,
				     const struct cp_record_call *call, struct moment *ret)
{
	struct cp_span *around = innermost(w, thread);

	ret->ns = cp_profile_ns(w->l.p, call->ts_ns);
	ret->indent = around ? shown_of(around)->indent + 1 : 0;
	CP_TRY(annotations_until(w, ret->ns));
	end_tail(w, &w->tails[thread]);
	if (around)
		open_braces(w, shown_of(around));
	ret->number = cp_line_new(&w->l, ret->ns, thread, ret->indent);
	return ret->number == CP_NO_LINE ? cp_error_nomem() : NULL;
}

static void end_moment(struct printer *w, const struct cp_record_call *call, const struct moment *m)
{
	cp_line_end(cp_line_at(&w->l, m->number));
	if (call->stack != CP_RECORD_NONE)
		put_stack(w, call, m->ns, m->indent);
	write_lines(w);
}

static struct cp_error *exception(void *ctx, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call)
{
	struct printer *w = ctx;
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const char *type = cp_exception_type(call);
	bool thrown = call->kind == CP_RECORD_THROW;
	struct cp_replay_line *line;
	struct moment m;

	if (!cp_chosen_moment(&w->chosen, function, call))
		return NULL;
	CP_TRY(begin_moment(w, thread, call, &m));
	line = cp_line_at(&w->l, m.number);
	cp_line_put(&w->l, line, CP_PAINT_WARNING, "↯ ");
	cp_line_put(&w->l, line, CP_PAINT_WARNING, cp_exception_verb(call));
	cp_add_name(&text, *type ? type : "?");
	cp_line_fit(&w->l, line, CP_PAINT_BOLD, text.bytes ? text.bytes : "", 24, 12);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, thrown ? " at " : " in ");
	cp_buf_clear(&text);
	cp_exception_place(w->l.p, call, function, &text);
	cp_line_fit(&w->l, line, CP_PAINT_NAME, text.bytes ? text.bytes : "", 0, 8);
	end_moment(w, call, &m);
	return NULL;
}

/* "‖ waited TEXT in FUNCTION", with or without a mark; `raw` is the program's text. */
static struct cp_error *met_in(struct printer *w, uint32_t thread, uint32_t function,
			       const struct cp_record_call *call, const char *mark,
			       const struct cp_buf *raw)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_replay_line *line;
	struct moment m;

	CP_TRY(begin_moment(w, thread, call, &m));
	line = cp_line_at(&w->l, m.number);
	if (*mark)
		cp_line_put(&w->l, line, CP_PAINT_WARNING, mark);
	cp_add_name(&text, raw->bytes ? raw->bytes : "");
	cp_line_fit(&w->l, line, CP_PAINT_PLAIN, text.bytes ? text.bytes : "", 24, 12);
	cp_line_put(&w->l, line, CP_PAINT_PLAIN, " in ");
	cp_line_function(&w->l, line, function, 0, 8);
	end_moment(w, call, &m);
	return NULL;
}

/* At its end. */
static struct cp_error *wait_over(void *ctx, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call)
{
	struct printer *w = ctx;
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };

	if (!cp_chosen_moment(&w->chosen, function, call))
		return NULL;
	cp_wait_text(w->l.p, call, &raw);
	return met_in(w, thread, function, call, "‖ waited ", &raw);
}

static struct cp_error *heap(void *ctx, uint32_t thread, uint32_t function,
			     const struct cp_record_call *call)
{
	struct printer *w = ctx;
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };

	if (!cp_chosen_moment(&w->chosen, function, call) ||
	    !cp_heap_shown(w->l.p, thread, function, call))
		return NULL;
	cp_heap_text(call, &raw);
	return met_in(w, thread, function, call, "", &raw);
}

/* ---- all of it ---- */

static bool several_threads(const struct cp_profile *p)
{
	return cp_record_thread_count(p->record) > 1 && !p->filter.thread;
}

static struct cp_error *print_all(struct printer *w, const struct cp_replay_options *o)
{
	static const struct cp_span_visitor visitor = { .enter = enter,
							.leave = leave,
							.disarmed = disarmed,
							.exception = exception,
							.wait = wait_over,
							.heap = heap };
	size_t threads = cp_record_thread_count(w->l.p->record), i;

	w->tails = calloc(threads + 1, sizeof(*w->tails));
	w->tracks = calloc(threads + 1, sizeof(*w->tracks));
	if (!w->tails || !w->tracks)
		return cp_error_nomem();
	for (i = 0; i < threads; i++) {
		w->tails[i].line = CP_NO_LINE;
		w->tracks[i] = CP_RECORD_NONE;
	}
	w->least_ns = o->least_ns;
	CP_TRY(cp_annotations_build(w->l.p, &w->annotations));
	CP_TRY(cp_chosen_init(&w->chosen, w->l.p, o));
	CP_TRY(cp_spans_walk(w->l.p, &visitor, w));
	CP_TRY(annotations_end(w));
	for (i = 0; i < threads; i++)
		end_tail(w, &w->tails[i]);
	write_lines(w);
	return NULL;
}

CP_ERROR cp_replay_text(const struct cp_profile *p, const struct cp_replay_options *o,
			const struct cp_look *look, struct cp_sink *sink)
{
	struct printer w = { .l = { p, look, sink, .several = several_threads(p) } };
	struct cp_error *err = print_all(&w, o);
	size_t i;

	if (!err && !cp_record_call_count(p->record) && !cp_record_annotation_count(p->record) &&
	    !cp_record_exception_count(p->record) && !cp_record_wait_count(p->record) &&
	    !cp_record_heap_count(p->record))
		cp_buf_str(&sink->buf, "No call was recorded.\n");
	else if (!err && !w.l.any)
		cp_buf_str(&sink->buf, "Nothing passes the filter.\n");
	cp_report_missing_calls(p, look, &sink->buf);
	for (i = w.l.head; i < w.l.queue.count; i++)
		cp_buf_free(&w.l.queue.items[i].text);
	for (i = 0; i < w.open.count; i++)
		free(w.open.items[i]->data);
	cp_vec_free(&w.l.queue);
	cp_vec_free(&w.open);
	cp_vec_free(&w.noted);
	cp_annotations_deinit(&w.annotations);
	free(w.tails);
	free(w.tracks);
	cp_chosen_deinit(&w.chosen);
	return err;
}
