/* SPDX-License-Identifier: MIT */
#include "record/sums.h"

/* NULL without memory. */
static struct cp_sums_edge *new_edge(struct cp_sums *s, uint32_t process, uint32_t caller,
				     uint32_t callee)
{
	const struct cp_sums_edge edge = { .process = process, .caller = caller, .callee = callee };

	return cp_vec_push(&s->edges, edge) ? &s->edges.items[s->edges.count - 1] : NULL;
}

static struct cp_sums_edge *edge_of(struct cp_sums *s, uint32_t process, uint32_t caller,
				    uint32_t callee)
{
	uint64_t key = (uint64_t)caller << 32 | callee, *found;
	uint32_t *near = &s->near[(callee * 31 + caller * 7 + process) % CP_SUMS_NEAR];
	struct cp_sums_edge *e = *near ? &s->edges.items[*near - 1] : NULL;

	if (e && e->callee == callee && e->caller == caller && e->process == process)
		return e;
	while (s->places.count <= process)
		if (!cp_vec_push(&s->places, (struct cp_map){ 0 }))
			return NULL;
	found = cp_map_get(&s->places.items[process], key);
	if (found) {
		*near = (uint32_t)*found + 1;
		return &s->edges.items[*found];
	}
	if (!cp_map_put(&s->places.items[process], key, s->edges.count))
		return NULL;
	return new_edge(s, process, caller, callee);
}

static struct cp_sums_thread *thread_of(struct cp_sums *s, uint32_t number)
{
	while (s->threads.count <= number)
		if (!cp_vec_push(&s->threads, (struct cp_sums_thread){ 0 }))
			return NULL;
	return &s->threads.items[number];
}

/* A call that is over, or so many alike. */
static struct cp_error *add(struct cp_sums *s, uint32_t process, const struct cp_span *span,
			    uint64_t times)
{
	uint32_t caller = span->outer ? span->outer->function : CP_RECORD_NONE;
	struct cp_sums_edge *e = edge_of(s, process, caller, span->function);
	struct cp_sums_thread *t = thread_of(s, span->thread);

	/* The time of a call inside the same function's counts once. */
	if (!e || !t ||
	    !cp_call_sum_add(&e->sum, span, span->again == (caller == span->function), times))
		return cp_error_nomem();
	t->process = process;
	t->calls += span->inherited ? 0 : times;
	if (!span->outer)
		cp_span_add_whole(&t->outermost, span, times);
	t->changed = e->changed = true;
	return NULL;
}

static struct cp_error *ended(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct cp_sums *s = ctx;

	(void)call;
	return add(s, s->threads.items[span->thread].process, span, 1);
}

static const struct cp_spans_to to = { .end = ended };

/* Their calls come here, wherever `s` is by now. */
static void use_spans(struct cp_sums *s)
{
	s->spans.to = &to;
	s->spans.ctx = s;
}

/* False: there was no memory for it in the recording, which has failed. */
static bool is_named(uint32_t process, const struct cp_record_call *call)
{
	return process != CP_RECORD_NONE && call->thread != CP_RECORD_NONE &&
	       call->function != CP_RECORD_NONE;
}

/* Something of the thread comes. */
static struct cp_error *begin(struct cp_sums *s, uint32_t process, uint32_t thread)
{
	struct cp_sums_thread *t = thread_of(s, thread);

	if (!t)
		return cp_error_nomem();
	t->process = process;
	use_spans(s);
	return NULL;
}

CP_ERROR cp_sums_event(struct cp_sums *s, uint32_t process, const struct cp_record_call *call)
{
	if (!is_named(process, call))
		return NULL;
	CP_TRY(begin(s, process, call->thread));
	s->events += call->kind != CP_RECORD_DISARMED; /* which is kept */
	return cp_spans_event(&s->spans, call);
}

/* A call and its return, with nothing between them. */
static bool is_leaf(const struct cp_call_entry e[2])
{
	return e[0].kind == CP_RECORD_ENTER && e[1].kind == CP_RECORD_LEAVE &&
	       e[0].function == e[1].function && e[0].depth == e[1].depth &&
	       e[0].ts_ns <= e[1].ts_ns && !e[1].flags;
}

/* Calls that nothing happened in, one behind the other: times are whole units, so many took as
 * long as others. */
#define ALIKE_MOST 8
struct leaves {
	struct cp_record_call enter; /* of the first */
	size_t count;
	struct {
		uint64_t duration_ns, times;
	} alike[ALIKE_MOST];
};

/* What began before the recording did is shorter there than it took. */
static bool belongs(const struct leaves *l, const struct cp_call_entry *e, uint64_t start_ns)
{
	return !l->count || (l->enter.function == e->function && l->enter.depth == e->depth &&
			     l->enter.ts_ns > start_ns);
}

/* False: there is no room for one that took so long. */
static bool count_leaf(struct leaves *l, uint64_t duration_ns)
{
	size_t i = 0;

	while (i < l->count && l->alike[i].duration_ns != duration_ns)
		i++;
	if (i == ALIKE_MOST)
		return false;
	if (i == l->count) {
		l->alike[l->count].duration_ns = duration_ns;
		l->alike[l->count++].times = 0;
	}
	l->alike[i].times++;
	return true;
}

static struct cp_error *add_leaves(struct cp_sums *s, uint32_t process, struct leaves *l)
{
	struct cp_span span;
	size_t i;

	for (i = 0; i < l->count; i++) {
		uint64_t times = l->alike[i].times;

		s->events += 2 * times;
		CP_TRY(cp_spans_leaf(&s->spans, &l->enter, l->enter.ts_ns + l->alike[i].duration_ns,
				     times, &span));
		CP_TRY(add(s, process, &span, times));
	}
	l->count = 0;
	return NULL;
}

