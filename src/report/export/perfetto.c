/* SPDX-License-Identifier: MIT
 *
 * Perfetto's protobuf: calls as slices on the track of their thread, with
 * arguments and result as debug annotations, samples with their stacks, and
 * what the program announced (perfetto_annotations.c).
 * A trace is a row of packets, each written for itself; names are interned,
 * given with the first packet that needs them.
 */
#include "report/export/perfetto.h"

#include <string.h>

#include "base/cleanup.h"
#include "inspect/inspect.h"
#include "perfetto.pb-c.h"
#include "report/events/annotations.h"
#include "report/events/exceptions.h"
#include "report/export/perfetto_annotations.h"
#include "report/export/perfetto_heap.h"
#include "report/export/perfetto_packets.h"
#include "report/export/title.h"
#include "report/look/sink.h"
#include "report/profile/heap.h"
#include "report/profile/profile.h"
#include "report/profile/spans.h"
#include "report/profile/values.h"

#define VALUES_MAX 64 /* annotations of a slice */

typedef Cprof__Perfetto__InternedData interned_t;
typedef Cprof__Perfetto__DebugAnnotation annotation_t;

/* ---- packets ---- */

static void put_interned(struct cp_perfetto *w, interned_t *data)
{
	packet_t packet = CPROF__PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = data;
	cp_perfetto_put(w, &packet);
}

static int32_t pid_of(const struct cp_perfetto *w, uint32_t thread)
{
	return cp_record_get_process(w->p->record, cp_profile_process(w->p, thread))->pid;
}

static void put_process(struct cp_perfetto *w, uint32_t number)
{
	const struct cp_record_process *q = cp_record_get_process(w->p->record, number);
	Cprof__Perfetto__ProcessDescriptor process = CPROF__PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Cprof__Perfetto__TrackDescriptor track = CPROF__PERFETTO__TRACK_DESCRIPTOR__INIT;
	packet_t packet = CPROF__PERFETTO__TRACE_PACKET__INIT;

	process.has_pid = true;
	process.pid = q->pid;
	process.process_name = cp_perfetto_clean(w, q->name);
	track.has_uuid = true;
	track.uuid = cp_perfetto_process(number);
	track.process = &process;
	packet.track_descriptor = &track;
	cp_perfetto_put(w, &packet);
}

/* The name that the program gave a thread by an annotation, or else `name`. */
static const char *said_name(const struct cp_perfetto *w, uint32_t thread, const char *name)
{
	const struct cp_track *t;

	cp_vec_for_each(&w->annotations.tracks, t) {
		if (!t->is_fiber && t->thread == thread && t->name)
			return t->name;
	}
	return name;
}

static void put_thread(struct cp_perfetto *w, uint32_t number)
{
	const struct cp_record_thread *t = cp_record_get_thread(w->p->record, number);
	Cprof__Perfetto__ThreadDescriptor thread = CPROF__PERFETTO__THREAD_DESCRIPTOR__INIT;
	Cprof__Perfetto__TrackDescriptor track = CPROF__PERFETTO__TRACK_DESCRIPTOR__INIT;
	packet_t packet = CPROF__PERFETTO__TRACE_PACKET__INIT;

	thread.has_pid = thread.has_tid = true;
	thread.pid = pid_of(w, number);
	thread.tid = t->tid;
	thread.thread_name = cp_perfetto_clean(w, said_name(w, number, t->name));
	track.has_uuid = true;
	track.uuid = cp_perfetto_thread(number);
	track.thread = &thread;
	packet.track_descriptor = &track;
	cp_perfetto_put(w, &packet);
}

static void put_tracks(struct cp_perfetto *w)
{
	size_t i;

	for (i = 0; i < cp_record_process_count(w->p->record); i++)
		put_process(w, (uint32_t)i);
	for (i = 0; i < cp_record_thread_count(w->p->record); i++)
		put_thread(w, (uint32_t)i);
}

/* ---- names of calls ---- */

