/* SPDX-License-Identifier: MIT
 *
 * Trace events (the JSON of chrome://tracing) on a time line. There is a form
 * of these files for samples, but the viewers differ in how much of it they
 * show; complete events open everywhere. So slices are made of samples: each
 * stands for the time before it that it carries, and a function that stays at
 * its depth from one sample to the next goes on as one slice.
 *
 *       samples   a;b;c   a;b;c   a;b   a;d           time ->
 *       slices    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
 *                 bbbbbbbbbbbbbbbbbbbbbbbddddddd
 *                 cccccccccccccccc
 *
 * Calls and the program's own spans (chrome_annotations.c) are slices as they
 * were. Where there are such, slices made of samples are a thread of their own,
 * beside them.
 *
 * A slice's length is time on the clock; what samples carry of it is in its
 * arguments: "weight_ns", "samples". Those of the outermost slices add up to
 * the total. Samples of an event ("weight_count") stand for a moment.
 */
#include "report/export/chrome.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "inspect/inspect.h"
#include "report/events/annotations.h"
#include "report/events/exceptions.h"
#include "report/export/chrome_annotations.h"
#include "report/export/chrome_events.h"
#include "report/export/samples.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/heap.h"
#include "report/profile/profile.h"
#include "report/profile/spans.h"
#include "report/profile/unit.h"
#include "report/profile/values.h"

#define SPARE_BYTES 65536 /* a larger buffer is not kept for others */
#define MOMENT_NS 1000 /* that can be seen in a viewer */

#define SAMPLES_TID (1 << 30) /* added to that of a thread whose calls are there, too */

static void put_pid_and_tid(const struct cp_chrome *c, struct cp_json *j, uint32_t thread,
			    bool samples)
{
	uint32_t process = cp_profile_process(c->p, thread);
	const struct cp_record_thread *t = NULL;

	if (thread < cp_record_thread_count(c->p->record))
		t = cp_record_get_thread(c->p->record, thread);
	cp_json_i64(j, "pid",
		    process == CP_RECORD_NONE ? 0
					      : cp_record_get_process(c->p->record, process)->pid);
	cp_json_i64(j, "tid", (t ? t->tid : 0) + (samples && c->beside ? SAMPLES_TID : 0));
}

static void pid_and_tid(struct cp_chrome *c, uint32_t thread, bool samples)
{
	put_pid_and_tid(c, &c->j, thread, samples);
}

static void close_slice(struct cp_chrome *c)
{
	const struct cp_slice *s = &c->open.items[--c->open.count];
	const struct cp_frame *frame = &c->p->frames.items[s->frame];
	const struct cp_function *f = &c->p->functions.items[frame->function];

	cp_json_begin(&c->j, NULL, '{');
	cp_json_str(&c->j, "ph", "X");
	cp_json_str(&c->j, "name", f->name);
	cp_json_str(&c->j, "cat", cp_profile_image_name(c->p, f));
	pid_and_tid(c, c->thread, true);
	cp_chrome_microseconds(c, "ts", s->from_ns);
	cp_chrome_microseconds(c, "dur", c->end_ns - s->from_ns);
	cp_json_begin(&c->j, "args", '{');
	cp_json_u64(&c->j, "depth", c->open.count);
	cp_json_cost(&c->j, c->p, "weight", &s->cost);
	cp_json_u64(&c->j, "samples", s->cost.ticks);
	if (frame->flags & CP_FRAME_INLINED)
		cp_json_bool(&c->j, "inlined", true);
	if (frame->flags & CP_FRAME_GUESSED)
		cp_json_bool(&c->j, "guessed", true);
	cp_json_end(&c->j, '}');
	cp_json_end(&c->j, '}');
	cp_sink_spill(c->sink);
}

static void close_to(struct cp_chrome *c, size_t depth)
{
	while (c->open.count > depth)
		close_slice(c);
}

/* How many of the open slices go on in the stack `frames`. */
static size_t common(const struct cp_chrome *c, const uint32_t *frames, size_t count)
{
	const struct cp_frame *all = c->p->frames.items;
	size_t n = 0;

	while (n < count && n < c->open.count &&
	       all[frames[n]].function == all[c->open.items[n].frame].function)
		n++;
	return n;
}

