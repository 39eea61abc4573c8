/* SPDX-License-Identifier: MIT */
#include "report/replay/printer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/look/table.h"
#include "report/profile/tree.h"
#include "report/profile/values.h"

#define COLUMN_MOST 8 /* of text, for each thread's column; */
#define COLUMN_LEAST 2
#define TIME_COLUMNS 14 /* before them */
#define COLUMNS_MOST 24 /* threads that are after this many share the last one */

/* ---- the state ---- */

static size_t column_width(const struct cp_printer *w, size_t threads)
{
	size_t all = w->l.look->columns, room, width;

	if (!all)
		return COLUMN_MOST;
	room = all > TIME_COLUMNS + CP_LINE_LEAST ? all - TIME_COLUMNS - CP_LINE_LEAST : 0;
	threads = threads > COLUMNS_MOST ? COLUMNS_MOST : threads;
	width = threads ? room / threads : COLUMN_MOST;
	return width > COLUMN_MOST ? COLUMN_MOST : width < COLUMN_LEAST ? COLUMN_LEAST : width;
}

static bool grow(void *array, size_t count, size_t size)
{
	void *old, *new;

	memcpy(&old, array, sizeof(old));
	new = reallocarray(old, count, size);
	if (new)
		memcpy(array, &new, sizeof(new));
	return new != NULL;
}

CP_ERROR cp_printer_grow(struct cp_printer *w)
{
	size_t threads = cp_record_thread_count(w->p->record), i;

	for (i = 0; i < w->threads; i++)
		cp_buf_clear(&w->labels[i]);
	if (!grow(&w->tails, threads + 1, sizeof(*w->tails)) ||
	    !grow(&w->tracks, threads + 1, sizeof(*w->tracks)) ||
	    !grow(&w->stacks, threads + 1, sizeof(*w->stacks)) ||
	    !grow(&w->before_ns, threads + 1, sizeof(*w->before_ns)) ||
	    !grow(&w->columns, threads + 1, sizeof(*w->columns)) ||
	    !grow(&w->labels, threads + 1, sizeof(*w->labels)))
		return cp_error_nomem();
	for (i = w->threads; i < threads; i++) {
		w->tails[i] = (struct cp_line_tail){ .line = CP_NO_LINE };
		w->tracks[i] = CP_RECORD_NONE;
		w->before_ns[i] = UINT64_MAX;
		w->columns[i] = w->stacks[i] = 0;
		w->labels[i] = (struct cp_buf){ 0 };
	}
	w->threads = threads;
	w->several = threads > 1 && !w->p->filter.thread && !w->options->by_thread;
	return NULL;
}

CP_ERROR cp_printer_init(struct cp_printer *w)
{
	w->column_width = column_width(w, cp_record_thread_count(w->p->record));
	w->l.untimed = w->options->fields != NULL;
	w->l.no_durations = w->options->fields && !w->options->fields->duration;
	return cp_printer_grow(w);
}

void cp_printer_deinit(struct cp_printer *w)
{
	size_t i;

	for (i = 0; w->labels && i < w->threads; i++)
		cp_buf_free(&w->labels[i]);
	free(w->labels);
	free(w->before_ns);
	free(w->columns);
	free(w->tails);
	free(w->tracks);
	free(w->stacks);
	cp_map_free(&w->other_stacks);
	cp_buf_free(&w->text);
	while (w->spare.count)
		free(w->spare.items[--w->spare.count]);
	cp_vec_free(&w->spare);
}

struct cp_line_call *cp_printer_show(struct cp_printer *w)
{
	struct cp_line_call *call =
		w->spare.count ? w->spare.items[--w->spare.count] : malloc(sizeof(*call));

	if (call)
		*call = (struct cp_line_call){ 0 };
	return call;
}

void cp_printer_let_go(struct cp_printer *w, struct cp_line_call *call)
{
	if (!call || !cp_vec_push(&w->spare, call))
		free(call);
}

/* ---- before a line ---- */

/* "┬ name (tid)": from here on this is the thread's column. */
static void give_column(struct cp_printer *w, uint64_t ns, uint32_t thread)
{
	struct cp_buf raw CP_CLEANUP(cp_buf_free) = { 0 };
	uint64_t number;

	w->columns_taken += w->columns_taken < COLUMNS_MOST;
	w->columns[thread] = w->columns_taken;
	number = cp_transcript_new(&w->l, ns, thread, 0);
	if (number == CP_NO_LINE)
		return;
	cp_thread_name(w->p, thread, &raw);
	cp_line_put(&w->l, cp_transcript_at(&w->l, number), CP_PAINT_COOL, "┬");
	cp_line_name(&w->l, cp_transcript_at(&w->l, number), CP_PAINT_COOL, raw.bytes);
	cp_line_end(cp_transcript_at(&w->l, number));
}

void cp_printer_about(struct cp_printer *w, uint64_t ns, uint32_t thread, uint32_t function,
		      uint32_t depth)
{
	w->subject.function = w->subject.stack = CP_RECORD_NONE;
	if (w->options->by_thread && !w->columns[thread])
		give_column(w, ns, thread);
	w->subject.function = function;
	w->subject.depth = depth;
}