enum named { EVENT_NAME, CATEGORY, ANNOTATION_NAME };

static void put_named(struct cp_perfetto *w, enum named what, uint64_t iid, const char *raw)
{
	Cprof__Perfetto__Named named = CPROF__PERFETTO__NAMED__INIT, *list[] = { &named };
	interned_t data = CPROF__PERFETTO__INTERNED_DATA__INIT;

	named.has_iid = true;
	named.iid = iid;
	named.name = cp_perfetto_clean(w, raw);
	if (what == EVENT_NAME) {
		data.n_event_names = 1;
		data.event_names = list;
	} else if (what == CATEGORY) {
		data.n_event_categories = 1;
		data.event_categories = list;
	} else {
		data.n_debug_annotation_names = 1;
		data.debug_annotation_names = list;
	}
	put_interned(w, &data);
}

static uint64_t annotation_name(struct cp_perfetto *w, const char *raw)
{
	uint32_t number = 0;
	bool fresh = false;

	if (!cp_intern(&w->names, raw, strlen(raw), &number, &fresh))
		w->failed = true;
	if (fresh)
		put_named(w, ANNOTATION_NAME, (uint64_t)number + 1, raw);
	return (uint64_t)number + 1;
}

static uint64_t event_name(struct cp_perfetto *w, uint32_t function)
{
	if (!w->functions[function])
		put_named(w, EVENT_NAME, (uint64_t)function + 1,
			  w->p->functions.items[function].name);
	w->functions[function] = true;
	return (uint64_t)function + 1;
}

static uint64_t category(struct cp_perfetto *w, uint32_t function)
{
	uint32_t image = w->p->functions.items[function].image;

	if (!w->images[image])
		put_named(w, CATEGORY, (uint64_t)image + 1, w->p->images.items[image].name);
	w->images[image] = true;
	return (uint64_t)image + 1;
}

/* ---- slices ---- */

/* The annotations of a slice, and the texts they point to. */
struct annotations {
	annotation_t items[VALUES_MAX], *list[VALUES_MAX];
	char *texts[VALUES_MAX];
	size_t count;
};

static annotation_t *add_annotation(struct cp_perfetto *w, struct annotations *a, const char *name)
{
	annotation_t *it = &a->items[a->count];

	cprof__perfetto__debug_annotation__init(it);
	it->has_name_iid = true;
	it->name_iid = annotation_name(w, name);
	a->texts[a->count] = NULL;
	a->list[a->count++] = it;
	return it;
}

static void add_text(struct cp_perfetto *w, struct annotations *a, annotation_t *it,
		     const char *text)
{
	char *copy = strdup(text);

	w->failed |= !copy;
	it->string_value = a->texts[a->count - 1] = copy;
}

static void add_value(struct cp_perfetto *w, struct annotations *a, const char *name,
		      const cprof_value *v)
{
	struct cp_buf text = { 0 };
	annotation_t *it;

	if (a->count == VALUES_MAX)
		return;
	it = add_annotation(w, a, name);
	switch (v->kind) {
	case CPROF_VALUE_INT:
		it->has_int_value = true;
		it->int_value = v->u.i;
		break;
	case CPROF_VALUE_UINT:
		it->has_uint_value = true;
		it->uint_value = v->u.u;
		break;
	case CPROF_VALUE_BOOL:
		it->has_bool_value = true;
		it->bool_value = v->u.u != 0;
		break;
	case CPROF_VALUE_FLOAT:
		it->has_double_value = true;
		it->double_value = v->u.f;
		break;
	default:
		cp_value_print(&text, v, NULL);
		w->failed |= text.failed;
		if (text.bytes)
			it->string_value = a->texts[a->count - 1] = text.bytes;
		else
			add_text(w, a, it, "");
	}
}

/* Viewers show names with a dot as members. */
static void add_values(struct cp_perfetto *w, struct annotations *a, const char *what,
		       const cprof_value *values, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		CP_FREE char *name = NULL;

		if (asprintf(&name, "%s.%s", what, values[i].name ? values[i].name : "") < 0) {
			w->failed = true;
			return;
		}
		add_value(w, a, name, &values[i]);
	}
}

