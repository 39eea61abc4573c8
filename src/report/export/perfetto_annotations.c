/* SPDX-License-Identifier: MIT
 *
 * What the program announced, as Perfetto has it: spans as slices on the track
 * of their thread, where the calls are, too; fibers, lanes (events/lanes.h) and
 * counters as tracks of their process.
 */
#include "report/export/perfetto_annotations.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "perfetto.pb-c.h"
#include "report/events/annotations.h"
#include "report/events/lanes.h"
#include "report/export/perfetto_packets.h"
#include "report/profile/profile.h"

/* Added to the number of a track, a lane, a counter. */
#define FIBERS_UUID (UINT64_C(2) << 32)
#define LANES_UUID (UINT64_C(3) << 32)
#define COUNTERS_UUID (UINT64_C(4) << 32)

#define NOTES_MAX 4

typedef Cprof__Perfetto__TrackEvent event_t;
typedef Cprof__Perfetto__DebugAnnotation note_t;

struct writer {
	struct cp_perfetto *w;
	const struct cp_annotations *a;
	struct cp_lanes lanes;
	struct cp_interner counters; /* process, name, category */
	struct cp_buf name, key;
};

/* ---- tracks ---- */

static uint64_t uuid_of(const struct writer *v, uint32_t track)
{
	const struct cp_track *t = &v->a->tracks.items[track];

	return t->is_fiber ? FIBERS_UUID + track : cp_perfetto_thread(t->thread);
}

static uint64_t span_uuid(const struct writer *v, uint32_t span)
{
	uint32_t lane = v->lanes.of[span];

	return lane ? LANES_UUID + lane - 1 : uuid_of(v, v->a->spans.items[span].track);
}

static void put_fibers(struct writer *v)
{
	const struct cp_annotations *a = v->a;
	size_t i;

	for (i = 0; i < a->tracks.count; i++) {
		const struct cp_track *t = &a->tracks.items[i];

		if (!t->is_fiber || !cp_profile_accepts_thread(a->profile, t->thread))
			continue;
		cp_buf_clear(&v->name);
		cp_track_name(a, (uint32_t)i, &v->name);
		cp_perfetto_track(v->w, FIBERS_UUID + i, cp_perfetto_process(t->process),
				  v->name.bytes ? v->name.bytes : "", false);
	}
}

static void put_lanes(struct writer *v)
{
	size_t i;

	for (i = 0; i < v->lanes.items.count; i++) {
		const struct cp_lane *lane = &v->lanes.items.items[i];

		cp_buf_clear(&v->name);
		if (lane->track == CP_RECORD_NONE)
			cp_buf_str(&v->name, lane->name);
		else
			cp_track_name(v->a, lane->track, &v->name);
		if (lane->track != CP_RECORD_NONE)
			cp_buf_printf(&v->name, " (%u)", lane->number);
		cp_perfetto_track(v->w, LANES_UUID + i, cp_perfetto_process(lane->process),
				  v->name.bytes ? v->name.bytes : "", false);
	}
}

/* The track of a counter, which may be a new one; 0 without memory. */
static uint64_t counter_uuid(struct writer *v, uint32_t process,
			     const struct cp_record_annotation *it)
{
	const char *name = it->name ? it->name : "";
	uint32_t number;
	bool fresh;

	cp_buf_clear(&v->key);
	cp_buf_printf(&v->key, "%u %s%c%s", process, name, '\0', it->category ? it->category : "");
	if (v->key.failed || !cp_intern(&v->counters, v->key.bytes, v->key.size, &number, &fresh)) {
		v->w->failed = true;
		return 0;
	}
	if (fresh)
		cp_perfetto_track(v->w, COUNTERS_UUID + number, cp_perfetto_process(process), name,
				  true);
	return COUNTERS_UUID + number;
}

/* ---- events ---- */

/* A value of an event; its texts are borrowed. */
struct notes {
	note_t items[NOTES_MAX], *list[NOTES_MAX];
	size_t count;
};

static note_t *add_note(struct notes *notes, const char *name)
{
	note_t *it = &notes->items[notes->count];

	cprof__perfetto__debug_annotation__init(it);
	it->name = (char *)(uintptr_t)name;
	notes->list[notes->count++] = it;
	return it;
}

static void put_event(struct writer *v, event_t *event, uint64_t uuid, uint64_t ns,
		      struct notes *notes)
{
	packet_t packet = CPROF__PERFETTO__TRACE_PACKET__INIT;

	event->has_type = event->has_track_uuid = true;
	event->track_uuid = uuid;
	if (notes) {
		event->n_debug_annotations = notes->count;
		event->debug_annotations = notes->list;
	}
	packet.has_timestamp = true;
	packet.timestamp = ns;
	packet.track_event = event;
	cp_perfetto_put(v->w, &packet);
}