static CP_ERROR add_sample(struct cp_chrome *c, const struct cp_record_sample *s)
{
	struct cp_cost cost = { .weight = s->weight_ns, .ticks = s->count };
	uint64_t at = cp_profile_ns(c->p, s->ts_ns);
	uint64_t lasts = strcmp(c->p->unit->symbol, "ns") != 0 ? MOMENT_NS : s->weight_ns;
	uint64_t from = at > lasts ? at - lasts : 0;
	const uint32_t *frames;
	size_t count, i;

	if (s->thread != c->thread || (c->open.count && from > c->end_ns + c->gap_ns)) {
		close_to(c, 0);
		c->end_ns = s->thread == c->thread ? c->end_ns : 0;
		from = from < c->end_ns ? c->end_ns : from;
	} else {
		from = c->end_ns; /* no hole, no overlap */
	}
	at = at < from ? from : at;
	c->thread = s->thread;
	frames = cp_profile_walk_marked(c->p, s->stack, &count);
	close_to(c, common(c, frames, count));
	for (i = 0; i < c->open.count; i++)
		cp_cost_add(&c->open.items[i].cost, &cost);
	for (; i < count; i++) {
		if (!cp_vec_push(&c->open, (struct cp_slice){ frames[i], from, cost }))
			return cp_error_nomem();
	}
	c->end_ns = at;
	return NULL;
}

static void name_event(struct cp_chrome *c, const char *what, uint32_t thread, bool samples,
		       const char *name)
{
	cp_json_begin(&c->j, NULL, '{');
	cp_json_str(&c->j, "ph", "M");
	cp_json_str(&c->j, "name", what);
	pid_and_tid(c, thread, samples);
	cp_json_begin(&c->j, "args", '{');
	cp_json_str(&c->j, "name", name);
	cp_json_end(&c->j, '}');
	cp_json_end(&c->j, '}');
}

static void name_samples(struct cp_chrome *c, uint32_t thread, const char *name)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_printf(&text, "%s (samples)", name);
	name_event(c, "thread_name", thread, true, text.bytes ? text.bytes : "");
}

/* The name that the program gave a thread by an annotation. */
static const char *said_name(const struct cp_chrome *c, uint32_t thread)
{
	const struct cp_track *t;

	cp_vec_for_each(&c->annotations.tracks, t) {
		if (!t->is_fiber && t->thread == thread)
			return t->name;
	}
	return NULL;
}

static void write_names(struct cp_chrome *c)
{
	size_t count = cp_record_thread_count(c->p->record), i;

	for (i = 0; i < count; i++) {
		const struct cp_record_thread *t = cp_record_get_thread(c->p->record, (uint32_t)i);
		const char *said = said_name(c, (uint32_t)i);
		uint32_t process = cp_profile_process(c->p, (uint32_t)i);
		bool sampled = c->p->threads[i].weight || c->p->threads[i].ticks;

		if (!t || (!sampled && !c->beside))
			continue;
		name_event(c, "thread_name", (uint32_t)i, false, said ? said : t->name);
		if (process != CP_RECORD_NONE)
			name_event(c, "process_name", (uint32_t)i, false,
				   cp_record_get_process(c->p->record, process)->name);
		if (c->beside && sampled && !c->p->by_calls)
			name_samples(c, (uint32_t)i, t->name);
	}
}

static CP_ERROR write_slices(struct cp_chrome *c)
{
	const struct cp_record_sample *s = cp_record_samples(c->p->record);
	CP_FREE uint32_t *order = NULL;
	size_t count, i;

	CP_TRY(cp_export_by_thread(c->p, &order, &count));
	for (i = 0; i < count; i++)
		CP_TRY(add_sample(c, &s[order[i]]));
	close_to(c, 0);
	return NULL;
}

/* ---- calls ---- */

static bool has_calls(const struct cp_profile *p)
{
	return cp_record_call_count(p->record) || cp_record_exception_count(p->record) ||
	       cp_record_heap_count(p->record);
}

static void free_args(struct cp_buf *args)
{
	if (args)
		cp_buf_free(args);
	free(args);
}

/* They are over; their memory is for others. */
static void let_go(struct cp_chrome *c, struct cp_buf *args)
{
	if (!args)
		return;
	cp_buf_clear(args);
	if (args->failed || args->capacity > SPARE_BYTES || !cp_vec_push(&c->spare, args))
		free_args(args);
}