/* On the track of a thread; the annotations' texts are freed. */
static void put_event(struct cp_perfetto *w, Cprof__Perfetto__TrackEvent *event, uint32_t thread,
		      uint64_t ns, struct annotations *a)
{
	packet_t packet = CPROF__PERFETTO__TRACE_PACKET__INIT;
	size_t i;

	event->has_track_uuid = true;
	event->track_uuid = cp_perfetto_thread(thread);
	event->n_debug_annotations = a->count;
	event->debug_annotations = a->list;
	packet.has_timestamp = true;
	packet.timestamp = ns;
	packet.track_event = event;
	cp_perfetto_put(w, &packet);
	for (i = 0; i < a->count; i++)
		free(a->texts[i]);
}

static void put_border(struct cp_perfetto *w, const struct cp_span *span, bool begin,
		       struct annotations *a)
{
	Cprof__Perfetto__TrackEvent event = CPROF__PERFETTO__TRACK_EVENT__INIT;
	uint64_t categories[1];

	event.has_type = true;
	event.type = begin ? CPROF__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN
			   : CPROF__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	if (begin) {
		event.has_name_iid = true;
		event.name_iid = event_name(w, span->function);
		categories[0] = category(w, span->function);
		event.n_category_iids = 1;
		event.category_iids = categories;
	}
	put_event(w, &event, span->thread, begin ? span->start_ns : span->end_ns, a);
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct cp_perfetto *w = ctx;
	struct annotations a;
	size_t i;

	a.count = 0;
	for (i = 0; span->entered && i < call->value_count; i++) {
		const cprof_value *v = &call->values[i];
		char number[24];

		if (v->name && *v->name) {
			add_value(w, &a, v->name, v);
			continue;
		}
		snprintf(number, sizeof(number), "%zu", i);
		add_value(w, &a, number, v);
	}
	put_border(w, span, true, &a);
	return w->failed ? cp_error_nomem() : NULL;
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct cp_perfetto *w = ctx;
	struct cp_returned r = cp_call_returned(call);
	struct annotations a;
	annotation_t *it;

	a.count = 0;
	if (r.result)
		add_value(w, &a, "result", r.result);
	it = add_annotation(w, &a, "net_ns");
	it->has_uint_value = true;
	it->uint_value = span->net_ns;
	if (span->uncertain_ns) {
		it = add_annotation(w, &a, "uncertain_ns");
		it->has_uint_value = true;
		it->uint_value = span->uncertain_ns;
	}
	if (span->cpu_ns) {
		it = add_annotation(w, &a, "cpu_ns");
		it->has_uint_value = true;
		it->uint_value = span->cpu_ns;
	}
	if (span->inherited)
		add_text(w, &a, add_annotation(w, &a, "entered"), "before the fork");
	if (span->end != CP_SPAN_RETURNED)
		add_text(w, &a, add_annotation(w, &a, "end"), cp_span_end_name(span->end));
	if (span->target != CP_RECORD_NONE)
		add_text(w, &a, add_annotation(w, &a, "target"),
			 cp_perfetto_clean(w, w->p->functions.items[span->target].name));
	add_values(w, &a, "changed", r.changed, r.changed_count);
	add_values(w, &a, "locals", r.locals, r.local_count);
	put_border(w, span, false, &a);
	return w->failed ? cp_error_nomem() : NULL;
}

