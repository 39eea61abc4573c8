/* SPDX-License-Identifier: MIT
 *
 * What the program announced, as trace events: spans as complete events on the
 * track of their thread, where the calls are, too; async spans as pairs "b", "e";
 * instants "i"; counters "C". A fiber has no tid, so it gets a number that no
 * thread has, as do the lanes of spans that do not nest (events/lanes.h), and, for each
 * thread that switches fibers, a row that shows which one it ran when.
 */
#include "report/export/chrome_annotations.h"

#include <string.h>

#include "base/cleanup.h"
#include "report/events/annotations.h"
#include "report/events/lanes.h"
#include "report/export/chrome_events.h"
#include "report/look/sink.h"
#include "report/profile/profile.h"

/* Added to the number of a track, a lane, a thread; below those of samples. */
#define FIBERS_TID (1 << 29)
#define LANES_TID (3 << 27)
#define RUNS_TID (1 << 28)

struct writer {
	struct cp_chrome *c;
	const struct cp_annotations *a;
	struct cp_lanes lanes;
	/* Process and name of a counter -> the one annotation that it is first in;
	 * CP_RECORD_NONE: counters of several categories have that name. */
	struct cp_map counters;
};

static int32_t pid_of(const struct writer *w, uint32_t process)
{
	return cp_record_get_process(w->a->profile->record, process)->pid;
}

static int32_t tid_of(const struct writer *w, uint32_t track)
{
	const struct cp_track *t = &w->a->tracks.items[track];

	if (t->is_fiber)
		return FIBERS_TID + (int32_t)track;
	return cp_record_get_thread(w->a->profile->record, t->thread)->tid;
}

/* ---- names ---- */

static void name_row(struct writer *w, uint32_t process, int32_t tid, const char *name)
{
	struct cp_json *j = &w->c->j;

	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "ph", "M");
	cp_json_str(j, "name", "thread_name");
	cp_json_i64(j, "pid", pid_of(w, process));
	cp_json_i64(j, "tid", tid);
	cp_json_begin(j, "args", '{');
	cp_json_str(j, "name", name);
	cp_json_end(j, '}');
	cp_json_end(j, '}');
}

static void write_names(struct writer *w)
{
	const struct cp_annotations *a = w->a;
	size_t i;

	for (i = 0; i < a->tracks.count; i++) {
		struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };

		cp_track_name(a, (uint32_t)i, &name);
		if (a->tracks.items[i].is_fiber &&
		    cp_profile_accepts_thread(a->profile, a->tracks.items[i].thread))
			name_row(w, a->tracks.items[i].process, tid_of(w, (uint32_t)i),
				 name.bytes ? name.bytes : "");
	}
	for (i = 0; i < w->lanes.items.count; i++) {
		const struct cp_lane *lane = &w->lanes.items.items[i];
		struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };

		if (lane->track == CP_RECORD_NONE)
			continue;
		cp_track_name(a, lane->track, &name);
		cp_buf_printf(&name, " (%u)", lane->number);
		name_row(w, lane->process, LANES_TID + (int32_t)i, name.bytes ? name.bytes : "");
	}
}

/* ---- events ---- */

/* Begins an event of that phase; the caller ends it. */
static void begin_event(struct writer *w, const char *phase, const char *name, const char *category,
			uint32_t process, int32_t tid, uint64_t ns)
{
	struct cp_json *j = &w->c->j;

	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "ph", phase);
	cp_json_str(j, "name", name);
	cp_json_str(j, "cat", category && *category ? category : "annotation");
	cp_json_i64(j, "pid", pid_of(w, process));
	cp_json_i64(j, "tid", tid);
	cp_chrome_microseconds(w->c, "ts", ns);
}

static void end_event(struct writer *w)
{
	cp_json_end(&w->c->j, '}');
	cp_sink_spill(w->c->sink);
}

static void put_args(struct writer *w, const struct cp_noted_span *s)
{
	struct cp_record_annotation it = cp_record_get_annotation(w->a->profile->record, s->begin);
	struct cp_json *j = &w->c->j;

	cp_json_begin(j, "args", '{');
	cp_json_u64(j, "id", it.id);
	if (s->object)
		cp_json_str(j, "object", s->object);
	if (!s->async)
		cp_json_u64(j, "self_ns", cp_noted_self(s));
	if (s->end == CP_RECORD_NONE)
		cp_json_bool(j, "open", true);
	cp_json_end(j, '}');
}