/* Stacks that are no thread's own are counted as they come; 0: it is its own. */
static unsigned stack_number(struct cp_printer *w, uint32_t stack)
{
	const uint64_t *known = cp_map_get(&w->other_stacks, stack);
	unsigned next = (unsigned)w->other_stacks.count + 1;

	if (!stack || known)
		return known ? (unsigned)*known : 0;
	w->sink->buf.failed |= !cp_map_put(&w->other_stacks, stack, next);
	return next;
}

void cp_printer_on_stack(struct cp_printer *w, const struct cp_span *span)
{
	uint32_t *now = &w->stacks[span->thread];

	if (*now != span->on_stack)
		snprintf(w->l.mark, sizeof(w->l.mark), "⇄%u ", stack_number(w, span->on_stack));
	*now = span->on_stack;
}

static void add_thread(const struct cp_printer *w, uint32_t thread, struct cp_buf *out)
{
	const struct cp_record_thread *t = cp_record_get_thread(w->p->record, thread);
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf cut CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf *label = &w->labels[thread];

	if (!label->size) {
		cp_add_name(&text, t->name);
		cp_text_fit(&cut, text.bytes ? text.bytes : "", CP_LINE_LABEL);
		cp_line_add_label(label, cut.bytes ? cut.bytes : "", t->tid);
	}
	cp_buf_add(out, label->bytes, label->size);
	out->failed |= label->failed;
}

void cp_printer_label(void *ctx, uint64_t ns, uint32_t thread, struct cp_buf *out)
{
	struct cp_printer *w = ctx;
	uint32_t i;

	if (w->options->fields) {
		w->subject.ns = ns;
		w->subject.thread = thread;
		w->subject.before_ns = w->before_ns[thread];
		cp_fields_add(w->options->fields, w->p, &w->subject, out);
		w->before_ns[thread] = ns;
	} else if (w->several) {
		add_thread(w, thread, out);
	}
	for (i = 1; i < w->columns[thread]; i++)
		cp_buf_printf(out, "│%*s", (int)w->column_width - 1, "");
}

void cp_printer_write(struct cp_printer *w)
{
	cp_transcript_write(&w->l, false);
	w->sink->buf.failed |= w->l.no_memory;
	cp_sink_spill(w->sink);
}

const char *cp_printer_name(const struct cp_printer *w, uint32_t function)
{
	return w->p->functions.items[function].name;
}

const char *cp_printer_values(struct cp_printer *w, const cprof_value *values, size_t count,
			      bool names)
{
	cp_buf_clear(&w->text);
	cp_values_text(&w->text, values, count, names);
	return w->text.bytes ? w->text.bytes : "";
}

/* ---- behind it ---- */

static bool fits(const struct cp_printer *w, const struct cp_transcript_line *line)
{
	return !w->l.look->columns || line->columns + 24 <= w->l.look->columns;
}

static void put_values(struct cp_printer *w, struct cp_transcript_line *line,
		       const struct cp_record_call *call, size_t time)
{
	struct cp_returned r = cp_call_returned(call);

	if (r.result)
		cp_line_result(&w->l, line, cp_printer_values(w, r.result, 1, false), time);
	if (r.changed_count && fits(w, line)) {
		cp_line_put(&w->l, line, CP_PAINT_PLAIN, "  → ");
		cp_line_values(&w->l, line, CP_PAINT_PLAIN,
			       cp_printer_values(w, r.changed, r.changed_count, true), time + 2, 8);
	}
	if (!r.local_count || !fits(w, line))
		return;
	cp_line_put(&w->l, line, CP_PAINT_DIM, "  [");
	cp_line_values(&w->l, line, CP_PAINT_DIM,
		       cp_printer_values(w, r.locals, r.local_count, true), time + 2, 8);
	cp_line_put(&w->l, line, CP_PAINT_DIM, "]");
}

static enum cp_line_ending ending_of(const struct cp_span *span)
{
	switch (span->end) {
	case CP_SPAN_UNWOUND:
		return span->unsure ? CP_LINE_UNSURE : CP_LINE_UNWOUND;
	case CP_SPAN_ENDED:
		return CP_LINE_ENDED;
	case CP_SPAN_LOST:
		return CP_LINE_LOST;
	case CP_SPAN_OPEN:
		return CP_LINE_OPEN;
	case CP_SPAN_RETURNED:
	case CP_SPAN_TAIL_CALLED:
		break;
	}
	return CP_LINE_RETURNED;
}

void cp_printer_end_line(struct cp_printer *w, struct cp_transcript_line *line,
			 const struct cp_span *span, const struct cp_record_call *call,
			 struct cp_net_time time)
{
	if (span->end == CP_SPAN_RETURNED)
		put_values(w, line, call, CP_LINE_TIME(time.at_most));
	cp_line_ending(&w->l, line, ending_of(span), CP_LINE_TIME(time.at_most));
	cp_line_time(&w->l, line, time.ns, time.at_most, span->cpu_ns);
	cp_line_end(line);
}
