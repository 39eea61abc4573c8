/* SPDX-License-Identifier: MIT */
#include "report/events/annotations.h"

#include <string.h>

#include "base/cleanup.h"
#include "record/lives.h"
#include "report/profile/profile.h"

#define SEARCH_MAX 1024 /* open spans among which one that ends is looked for */
#define NONE CP_RECORD_NONE

struct fibers {
	bool switched;
	uint32_t home; /* the fiber that is the thread itself */
	uint32_t track; /* that its events go to */
};

/* The life of a thread, or of a program: an exec begins another one. */
struct life {
	int32_t id;
	uint64_t start_ns, end_ns;
};

struct lives {
	CP_VEC(struct life) items; /* by id, then start */
};

struct build {
	struct cp_annotations *a;
	struct lives of_threads, of_programs;
	const struct cp_record *r;
	struct fibers *threads;
	uint32_t *thread_tracks; /* by thread; NONE: not yet */
	struct cp_map fiber_tracks; /* process << 32 | fiber */
	struct cp_map fiber_names; /* likewise: annotation */
	struct cp_map ids; /* hash of process, id: the last span of it; async and not */
	struct cp_map ended; /* likewise: spans, not async ones, that are ended somewhere */
	uint64_t end_ns;
};

const char *cp_annotation_event(unsigned kind)
{
	static const char *const names[CP_RECORD_ANNOTATION_KINDS] = {
		[CP_RECORD_SPAN_BEGIN] = "begin",      [CP_RECORD_SPAN_END] = "end",
		[CP_RECORD_INSTANT] = "instant",       [CP_RECORD_ASYNC_START] = "start",
		[CP_RECORD_ASYNC_FINISH] = "finish",   [CP_RECORD_FIBER_SWITCH] = "fiber_switch",
		[CP_RECORD_COUNTER] = "counter",       [CP_RECORD_THREAD_NAME] = "thread_name",
		[CP_RECORD_FIBER_NAME] = "fiber_name", [CP_RECORD_ANNOTATIONS_LOST] = "lost",
	};

	return names[kind];
}

uint64_t cp_annotation_ns(const struct cp_annotations *a, const struct cp_record_annotation *it)
{
	return cp_profile_ns(a->profile, it->ts_ns);
}

uint32_t cp_annotations_next(const struct cp_annotations *a, const struct cp_record *record,
			     size_t *next, uint64_t ns)
{
	struct cp_record_annotation it;

	if (*next >= a->count)
		return CP_RECORD_NONE;
	it = cp_record_get_annotation(record, a->order[*next]);
	return cp_annotation_ns(a, &it) > ns ? CP_RECORD_NONE : a->order[(*next)++];
}

uint32_t cp_annotations_next_unended(const struct cp_annotations *a, size_t *next, uint64_t ns)
{
	uint32_t span;

	if (*next >= a->unended.count)
		return CP_RECORD_NONE;
	span = a->unended.items[*next];
	if (a->spans.items[span].end_ns > ns)
		return CP_RECORD_NONE;
	(*next)++;
	return span;
}

uint32_t cp_annotation_span(const struct cp_annotations *a, uint32_t number)
{
	struct cp_record_annotation it = cp_record_get_annotation(a->profile->record, number);

	return it.kind == CP_RECORD_FIBER_SWITCH ? CP_RECORD_NONE : a->spans_of[number];
}

static bool shown(const struct cp_annotations *a, uint32_t thread, uint64_t ns)
{
	const struct cp_profile_filter *f = &a->profile->filter;

	return ns >= f->from_ns && (!f->to_ns || ns <= f->to_ns) &&
	       cp_profile_accepts_thread(a->profile, thread);
}

bool cp_annotation_shown(const struct cp_annotations *a, const struct cp_record_annotation *it)
{
	return shown(a, it->thread, cp_annotation_ns(a, it));
}

bool cp_noted_shown(const struct cp_annotations *a, const struct cp_noted_span *s)
{
	struct cp_record_annotation it = cp_record_get_annotation(a->profile->record, s->begin);

	return shown(a, it.thread, s->start_ns);
}

void cp_track_name(const struct cp_annotations *a, uint32_t track, struct cp_buf *out)
{
	const struct cp_track *t = &a->tracks.items[track];
	const char *name =
		t->name ? t->name : cp_record_get_thread(a->profile->record, t->thread)->name;

	if (!t->name && t->is_fiber)
		cp_buf_printf(out, "fiber %u", t->fiber);
	else
		cp_buf_str(out, *name ? name : "thread"); /* of submitted events, say */
}