/* Arguments come with the enter, the slice is written at the leave. */
static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct cp_chrome *c = ctx;
	struct cp_buf *args;

	span->data = ctx; /* shown */
	if (!span->entered || !call->value_count)
		return NULL;
	args = c->spare.count ? c->spare.items[--c->spare.count] : calloc(1, sizeof(*args));
	if (!args)
		return cp_error_nomem();
	span->data = args;
	cp_values_object(args, call->values, call->value_count);
	return NULL;
}

static void put_values(struct cp_chrome *c, const char *name, const cprof_value *values,
		       size_t count)
{
	if (!count)
		return;
	cp_json_raw(&c->j, name, "", 0);
	cp_values_object(c->j.out, values, count);
}

static void put_call_args(struct cp_chrome *c, const struct cp_span *span,
			  const struct cp_buf *args, const struct cp_record_call *call)
{
	struct cp_returned r = cp_call_returned(call);

	cp_json_begin(&c->j, "args", '{');
	cp_json_u64(&c->j, "net_ns", span->net_ns);
	if (span->uncertain_ns)
		cp_json_u64(&c->j, "uncertain_ns", span->uncertain_ns);
	cp_json_u64(&c->j, "self_ns", cp_span_self(span));
	if (span->cpu_ns)
		cp_json_u64(&c->j, "cpu_ns", span->cpu_ns);
	if (span->inherited)
		cp_json_bool(&c->j, "inherited", true);
	if (args && args->size) {
		cp_buf_str(c->j.out, ",\"arguments\":");
		cp_buf_add(c->j.out, args->bytes, args->size);
	}
	if (r.result) {
		cp_buf_str(c->j.out, ",\"result\":");
		cp_value_json(c->j.out, r.result);
	}
	put_values(c, "changed", r.changed, r.changed_count);
	put_values(c, "locals", r.locals, r.local_count);
	if (span->end != CP_SPAN_RETURNED)
		cp_json_str(&c->j, "end", cp_span_end_name(span->end));
	if (span->target != CP_RECORD_NONE)
		cp_json_str(&c->j, "target", c->p->functions.items[span->target].name);
	cp_json_end(&c->j, '}');
}

/* What all calls of a function have, and all of a thread. */
static bool put_head(struct cp_chrome *c, const struct cp_span *span)
{
	const struct cp_function *f = &c->p->functions.items[span->function];
	struct cp_buf *text = &c->functions[span->function], *who = &c->threads[span->thread];
	struct cp_json j = { .out = text }, k = { .out = who };

	if (!text->size) {
		cp_json_str(&j, "ph", "X");
		cp_json_str(&j, "name", f->name);
		cp_json_str(&j, "cat", cp_profile_image_name(c->p, f));
	}
	if (!who->size)
		put_pid_and_tid(c, &k, span->thread, false);
	if (text->failed || who->failed)
		return false;
	cp_json_raw(&c->j, NULL, text->bytes, text->size);
	cp_json_raw(&c->j, NULL, who->bytes, who->size);
	return true;
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct cp_chrome *c = ctx;
	struct cp_buf *args = span->data == c ? NULL : span->data;
	bool failed = args && args->failed;

	cp_json_begin(&c->j, NULL, '{');
	failed |= !put_head(c, span);
	cp_chrome_microseconds(c, "ts", span->start_ns);
	cp_chrome_microseconds(c, "dur", span->end_ns - span->start_ns);
	put_call_args(c, span, args, call);
	cp_json_end(&c->j, '}');
	cp_sink_spill(c->sink);
	let_go(c, args);
	span->data = NULL;
	return failed ? cp_error_nomem() : NULL;
}

/* An instant on its thread's track: where the calls that it ends are, too. */
static struct cp_error *exception(void *ctx, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call)
{
	struct cp_chrome *c = ctx;
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	uint32_t line;
	const char *file = cp_exception_file(c->p, call, &line);

	cp_exception_name(call, &name);
	if (name.failed)
		return cp_error_nomem();
	cp_json_begin(&c->j, NULL, '{');
	cp_json_str(&c->j, "ph", "i");
	cp_json_str(&c->j, "s", "t");
	cp_json_str(&c->j, "name", name.bytes);
	cp_json_str(&c->j, "cat", "exception");
	pid_and_tid(c, thread, false);
	cp_chrome_microseconds(c, "ts", cp_profile_ns(c->p, call->ts_ns));
	cp_json_begin(&c->j, "args", '{');
	cp_json_str(&c->j, "function", c->p->functions.items[function].name);
	if (file) {
		cp_json_str(&c->j, "file", file);
		cp_json_u64(&c->j, "line", line);
	}
	cp_json_end(&c->j, '}');
	cp_json_end(&c->j, '}');
	cp_sink_spill(c->sink);
	return NULL;
}