/* As many as are alike, from the first on; two entries may be one call. *taken_ret: entries. */
static struct cp_error *take_leaves(struct cp_sums *s, uint32_t process,
				    const struct cp_record_call *enter,
				    const struct cp_call_entry *entries, size_t count,
				    size_t *taken_ret)
{
	struct leaves l = { .enter = *enter };
	size_t i = 0;

	while (i < count && belongs(&l, &entries[i], s->spans.start_ns)) {
		const struct cp_call_entry *e = &entries[i];
		bool whole = e->kind == CP_CALL_LEAF;

		if (!whole && (i + 1 == count || !is_leaf(e)))
			break;
		if (!count_leaf(&l, whole ? e->duration_ns : e[1].ts_ns - e->ts_ns))
			break;
		i += whole ? 1 : 2;
	}
	*taken_ret = i;
	return add_leaves(s, process, &l);
}

CP_ERROR cp_sums_block(struct cp_sums *s, uint32_t process, uint32_t thread,
		       const struct cp_call_costs *costs, const struct cp_call_entry *entries,
		       size_t count)
{
	struct cp_record_call call = { .thread = thread, .target = CP_RECORD_NONE };
	struct cp_error *err = NULL;
	size_t i, n;

	if (process == CP_RECORD_NONE || thread == CP_RECORD_NONE)
		return NULL;
	CP_TRY(begin(s, process, thread));
	s->spans.costs = costs;
	for (i = 0; i < count && !err; i += n) {
		const struct cp_call_entry *e = &entries[i];

		n = 1;
		call.ts_ns = e->ts_ns;
		call.kind = e->kind;
		call.flags = e->flags;
		call.function = e->function;
		call.depth = e->depth;
		call.duration_ns = e->duration_ns;
		if (!is_named(process, &call))
			continue;
		if (e->kind == CP_CALL_LEAF || (i + 1 < count && is_leaf(e))) {
			call.kind = CP_RECORD_ENTER;
			err = take_leaves(s, process, &call, e, count - i, &n);
			continue;
		}
		s->events++;
		err = cp_spans_event(&s->spans, &call);
	}
	s->spans.costs = NULL;
	return err;
}

CP_ERROR cp_sums_end(struct cp_sums *s, uint64_t end_ns)
{
	use_spans(s);
	return cp_spans_rest(&s->spans, end_ns);
}

struct opening {
	const struct cp_sums *from;
	struct cp_sums *to;
};

static struct cp_error *look(void *ctx, struct cp_span *span)
{
	struct opening *o = ctx;

	return add(o->to, o->from->threads.items[span->thread].process, span, 1);
}

static size_t write_edges(struct cp_sums *s, enum cp_record_sum_kind kind, uint32_t beat,
			  struct cp_record_writer *w)
{
	struct cp_sums_edge *e;
	size_t bytes = 0;

	cp_vec_for_each(&s->edges, e) {
		const struct cp_record_sum row = { .kind = kind,
						   .beat = beat,
						   .process = e->process,
						   .caller = e->caller,
						   .callee = e->callee,
						   .sum = e->sum };

		bytes += e->changed ? cp_record_sum(w, &row) : 0;
		e->changed = false;
	}
	return bytes;
}

static size_t write_threads(struct cp_sums *s, enum cp_record_sum_kind kind, uint32_t beat,
			    struct cp_record_writer *w)
{
	struct cp_sums_thread *t;
	size_t bytes = 0;

	cp_vec_for_each(&s->threads, t) {
		const struct cp_record_sum row = { .kind = kind,
						   .beat = beat,
						   .thread = (uint32_t)(t - s->threads.items),
						   .calls = t->calls,
						   .outermost = t->outermost };

		bytes += t->changed ? cp_record_sum(w, &row) : 0;
		t->changed = false;
	}
	return bytes;
}

CP_ERROR cp_sums_write(struct cp_sums *s, uint64_t end_ns, struct cp_record_writer *w,
		       size_t *bytes_ret)
{
	struct cp_record_sum begin = { CP_SUM_BEGIN, .beat = ++s->beat, .events = s->events };
	struct cp_sums open = { 0 };
	struct opening o = { s, &open };
	struct cp_error *err = cp_spans_peek(&s->spans, end_ns, look, &o);
	size_t bytes = err ? 0 : cp_record_sum(w, &begin);

	if (!err) {
		bytes += write_edges(s, CP_SUM_EDGE, s->beat, w);
		bytes += write_threads(s, CP_SUM_THREAD, s->beat, w);
		bytes += write_edges(&open, CP_SUM_OPEN, s->beat, w);
		bytes += write_threads(&open, CP_SUM_OPEN_THREAD, s->beat, w);
		cp_record_summed(w, s->events - s->written);
		s->written = s->events;
		*bytes_ret = bytes;
	}
	cp_sums_deinit(&open);
	return err;
}

void cp_sums_forget(struct cp_sums *s, uint32_t thread)
{
	if (!cp_spans_are_open(&s->spans, thread))
		cp_spans_forget(&s->spans, thread);
}

void cp_sums_deinit(struct cp_sums *s)
{
	struct cp_sums_edge *e;
	struct cp_map *map;

	cp_spans_deinit(&s->spans);
	cp_vec_for_each(&s->edges, e)
		cp_call_sum_deinit(&e->sum);
	cp_vec_for_each(&s->places, map)
		cp_map_free(map);
	cp_vec_free(&s->edges);
	cp_vec_free(&s->threads);
	cp_vec_free(&s->places);
}