/* ---- tracks ---- */

static uint32_t new_track(struct build *b, uint32_t thread, bool is_fiber, uint32_t fiber)
{
	struct cp_track track = { .process = cp_record_get_thread(b->r, thread)->process,
				  .thread = thread,
				  .is_fiber = is_fiber,
				  .fiber = fiber };

	if (!cp_vec_push(&b->a->tracks, track))
		return NONE;
	return (uint32_t)b->a->tracks.count - 1;
}

static uint32_t thread_track(struct build *b, uint32_t thread)
{
	uint32_t *track = &b->thread_tracks[thread];

	if (*track == NONE)
		*track = new_track(b, thread, false, 0);
	return *track;
}

static uint64_t fiber_key(const struct build *b, uint32_t thread, uint32_t fiber)
{
	return (uint64_t)cp_record_get_thread(b->r, thread)->process << 32 | fiber;
}

static uint32_t fiber_track(struct build *b, uint32_t thread, uint32_t fiber)
{
	uint64_t key = fiber_key(b, thread, fiber), *known = cp_map_get(&b->fiber_tracks, key);
	uint32_t track = known ? (uint32_t)*known : new_track(b, thread, true, fiber);

	if (!known && (track == NONE || !cp_map_put(&b->fiber_tracks, key, track)))
		return NONE;
	return track;
}

static uint32_t track_of(struct build *b, uint32_t thread)
{
	const struct fibers *f = &b->threads[thread];

	return f->switched ? f->track : thread_track(b, thread);
}

/* False without memory. */
static bool switch_fiber(struct build *b, uint32_t number, const struct cp_record_annotation *it)
{
	uint32_t from = (uint32_t)(it->id >> 32), to = (uint32_t)it->id;
	uint64_t key = fiber_key(b, it->thread, from);
	struct fibers *f = &b->threads[it->thread];
	uint32_t home = thread_track(b, it->thread);

	if (home == NONE)
		return false;
	if (!f->switched) {
		f->switched = true;
		f->home = from;
		if (!cp_map_get(&b->fiber_tracks, key) && !cp_map_put(&b->fiber_tracks, key, home))
			return false;
	}
	f->track = to == f->home ? home : fiber_track(b, it->thread, to);
	b->a->spans_of[number] = f->track;
	return f->track != NONE;
}

static bool give_names(struct build *b)
{
	uint64_t key, number;
	size_t cursor = 0;

	while (cp_map_next(&b->fiber_names, &cursor, &key, &number)) {
		const uint64_t *track = cp_map_get(&b->fiber_tracks, key);

		if (track && b->a->tracks.items[*track].is_fiber)
			b->a->tracks.items[*track].name =
				cp_record_get_annotation(b->r, (size_t)number).name;
	}
	return true;
}

/* ---- lives ---- */