/* Counters of the process: what it has allocated and not freed, and what its
 * allocator has from the kernel. */
static struct cp_error *heap(void *ctx, uint32_t thread, uint32_t function,
			     const struct cp_record_call *call)
{
	struct cp_chrome *c = ctx;
	bool held = call->kind == CP_RECORD_HEAP_SIZE;

	CP_TRY(cp_heap_follow(&c->heap, thread, function, call));
	if (!cp_profile_accepts_thread(c->p, thread))
		return NULL;
	cp_json_begin(&c->j, NULL, '{');
	cp_json_str(&c->j, "ph", "C");
	cp_json_str(&c->j, "name", held ? "heap held" : "heap in use");
	cp_json_str(&c->j, "cat", "heap");
	pid_and_tid(c, thread, false);
	cp_chrome_microseconds(c, "ts", cp_profile_ns(c->p, call->ts_ns));
	cp_json_begin(&c->j, "args", '{');
	cp_json_u64(&c->j, "bytes",
		    held ? cp_heap_size(call)
			 : cp_heap_in_use(&c->heap, cp_profile_process(c->p, thread)));
	cp_json_end(&c->j, '}');
	cp_json_end(&c->j, '}');
	cp_sink_spill(c->sink);
	return NULL;
}

static void free_texts(struct cp_buf *texts, size_t count)
{
	size_t i;

	for (i = 0; texts && i < count; i++)
		cp_buf_free(&texts[i]);
	free(texts);
}

static CP_ERROR write_calls(struct cp_chrome *c)
{
	size_t functions = c->p->functions.count, threads = cp_record_thread_count(c->p->record);
	struct cp_error *err;

	static const struct cp_span_visitor visitor = {
		.enter = enter, .leave = leave, .exception = exception, .heap = heap
	};

	if (!has_calls(c->p))
		return NULL;
	c->functions = calloc(functions + 1, sizeof(*c->functions));
	c->threads = calloc(threads + 1, sizeof(*c->threads));
	err = c->functions && c->threads ? cp_spans_walk(c->p, &visitor, c) : cp_error_nomem();
	free_texts(c->functions, functions);
	free_texts(c->threads, threads);
	while (c->spare.count)
		free_args(c->spare.items[--c->spare.count]);
	cp_vec_free(&c->spare);
	return err;
}

static CP_ERROR write_all(struct cp_chrome *c, const char *title)
{
	cp_json_begin(&c->j, NULL, '{');
	cp_json_str(&c->j, "displayTimeUnit", "ms");
	cp_json_begin(&c->j, "otherData", '{');
	cp_json_str(&c->j, "title", title);
	cp_json_str(&c->j, "exporter", "cprof");
	cp_json_u64(&c->j, "total_ns", c->p->total.weight);
	cp_json_u64(&c->j, "samples", c->p->total.ticks);
	cp_json_end(&c->j, '}');
	cp_json_begin(&c->j, "traceEvents", '[');
	write_names(c);
	CP_TRY(write_slices(c));
	CP_TRY(write_calls(c));
	CP_TRY(cp_chrome_annotations(c));
	cp_json_end(&c->j, ']');
	cp_json_end(&c->j, '}');
	cp_buf_u8(&c->sink->buf, '\n');
	return NULL;
}

CP_ERROR cp_export_chrome(const struct cp_profile *p, const struct cp_export_options *o,
			  struct cp_sink *sink)
{
	const struct cp_record_info *info = cp_record_info(p->record);
	struct cp_chrome c = {
		.p = p,
		.sink = sink,
		.j = { .out = &sink->buf },
		.thread = CP_RECORD_NONE,
		.heap = { .p = p, .every = cp_record_final(p->record)->alloc_every },
	};
	struct cp_buf title CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_error *err = cp_annotations_build(p, &c.annotations);

	if (err)
		return err;
	/* Half of the time between two ticks. */
	c.gap_ns = UINT64_C(500000000) / (info->hz ? info->hz : 99);
	c.beside = has_calls(p) || c.annotations.count;
	cp_export_title(p, o, &title);
	err = write_all(&c, title.bytes);
	cp_vec_free(&c.open);
	cp_annotations_deinit(&c.annotations);
	cp_heap_deinit(&c.heap);
	return err;
}