static void write_span(struct writer *w, size_t number)
{
	const struct cp_noted_span *s = &w->a->spans.items[number];
	const struct cp_track *t = &w->a->tracks.items[s->track];
	uint32_t lane = w->lanes.of[number];

	begin_event(w, "X", s->name, s->category, t->process,
		    lane ? LANES_TID + (int32_t)(lane - 1) : tid_of(w, s->track), s->start_ns);
	cp_chrome_microseconds(w->c, "dur", s->end_ns - s->start_ns);
	put_args(w, s);
	end_event(w);
}

/* Viewers match by category and id, and the program's ids are of a process. */
static void write_async(struct writer *w, size_t number)
{
	const struct cp_noted_span *s = &w->a->spans.items[number];

	begin_event(w, "b", s->name, s->category, w->a->tracks.items[s->track].process,
		    tid_of(w, s->track), s->start_ns);
	cp_json_hex(&w->c->j, "id", number + 1);
	put_args(w, s);
	end_event(w);
	begin_event(w, "e", s->name, s->category, w->a->tracks.items[s->end_track].process,
		    tid_of(w, s->end_track), s->end_ns);
	cp_json_hex(&w->c->j, "id", number + 1);
	end_event(w);
}

static void begin_moment(struct writer *w, const char *phase, uint32_t track,
			 const struct cp_record_annotation *it)
{
	begin_event(w, phase, it->name ? it->name : "", it->category,
		    w->a->tracks.items[track].process, tid_of(w, track),
		    cp_annotation_ns(w->a, it));
}

static void write_instant(struct writer *w, uint32_t track, const struct cp_record_annotation *it)
{
	begin_moment(w, "i", track, it);
	cp_json_str(&w->c->j, "s", "t");
	if (it->object) {
		cp_json_begin(&w->c->j, "args", '{');
		cp_json_str(&w->c->j, "object", it->object);
		cp_json_end(&w->c->j, '}');
	}
	end_event(w);
}

static uint64_t counter_key(const struct writer *w, const struct cp_record_annotation *it)
{
	uint64_t process = cp_record_get_thread(w->a->profile->record, it->thread)->process;

	const char *name = it->name ? it->name : "";

	return cp_hash_bytes(name, strlen(name)) ^ cp_hash_u64(process);
}

/* False without memory. */
static bool find_counters(struct writer *w)
{
	const struct cp_record *r = w->a->profile->record;
	struct cp_record_annotation it, other;
	uint64_t *known, key;
	size_t i;

	for (i = 0; i < w->a->count; i++) {
		it = cp_record_get_annotation(r, i);
		if (it.kind != CP_RECORD_COUNTER)
			continue;
		key = counter_key(w, &it);
		known = cp_map_get(&w->counters, key);
		if (!known && !cp_map_put(&w->counters, key, i))
			return false;
		if (!known || *known == CP_RECORD_NONE)
			continue;
		other = cp_record_get_annotation(r, (size_t)*known);
		if (strcmp(it.category ? it.category : "", other.category ? other.category : ""))
			*known = CP_RECORD_NONE;
	}
	return true;
}

/* Viewers tell counters of a process by name and id. */
static void write_counter(struct writer *w, uint32_t track, const struct cp_record_annotation *it)
{
	const uint64_t *known = cp_map_get(&w->counters, counter_key(w, it));

	begin_moment(w, "C", track, it);
	if (known && *known == CP_RECORD_NONE)
		cp_json_str(&w->c->j, "id", it->category ? it->category : "");
	cp_json_begin(&w->c->j, "args", '{');
	cp_json_i64(&w->c->j, "value", it->value);
	cp_json_end(&w->c->j, '}');
	end_event(w);
}

static void write_lost(struct writer *w, uint32_t track, const struct cp_record_annotation *it)
{
	begin_event(w, "i", "annotations lost", "cprof", w->a->tracks.items[track].process,
		    tid_of(w, track), cp_annotation_ns(w->a, it));
	cp_json_str(&w->c->j, "s", "p");
	cp_json_begin(&w->c->j, "args", '{');
	cp_json_i64(&w->c->j, "lost", it->value);
	cp_json_end(&w->c->j, '}');
	end_event(w);
}