static int by_id(const void *pa, const void *pb)
{
	const struct life *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static bool collect_lives(const struct cp_record *r, bool threads, struct lives *ret)
{
	size_t i;

	for (i = 0; i < cp_record_life_count(r); i++) {
		const struct cp_record_life *it = cp_record_get_life(r, (uint32_t)i);
		struct life life = { threads ? it->tid : it->pid, it->start_ns, it->end_ns };

		if (it->thread == threads && life.end_ns && !cp_vec_push(&ret->items, life))
			return false;
	}
	if (ret->items.count)
		qsort(ret->items.items, ret->items.count, sizeof(*ret->items.items), by_id);
	return true;
}

/* The end of the thread or process that had the number `id` at `ns`; UINT64_MAX: not known. */
static uint64_t end_of(const struct lives *lives, int32_t id, uint64_t ns)
{
	const struct life wanted = { id, ns, 0 }, *life = lives->items.items;
	size_t least = 0, most = lives->items.count;

	while (least < most) {
		size_t middle = least + (most - least) / 2;

		if (by_id(&life[middle], &wanted) <= 0)
			least = middle + 1;
		else
			most = middle;
	}
	if (!least || life[least - 1].id != id || life[least - 1].end_ns < ns)
		return UINT64_MAX;
	return life[least - 1].end_ns;
}

static uint64_t until(const struct build *b, const struct cp_record_annotation *it, uint32_t track)
{
	const struct cp_record_thread *t = cp_record_get_thread(b->r, it->thread);
	uint64_t ends =
		end_of(&b->of_programs, cp_record_get_process(b->r, t->process)->pid, it->ts_ns);
	uint64_t thread_ends = end_of(&b->of_threads, t->tid, it->ts_ns);

	if (it->kind == CP_RECORD_SPAN_BEGIN && !b->a->tracks.items[track].is_fiber &&
	    thread_ends < ends)
		ends = thread_ends;
	return ends == UINT64_MAX ? b->end_ns : cp_profile_ns(b->a->profile, ends);
}

/* ---- spans ---- */

/* Async spans of a process and others have different keys. */
static uint64_t id_key(const struct build *b, const struct cp_record_annotation *it, bool async)
{
	uint64_t process = cp_record_get_thread(b->r, it->thread)->process;

	return cp_hash_u64(it->id) ^ cp_hash_u64(process << 1 | async);
}

static bool same_name(const struct cp_noted_span *a, const struct cp_noted_span *b)
{
	return (a->name == b->name || !strcmp(a->name, b->name)) &&
	       (a->category == b->category || !strcmp(a->category, b->category));
}

static void close_span(struct cp_annotations *a, struct cp_noted_span *s, uint64_t end_ns)
{
	struct cp_noted_span *outer = s->outer == NONE ? NULL : &a->spans.items[s->outer];

	s->over = true;
	s->end_ns = end_ns > s->start_ns ? end_ns : s->start_ns;
	if (!outer)
		return;
	/* Of a span that outlasts the one around it, what lies within counts there. */
	end_ns = outer->over && outer->end_ns < s->end_ns ? outer->end_ns : s->end_ns;
	outer->inner_ns += end_ns - s->start_ns;
}

/* A span that a program left open ends before the next program, in the same thread, begins. */
static void expire(struct cp_annotations *a, const struct cp_track *t, uint64_t ns)
{
	size_t i;

	for (i = t->open.count; i--;) {
		struct cp_noted_span *s = &a->spans.items[t->open.items[i]];

		if (!s->over && s->until_ns > ns)
			break;
		if (!s->over)
			close_span(a, s, s->until_ns);
	}
}

/* Leaves out those at the end that are over. */
static void trim(struct cp_annotations *a, struct cp_track *t)
{
	while (t->open.count && a->spans.items[t->open.items[t->open.count - 1]].over)
		t->open.count--;
}

static void look_around(struct cp_annotations *a, struct cp_track *t, struct cp_noted_span *s)
{
	size_t i, least;

	expire(a, t, s->start_ns);
	trim(a, t);
	if (!t->open.count)
		return;
	s->outer = t->open.items[t->open.count - 1];
	s->depth = a->spans.items[s->outer].depth + 1;
	least = t->open.count > SEARCH_MAX ? t->open.count - SEARCH_MAX : 0;
	for (i = t->open.count; i-- > least && !s->again;) {
		const struct cp_noted_span *outer = &a->spans.items[t->open.items[i]];

		s->again = !outer->over && same_name(outer, s);
	}
}

static bool begin(struct build *b, uint32_t number, const struct cp_record_annotation *it)
{
	struct cp_annotations *a = b->a;
	uint32_t place = (uint32_t)a->spans.count, track = track_of(b, it->thread);
	struct cp_noted_span s = { .begin = number,
				   .end = NONE,
				   .track = track,
				   .end_track = track,
				   .outer = NONE,
				   .async = it->kind == CP_RECORD_ASYNC_START,
				   .start_ns = cp_annotation_ns(a, it),
				   .name = it->name ? it->name : "",
				   .category = it->category ? it->category : "",
				   .object = it->object };

	if (track == NONE || place == NONE)
		return false;
	s.until_ns = until(b, it, track);
	if (!s.async)
		look_around(a, &a->tracks.items[track], &s);
	a->spans_of[number] = place;
	return cp_vec_push(&a->spans, s) && cp_map_put(&b->ids, id_key(b, it, s.async), place) &&
	       (s.async || cp_vec_push(&a->tracks.items[track].open, place));
}

static uint64_t id_of(const struct build *b, const struct cp_noted_span *s)
{
	return cp_record_get_annotation(b->r, s->begin).id;
}

/* The innermost open one of its track with that id; or, where the program did
 * not say that a fiber went to another thread, the last one of its process. */
static uint32_t find(struct build *b, const struct cp_record_annotation *it, bool async)
{
	struct cp_annotations *a = b->a;
	uint32_t track = track_of(b, it->thread);
	const uint64_t *known;
	size_t i, least;

	if (!async && track != NONE) {
		const struct cp_track *t = &a->tracks.items[track];

		least = t->open.count > SEARCH_MAX ? t->open.count - SEARCH_MAX : 0;
		for (i = t->open.count; i-- > least;) {
			const struct cp_noted_span *s = &a->spans.items[t->open.items[i]];

			if (!s->over && id_of(b, s) == it->id)
				return t->open.items[i];
		}
	}
	known = cp_map_get(&b->ids, id_key(b, it, async));
	if (!known || a->spans.items[*known].over || id_of(b, &a->spans.items[*known]) != it->id)
		return NONE;
	return (uint32_t)*known;
}

/* A span that nobody ends, left by longjmp() say, is over with the span around it. */
static void end_inner(struct build *b, const struct cp_track *t, uint32_t outer, uint64_t ns)
{
	struct cp_annotations *a = b->a;
	size_t place = t->open.count, least = place > SEARCH_MAX ? place - SEARCH_MAX : 0, i;

	while (place > least && t->open.items[place - 1] != outer)
		place--;
	if (place == least)
		return;
	for (i = t->open.count; i > place; i--) {
		struct cp_noted_span *s = &a->spans.items[t->open.items[i - 1]];
		struct cp_record_annotation it = cp_record_get_annotation(b->r, s->begin);

		if (!s->over && !cp_map_get(&b->ended, id_key(b, &it, false)))
			close_span(a, s, ns);
	}
}

static void end(struct build *b, uint32_t number, const struct cp_record_annotation *it)
{
	struct cp_annotations *a = b->a;
	uint32_t place = find(b, it, it->kind == CP_RECORD_ASYNC_FINISH);
	struct cp_noted_span *s;

	if (place == NONE) {
		a->unmatched++;
		return;
	}
	s = &a->spans.items[place];
	s->end = number;
	s->end_track = a->tracks_of[number];
	a->spans_of[number] = place;
	if (!s->async)
		end_inner(b, &a->tracks.items[s->track], place, cp_annotation_ns(a, it));
	close_span(a, s, cp_annotation_ns(a, it));
	if (!s->async)
		trim(a, &a->tracks.items[s->track]);
}

static bool event(struct build *b, uint32_t number)
{
	struct cp_record_annotation it = cp_record_get_annotation(b->r, number);
	uint32_t track = track_of(b, it.thread);

	if (track == NONE)
		return false;
	b->a->tracks_of[number] = track;
	switch ((enum cp_record_annotation_kind)it.kind) {
	case CP_RECORD_SPAN_BEGIN:
	case CP_RECORD_ASYNC_START:
		return begin(b, number, &it);
	case CP_RECORD_SPAN_END:
	case CP_RECORD_ASYNC_FINISH:
		end(b, number, &it);
		return true;
	case CP_RECORD_FIBER_SWITCH:
		return switch_fiber(b, number, &it);
	case CP_RECORD_THREAD_NAME:
		track = thread_track(b, it.thread);
		if (track != NONE && it.name)
			b->a->tracks.items[track].name = it.name;
		return track != NONE;
	case CP_RECORD_FIBER_NAME:
		return cp_map_put(&b->fiber_names, fiber_key(b, it.thread, (uint32_t)it.id),
				  number);
	case CP_RECORD_INSTANT:
	case CP_RECORD_COUNTER:
	case CP_RECORD_ANNOTATIONS_LOST:
	case CP_RECORD_ANNOTATION_KINDS:
		break;
	}
	return true;
}

/* ---- all of it ---- */

struct timed {
	uint64_t ts_ns;
	uint32_t number;
};

static int by_time(const void *pa, const void *pb)
{
	const struct timed *a = pa, *b = pb;

	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static bool sort(struct build *b)
{
	CP_FREE struct timed *list = calloc(b->a->count + 1, sizeof(*list));
	size_t i;

	if (!list)
		return false;
	for (i = 0; i < b->a->count; i++)
		list[i] = (struct timed){ cp_record_get_annotation(b->r, i).ts_ns, (uint32_t)i };
	qsort(list, b->a->count, sizeof(*list), by_time);
	for (i = 0; i < b->a->count; i++)
		b->a->order[i] = list[i].number;
	return true;
}

static bool prepare(struct build *b)
{
	size_t threads = cp_record_thread_count(b->r) + 1, count = b->a->count + 1;

	b->threads = calloc(threads, sizeof(*b->threads));
	b->thread_tracks = malloc(threads * sizeof(*b->thread_tracks));
	b->a->order = calloc(count, sizeof(*b->a->order));
	b->a->tracks_of = calloc(count, sizeof(*b->a->tracks_of));
	b->a->spans_of = malloc(count * sizeof(*b->a->spans_of));
	if (!b->threads || !b->thread_tracks || !b->a->order || !b->a->tracks_of || !b->a->spans_of)
		return false;
	memset(b->thread_tracks, 0xff, threads * sizeof(*b->thread_tracks));
	memset(b->a->spans_of, 0xff, count * sizeof(*b->a->spans_of));
	return sort(b);
}

/* The innermost first, of those that end together. */
static int by_end(const void *pa, const void *pb, void *ctx)
{
	const struct cp_annotations *a = ctx;
	uint32_t one = *(const uint32_t *)pa, other = *(const uint32_t *)pb;
	uint64_t ends = a->spans.items[one].end_ns, other_ends = a->spans.items[other].end_ns;

	if (ends != other_ends)
		return ends < other_ends ? -1 : 1;
	return one > other ? -1 : one < other;
}

static bool collect_ends(struct build *b)
{
	size_t i;

	for (i = 0; i < b->a->count; i++) {
		struct cp_record_annotation it = cp_record_get_annotation(b->r, i);

		b->a->recorded += cp_record_annotation_is_own(&it);
		if (it.kind == CP_RECORD_SPAN_END &&
		    !cp_map_put(&b->ended, id_key(b, &it, false), i))
			return false;
	}
	return true;
}

static bool close_rest(struct cp_annotations *a)
{
	size_t i;

	for (i = a->spans.count; i--;) {
		struct cp_noted_span *s = &a->spans.items[i];

		if (!s->over)
			close_span(a, s, s->until_ns);
		if (s->end == NONE && !cp_vec_push(&a->unended, (uint32_t)i))
			return false;
	}
	if (a->unended.count)
		qsort_r(a->unended.items, a->unended.count, sizeof(*a->unended.items), by_end, a);
	return true;
}

static bool build(struct build *b)
{
	size_t i;

	if (!prepare(b) || !collect_lives(b->r, true, &b->of_threads) ||
	    !collect_lives(b->r, false, &b->of_programs) || !collect_ends(b))
		return false;
	for (i = 0; i < b->a->count; i++) {
		if (!event(b, b->a->order[i]))
			return false;
	}
	return close_rest(b->a) && give_names(b);
}

CP_ERROR cp_annotations_build(const struct cp_profile *p, struct cp_annotations *ret)
{
	const struct cp_record_totals *t = cp_record_final(p->record);
	uint64_t start = cp_record_info(p->record)->start_ns;
	struct build b = { .a = ret,
			   .r = p->record,
			   .end_ns = t->end_ns > start ? t->end_ns - start : 0 };
	bool ok;

	*ret = (struct cp_annotations){ .profile = p,
					.count = cp_record_annotation_count(p->record),
					.lost = t->annotations_lost };
	ok = build(&b);
	free(b.threads);
	free(b.thread_tracks);
	cp_map_free(&b.fiber_tracks);
	cp_map_free(&b.fiber_names);
	cp_map_free(&b.ids);
	cp_map_free(&b.ended);
	cp_vec_free(&b.of_threads.items);
	cp_vec_free(&b.of_programs.items);
	if (!ok)
		cp_annotations_deinit(ret);
	return ok ? NULL : cp_error_nomem();
}

void cp_annotations_deinit(struct cp_annotations *a)
{
	struct cp_track *t;

	cp_vec_for_each(&a->tracks, t)
		cp_vec_free(&t->open);
	cp_vec_free(&a->tracks);
	cp_vec_free(&a->spans);
	cp_vec_free(&a->unended);
	free(a->order);
	free(a->tracks_of);
	free(a->spans_of);
	a->order = a->tracks_of = a->spans_of = NULL;
}