/* An instant on its thread's track: where the calls that it ends are, too. */
static struct cp_error *exception(void *ctx, uint32_t thread, uint32_t function,
				  const struct cp_record_call *call)
{
	char category[] = "exception", *categories[] = { category };
	struct cp_perfetto *w = ctx;
	Cprof__Perfetto__TrackEvent event = CPROF__PERFETTO__TRACK_EVENT__INIT;
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	CP_FREE char *name = NULL;
	struct annotations a;
	uint32_t line;
	const char *file = cp_exception_file(w->p, call, &line);

	a.count = 0;
	add_text(w, &a, add_annotation(w, &a, "function"),
		 cp_perfetto_clean(w, w->p->functions.items[function].name));
	if (file) {
		cp_buf_printf(&text, "%s:%u", file, line);
		add_text(w, &a, add_annotation(w, &a, "at"),
			 cp_perfetto_clean(w, text.bytes ? text.bytes : ""));
		cp_buf_clear(&text);
	}
	cp_exception_name(call, &text);
	name = strdup(cp_perfetto_clean(w, text.bytes ? text.bytes : ""));
	w->failed |= !name;
	event.has_type = true;
	event.type = CPROF__PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT;
	event.name = name;
	event.n_categories = 1;
	event.categories = categories;
	put_event(w, &event, thread, cp_profile_ns(w->p, call->ts_ns), &a);
	return w->failed ? cp_error_nomem() : NULL;
}

/* ---- samples ---- */

static void put_string(struct cp_perfetto *w, bool mapping, uint64_t iid, const char *raw)
{
	Cprof__Perfetto__InternedString string = CPROF__PERFETTO__INTERNED_STRING__INIT;
	Cprof__Perfetto__InternedString *list[] = { &string };
	interned_t data = CPROF__PERFETTO__INTERNED_DATA__INIT;

	string.has_iid = string.has_str = true;
	string.iid = iid;
	string.str.data = (uint8_t *)cp_perfetto_clean(w, raw);
	string.str.len = strlen((char *)string.str.data);
	if (mapping) {
		data.n_mapping_paths = 1;
		data.mapping_paths = list;
	} else {
		data.n_function_names = 1;
		data.function_names = list;
	}
	put_interned(w, &data);
}

static void put_mapping(struct cp_perfetto *w, uint32_t image)
{
	Cprof__Perfetto__Mapping mapping = CPROF__PERFETTO__MAPPING__INIT, *list[] = { &mapping };
	interned_t data = CPROF__PERFETTO__INTERNED_DATA__INIT;
	uint64_t path = (uint64_t)image + 1;

	if (w->mappings[image])
		return;
	w->mappings[image] = true;
	put_string(w, true, path, w->p->images.items[image].path);
	mapping.has_iid = true;
	mapping.iid = path;
	mapping.n_path_string_ids = 1;
	mapping.path_string_ids = &path;
	data.n_mappings = 1;
	data.mappings = list;
	put_interned(w, &data);
}

static void put_frame(struct cp_perfetto *w, uint32_t number)
{
	const struct cp_frame *f = &w->p->frames.items[number];
	const struct cp_function *function = &w->p->functions.items[f->function];
	Cprof__Perfetto__Frame frame = CPROF__PERFETTO__FRAME__INIT, *list[] = { &frame };
	interned_t data = CPROF__PERFETTO__INTERNED_DATA__INIT;

	if (w->frames[number])
		return;
	w->frames[number] = true;
	put_mapping(w, function->image);
	if (!w->frame_names[f->function])
		put_string(w, false, (uint64_t)f->function + 1, function->name);
	w->frame_names[f->function] = true;
	frame.has_iid = frame.has_function_name_id = frame.has_mapping_id = frame.has_rel_pc = true;
	frame.iid = (uint64_t)number + 1;
	frame.function_name_id = (uint64_t)f->function + 1;
	frame.mapping_id = (uint64_t)function->image + 1;
	if (f->location != CP_RECORD_NONE)
		frame.rel_pc = cp_record_get_location(w->p->record, f->location)->address;
	data.n_frames = 1;
	data.frames = list;
	put_interned(w, &data);
}