/* An event with a name; `object` may be NULL. */
static void put_named(struct writer *v, event_t *event, uint64_t uuid, uint64_t ns,
		      const char *name, const char *category, const char *object,
		      struct notes *notes)
{
	CP_FREE char *said = strdup(cp_perfetto_clean(v->w, name ? name : ""));
	CP_FREE char *cat =
		strdup(cp_perfetto_clean(v->w, category && *category ? category : "annotation"));
	char *categories[] = { cat };

	if (!said || !cat) {
		v->w->failed = true;
		return;
	}
	event->name = said;
	event->n_categories = 1;
	event->categories = categories;
	if (object)
		add_note(notes, "object")->string_value = cp_perfetto_clean(v->w, object);
	put_event(v, event, uuid, ns, notes);
}

static void begin_slice(struct writer *v, uint32_t span)
{
	const struct cp_noted_span *s = &v->a->spans.items[span];
	struct cp_record_annotation it = cp_record_get_annotation(v->a->profile->record, s->begin);
	event_t event = CPROF__PERFETTO__TRACK_EVENT__INIT;
	struct notes notes = { .count = 0 };
	note_t *id = add_note(&notes, "id");

	id->has_uint_value = true;
	id->uint_value = it.id;
	if (s->end == CP_RECORD_NONE) {
		note_t *open = add_note(&notes, "open");

		open->has_bool_value = open->bool_value = true;
	}
	event.type = CPROF__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
	put_named(v, &event, span_uuid(v, span), s->start_ns, s->name, s->category, s->object,
		  &notes);
}

static void end_slice(struct writer *v, uint32_t span)
{
	event_t event = CPROF__PERFETTO__TRACK_EVENT__INIT;

	event.type = CPROF__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	put_event(v, &event, span_uuid(v, span), v->a->spans.items[span].end_ns, NULL);
}

static void put_instant(struct writer *v, uint32_t track, const struct cp_record_annotation *it)
{
	bool lost = it->kind == CP_RECORD_ANNOTATIONS_LOST;
	event_t event = CPROF__PERFETTO__TRACK_EVENT__INIT;
	struct notes notes = { .count = 0 };
	note_t *count;

	if (lost) {
		count = add_note(&notes, "lost");
		count->has_int_value = true;
		count->int_value = it->value;
	}
	event.type = CPROF__PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT;
	put_named(v, &event, uuid_of(v, track), cp_annotation_ns(v->a, it),
		  lost ? "annotations lost" : it->name, lost ? "cprof" : it->category, it->object,
		  &notes);
}

static void put_counter(struct writer *v, uint32_t track, const struct cp_record_annotation *it)
{
	cp_perfetto_value(v->w, counter_uuid(v, v->a->tracks.items[track].process, it),
			  cp_annotation_ns(v->a, it), it->value);
}

static void put_one(struct writer *v, uint32_t number)
{
	struct cp_record_annotation it = cp_record_get_annotation(v->a->profile->record, number);
	uint32_t span = cp_annotation_span(v->a, number);

	if (span != CP_RECORD_NONE) {
		if (!cp_noted_shown(v->a, &v->a->spans.items[span]))
			return;
		if (v->a->spans.items[span].begin == number)
			begin_slice(v, span);
		else
			end_slice(v, span);
		return;
	}
	if (!cp_annotation_shown(v->a, &it))
		return;
	if (it.kind == CP_RECORD_INSTANT || it.kind == CP_RECORD_ANNOTATIONS_LOST)
		put_instant(v, v->a->tracks_of[number], &it);
	else if (it.kind == CP_RECORD_COUNTER)
		put_counter(v, v->a->tracks_of[number], &it);
}

CP_ERROR cp_perfetto_annotations(struct cp_perfetto *w)
{
	struct writer v = { .w = w, .a = &w->annotations };
	size_t i;

	if (!v.a->count)
		return NULL;
	CP_TRY(cp_lanes_build(v.a, &v.lanes));
	put_fibers(&v);
	put_lanes(&v);
	for (i = 0; i < v.a->count && !w->failed; i++)
		put_one(&v, v.a->order[i]);
	for (i = v.a->spans.count; i-- && !w->failed;) {
		const struct cp_noted_span *s = &v.a->spans.items[i];

		if (s->end == CP_RECORD_NONE && cp_noted_shown(v.a, s))
			end_slice(&v, (uint32_t)i);
	}
	cp_lanes_deinit(&v.lanes);
	cp_interner_free(&v.counters);
	cp_buf_free(&v.name);
	cp_buf_free(&v.key);
	return w->failed ? cp_error_nomem() : NULL;
}