/* ---- which fiber a thread ran when ---- */

struct run {
	uint32_t track; /* CP_RECORD_NONE: itself */
	uint64_t from_ns;
	bool named; /* its row is */
};

static void end_run(struct writer *w, uint32_t thread, struct run *run, uint64_t ns)
{
	const struct cp_track *t = &w->a->tracks.items[run->track];
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };

	cp_track_name(w->a, run->track, &name);
	begin_event(w, "X", name.bytes ? name.bytes : "", "fiber", t->process,
		    RUNS_TID + (int32_t)thread, run->from_ns);
	cp_chrome_microseconds(w->c, "dur", ns > run->from_ns ? ns - run->from_ns : 0);
	end_event(w);
}

static void name_runs(struct writer *w, uint32_t thread)
{
	const struct cp_record_thread *t = cp_record_get_thread(w->a->profile->record, thread);
	struct cp_buf name CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_track *track;
	const char *told = NULL; /* by the program, as on the thread's own row */

	cp_vec_for_each(&w->a->tracks, track)
		if (!track->is_fiber && track->thread == thread)
			told = track->name;
	cp_buf_printf(&name, "%s (fibers)", told ? told : t->name);
	name_row(w, t->process, RUNS_TID + (int32_t)thread, name.bytes ? name.bytes : "");
}

/* The thread of `it` goes from one fiber to another. */
static void switch_run(struct writer *w, struct run *run, const struct cp_record_annotation *it,
		       uint32_t to)
{
	uint64_t ns = cp_annotation_ns(w->a, it);

	if (!run->named)
		name_runs(w, it->thread);
	run->named = true;
	if (run->track != CP_RECORD_NONE)
		end_run(w, it->thread, run, ns);
	run->track = w->a->tracks.items[to].is_fiber ? to : CP_RECORD_NONE;
	run->from_ns = ns;
}

/* ---- all of it ---- */

static CP_ERROR write_events(struct writer *w)
{
	const struct cp_record *r = w->a->profile->record;
	size_t threads = cp_record_thread_count(r), i;
	CP_FREE struct run *runs = calloc(threads + 1, sizeof(*runs));
	const struct cp_record_totals *t = cp_record_final(r);

	if (!runs)
		return cp_error_nomem();
	for (i = 0; i < threads; i++)
		runs[i].track = CP_RECORD_NONE;
	for (i = 0; i < w->a->count; i++) {
		uint32_t number = w->a->order[i], track = w->a->tracks_of[number];
		struct cp_record_annotation it = cp_record_get_annotation(r, number);

		if (!cp_annotation_shown(w->a, &it))
			continue;
		if (it.kind == CP_RECORD_INSTANT)
			write_instant(w, track, &it);
		else if (it.kind == CP_RECORD_COUNTER)
			write_counter(w, track, &it);
		else if (it.kind == CP_RECORD_ANNOTATIONS_LOST)
			write_lost(w, track, &it);
		else if (it.kind == CP_RECORD_FIBER_SWITCH)
			switch_run(w, &runs[it.thread], &it, w->a->spans_of[number]);
	}
	for (i = 0; i < threads; i++) {
		if (runs[i].track != CP_RECORD_NONE)
			end_run(w, (uint32_t)i, &runs[i], cp_profile_ns(w->c->p, t->end_ns));
	}
	return NULL;
}

CP_ERROR cp_chrome_annotations(struct cp_chrome *c)
{
	struct writer w = { .c = c, .a = &c->annotations };
	struct cp_error *err;
	size_t i;

	if (!c->annotations.count)
		return NULL;
	if (!find_counters(&w)) {
		cp_map_free(&w.counters);
		return cp_error_nomem();
	}
	err = cp_lanes_build(w.a, &w.lanes);
	if (err) {
		cp_map_free(&w.counters);
		return err;
	}
	write_names(&w);
	for (i = 0; i < w.a->spans.count; i++) {
		if (!cp_noted_shown(w.a, &w.a->spans.items[i]))
			continue;
		if (w.a->spans.items[i].async)
			write_async(&w, i);
		else
			write_span(&w, i);
	}
	err = write_events(&w);
	cp_lanes_deinit(&w.lanes);
	cp_map_free(&w.counters);
	return err;
}
