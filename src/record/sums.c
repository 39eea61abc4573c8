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

static struct cp_error *add(struct cp_sums *s, uint32_t process, const struct cp_span *span)
{
	uint32_t caller = span->outer ? span->outer->function : CP_RECORD_NONE;
	struct cp_sums_edge *e = edge_of(s, process, caller, span->function);
	struct cp_sums_thread *t = thread_of(s, span->thread);

	/* The time of a call inside the same function's counts once. */
	if (!e || !t ||
	    !cp_call_sum_add(&e->sum, span, span->again == (caller == span->function), 1))
		return cp_error_nomem();
	t->process = process;
	t->calls += !span->inherited;
	if (!span->outer)
		cp_span_add_whole(&t->outermost, span, 1);
	t->changed = e->changed = true;
	return NULL;
}

static struct cp_error *ended(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct cp_sums *s = ctx;

	(void)call;
	return add(s, s->threads.items[span->thread].process, span);
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

CP_ERROR cp_sums_block(struct cp_sums *s, uint32_t process, uint32_t thread,
		       const struct cp_call_costs *costs, const struct cp_call_entry *entries,
		       size_t count)
{
	struct cp_record_call call = { .thread = thread, .target = CP_RECORD_NONE };
	struct cp_error *err = NULL;
	size_t i;

	if (process == CP_RECORD_NONE || thread == CP_RECORD_NONE)
		return NULL;
	CP_TRY(begin(s, process, thread));
	s->spans.costs = costs;
	for (i = 0; i < count && !err; i++) {
		const struct cp_call_entry *e = &entries[i];

		call.ts_ns = e->ts_ns;
		call.kind = e->kind;
		call.flags = e->flags;
		call.function = e->function;
		call.depth = e->depth;
		call.duration_ns = e->duration_ns;
		if (!is_named(process, &call))
			continue;
		if (e->kind == CP_CALL_LEAF) {
			call.kind = CP_RECORD_ENTER;
			s->events += 2;
			err = cp_spans_leaf(&s->spans, &call, e->ts_ns + e->duration_ns);
			continue;
		}
		if (i + 1 < count && is_leaf(e)) {
			i++;
			s->events += 2;
			err = cp_spans_leaf(&s->spans, &call, entries[i].ts_ns);
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

	return add(o->to, o->from->threads.items[span->thread].process, span);
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