static CP_ERROR put_stack(struct cp_perfetto *w, uint32_t stack)
{
	Cprof__Perfetto__Callstack callstack = CPROF__PERFETTO__CALLSTACK__INIT;
	Cprof__Perfetto__Callstack *list[] = { &callstack };
	interned_t data = CPROF__PERFETTO__INTERNED_DATA__INIT;
	CP_FREE uint64_t *ids = NULL;
	const uint32_t *frames;
	size_t count, i;

	if (w->stacks[stack])
		return NULL;
	w->stacks[stack] = true;
	frames = cp_profile_walk_marked(w->p, stack, &count);
	ids = calloc(count, sizeof(*ids));
	if (!ids)
		return cp_error_nomem();
	for (i = 0; i < count; i++) {
		put_frame(w, frames[i]);
		ids[i] = (uint64_t)frames[i] + 1; /* the outermost first */
	}
	callstack.has_iid = true;
	callstack.iid = (uint64_t)stack + 1;
	callstack.n_frame_ids = count;
	callstack.frame_ids = ids;
	data.n_callstacks = 1;
	data.callstacks = list;
	put_interned(w, &data);
	return NULL;
}

static CP_ERROR put_samples(struct cp_perfetto *w)
{
	const struct cp_record_sample *samples = cp_record_samples(w->p->record);
	size_t count = cp_record_sample_count(w->p->record), i;

	for (i = 0; i < count && !w->failed; i++) {
		const struct cp_record_sample *s = &samples[i];
		Cprof__Perfetto__PerfSample sample = CPROF__PERFETTO__PERF_SAMPLE__INIT;
		packet_t packet = CPROF__PERFETTO__TRACE_PACKET__INIT;

		if (!cp_profile_accepts(w->p, s))
			continue;
		CP_TRY(put_stack(w, s->stack));
		sample.has_cpu = sample.has_pid = sample.has_tid = true;
		sample.pid = (uint32_t)pid_of(w, s->thread);
		sample.tid = (uint32_t)cp_record_get_thread(w->p->record, s->thread)->tid;
		sample.has_callstack_iid = true;
		sample.callstack_iid = (uint64_t)s->stack + 1;
		packet.has_timestamp = true;
		packet.timestamp = cp_profile_ns(w->p, s->ts_ns);
		packet.perf_sample = &sample;
		cp_perfetto_put(w, &packet);
	}
	return NULL;
}

/* ---- all of it ---- */

static CP_ERROR write_all(struct cp_perfetto *w)
{
	static const struct cp_span_visitor visitor = {
		.enter = enter, .leave = leave, .exception = exception, .heap = cp_perfetto_heap
	};
	size_t functions = w->p->functions.count + 1, images = w->p->images.count + 1;

	w->functions = calloc(functions, 1);
	w->frame_names = calloc(functions, 1);
	w->images = calloc(images, 1);
	w->mappings = calloc(images, 1);
	w->frames = calloc(w->p->frames.count + 1, 1);
	w->stacks = calloc(cp_record_stack_count(w->p->record) + 1, 1);
	if (!w->functions || !w->frame_names || !w->images || !w->mappings || !w->frames ||
	    !w->stacks)
		return cp_error_nomem();
	CP_TRY(cp_annotations_build(w->p, &w->annotations));
	put_tracks(w);
	CP_TRY(put_samples(w));
	CP_TRY(cp_spans_walk(w->p, &visitor, w));
	CP_TRY(cp_perfetto_annotations(w));
	return w->failed ? cp_error_nomem() : NULL;
}

CP_ERROR cp_export_perfetto(const struct cp_profile *p, const struct cp_export_options *o,
			    struct cp_sink *sink)
{
	struct cp_perfetto w = { .p = p,
				 .sink = sink,
				 .heap = { .p = p,
					   .every = cp_record_final(p->record)->alloc_every } };
	struct cp_error *err = write_all(&w);

	(void)o;
	free(w.functions);
	free(w.frame_names);
	free(w.images);
	free(w.mappings);
	free(w.frames);
	free(w.stacks);
	cp_interner_free(&w.names);
	cp_annotations_deinit(&w.annotations);
	cp_heap_deinit(&w.heap);
	cp_map_free(&w.heap_tracks);
	cp_buf_free(&w.text);
	return err;
}
