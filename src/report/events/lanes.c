/* SPDX-License-Identifier: MIT */
#include "report/events/lanes.h"

#include <string.h>

#include "base/cleanup.h"
#include "report/events/annotations.h"
#include "report/profile/spans.h"

#define NONE CP_RECORD_NONE
#define LANES_MAX 64 /* beside a track, or of a name; what fits in none goes into the last */

/* ---- spans that do not nest with calls ---- */

/* A begin or end of a span, on a thread's own track. */
struct edge {
	uint64_t ns;
	uint32_t span;
	bool end;
};

struct thread {
	CP_VEC(struct edge) edges; /* by time */
	size_t next;
	CP_VEC(uint64_t) calls; /* ids of the open ones */
};

struct crossing {
	const struct cp_annotations *a;
	struct thread *threads;
	uint64_t *within; /* by span: the innermost call that it began in; 0: none */
	bool *crosses; /* by span */
};

static uint64_t innermost(const struct thread *t)
{
	return t->calls.count ? t->calls.items[t->calls.count - 1] : 0;
}

static bool is_open(const struct thread *t, uint64_t call)
{
	size_t i;

	for (i = t->calls.count; i--;)
		if (t->calls.items[i] == call)
			return true;
	return !call;
}

/* All edges before `ns`. */
static void pass(struct crossing *c, struct thread *t, uint64_t ns)
{
	for (; t->next < t->edges.count && t->edges.items[t->next].ns < ns; t->next++) {
		const struct edge *e = &t->edges.items[t->next];

		if (!e->end)
			c->within[e->span] = innermost(t);
		else if (c->a->spans.items[e->span].end == NONE)
			c->crosses[e->span] = !is_open(t, c->within[e->span]);
		else
			c->crosses[e->span] = c->within[e->span] != innermost(t);
	}
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct crossing *c = ctx;
	struct thread *t = &c->threads[span->thread];

	(void)call;
	pass(c, t, span->start_ns);
	return cp_vec_push(&t->calls, span->id) ? NULL : cp_error_nomem();
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct crossing *c = ctx;
	struct thread *t = &c->threads[span->thread];
	size_t i;

	(void)call;
	pass(c, t, span->end == CP_SPAN_OPEN ? UINT64_MAX : span->end_ns);
	for (i = t->calls.count; i-- && t->calls.items[i] != span->id;)
		;
	for (; i + 1 < t->calls.count; i++)
		t->calls.items[i] = t->calls.items[i + 1];
	t->calls.count -= t->calls.count != 0;
	return NULL;
}

/* By thread, in the order of time: that of annotations, and open ones last. */
static bool collect_edges(struct crossing *c)
{
	const struct cp_annotations *a = c->a;
	size_t i;

	for (i = 0; i < a->count; i++) {
		uint32_t number = a->order[i], span = cp_annotation_span(a, number);
		const struct cp_noted_span *s = span == NONE ? NULL : &a->spans.items[span];
		struct edge e = { .span = span };

		if (!s || s->async || a->tracks.items[s->track].is_fiber)
			continue;
		e.end = number == s->end;
		e.ns = e.end ? s->end_ns : s->start_ns;
		if (!cp_vec_push(&c->threads[a->tracks.items[s->track].thread].edges, e))
			return false;
	}
	for (i = a->spans.count; i--;) {
		const struct cp_noted_span *s = &a->spans.items[i];
		struct edge e = { s->end_ns, (uint32_t)i, true };

		if (s->end == NONE && !s->async && !a->tracks.items[s->track].is_fiber &&
		    !cp_vec_push(&c->threads[a->tracks.items[s->track].thread].edges, e))
			return false;
	}
	return true;
}

static CP_ERROR find_crossing(const struct cp_annotations *a, bool *crosses)
{
	static const struct cp_span_visitor visitor = { .enter = enter,
							.leave = leave,
							.bare = true };
	size_t threads = cp_record_thread_count(a->profile->record), i;
	struct crossing c = { .a = a, .crosses = crosses };
	struct cp_error *err = NULL;

	if (!cp_record_call_count(a->profile->record))
		return NULL;
	c.threads = calloc(threads + 1, sizeof(*c.threads));
	c.within = calloc(a->spans.count + 1, sizeof(*c.within));
	if (!c.threads || !c.within || !collect_edges(&c))
		err = cp_error_nomem();
	if (!err)
		err = cp_spans_walk(a->profile, &visitor, &c);
	for (i = 0; c.threads && i < threads; i++) {
		if (!err)
			pass(&c, &c.threads[i], UINT64_MAX);
		cp_vec_free(&c.threads[i].edges);
		cp_vec_free(&c.threads[i].calls);
	}
	free(c.threads);
	free(c.within);
	return err;
}

/* ---- lanes ---- */

/* Lanes beside a track, or of a name: the first + 1, and how many. */
struct chain {
	uint32_t first, last;
	unsigned count;
};

struct placing {
	const struct cp_annotations *a;
	struct cp_lanes *lanes;
	size_t *places; /* of annotations, in the order of time */
	struct cp_lane_ends *own; /* by track */
	struct chain *beside; /* by track */
	struct cp_interner names; /* of async spans: process, name, category */
	CP_VEC(struct chain) named;
	struct cp_buf key;
	bool no_memory;
};

/* The place of what ends the span; where nothing does, of what is not before its end. */
static size_t end_place(const struct placing *p, const struct cp_noted_span *s)
{
	size_t least = p->places[s->begin], most = p->a->count;

	if (s->end != NONE)
		return p->places[s->end];
	while (least < most) {
		size_t middle = least + (most - least) / 2;
		struct cp_record_annotation it =
			cp_record_get_annotation(p->a->profile->record, p->a->order[middle]);

		if (cp_annotation_ns(p->a, &it) < s->end_ns)
			least = middle + 1;
		else
			most = middle;
	}
	return least;
}

/* Puts the span on top of those that it lies within, if it does; `flat`: if
 * none is open. */
static bool put(struct placing *p, struct cp_lane_ends *ends, const struct cp_noted_span *s,
		bool flat, bool force)
{
	size_t begin = p->places[s->begin];
	size_t end = end_place(p, s);

	while (ends->count && ends->items[ends->count - 1] < begin)
		ends->count--;
	if (!force && ends->count && (flat || ends->items[ends->count - 1] < end))
		return false;
	p->no_memory |= !cp_vec_push(ends, end);
	return true;
}

/* The lane of the chain that it fits into, which may be a new one; + 1. */
static uint32_t find_lane(struct placing *p, struct chain *chain, const struct cp_noted_span *s)
{
	struct cp_lane lane = { .track = s->async ? NONE : s->track,
				.process = p->a->tracks.items[s->track].process,
				.name = s->name,
				.category = s->category,
				.number = chain->count + (s->async ? 1 : 2) };
	uint32_t at;

	for (at = chain->first; at; at = p->lanes->items.items[at - 1].next) {
		bool force = at == chain->last && chain->count >= LANES_MAX;

		if (put(p, &p->lanes->items.items[at - 1].ends, s, s->async, force))
			return at;
	}
	if (!cp_vec_push(&p->lanes->items, lane)) {
		p->no_memory = true;
		return 0;
	}
	at = (uint32_t)p->lanes->items.count;
	if (chain->last)
		p->lanes->items.items[chain->last - 1].next = at;
	else
		chain->first = at;
	chain->last = at;
	chain->count++;
	put(p, &p->lanes->items.items[at - 1].ends, s, s->async, true);
	return at;
}

static struct chain *named(struct placing *p, const struct cp_noted_span *s)
{
	uint32_t number;
	bool fresh;

	cp_buf_clear(&p->key);
	cp_buf_printf(&p->key, "%u %s%c%s", p->a->tracks.items[s->track].process, s->name, '\0',
		      s->category);
	if (p->key.failed || !cp_intern(&p->names, p->key.bytes, p->key.size, &number, &fresh) ||
	    (fresh && !cp_vec_push(&p->named, (struct chain){ 0 }))) {
		p->no_memory = true;
		return NULL;
	}
	return &p->named.items[number];
}

static void place_all(struct placing *p, const bool *crosses)
{
	size_t i;

	for (i = 0; i < p->a->spans.count && !p->no_memory; i++) {
		const struct cp_noted_span *s = &p->a->spans.items[i];
		struct chain *chain;

		if (!cp_noted_shown(p->a, s) ||
		    (!s->async && !crosses[i] && put(p, &p->own[s->track], s, false, false)))
			continue;
		chain = s->async ? named(p, s) : &p->beside[s->track];
		if (chain)
			p->lanes->of[i] = find_lane(p, chain, s);
	}
}

static void placing_free(struct placing *p)
{
	size_t i;

	for (i = 0; p->own && i < p->a->tracks.count; i++)
		cp_vec_free(&p->own[i]);
	free(p->own);
	free(p->places);
	free(p->beside);
	cp_interner_free(&p->names);
	cp_vec_free(&p->named);
	cp_buf_free(&p->key);
}

CP_ERROR cp_lanes_build(const struct cp_annotations *a, struct cp_lanes *ret)
{
	struct placing p = { .a = a, .lanes = ret };
	CP_FREE bool *crosses = calloc(a->spans.count + 1, sizeof(*crosses));
	struct cp_error *err = NULL;
	size_t i;

	*ret = (struct cp_lanes){ .of = calloc(a->spans.count + 1, sizeof(*ret->of)) };
	p.places = calloc(a->count + 1, sizeof(*p.places));
	p.own = calloc(a->tracks.count + 1, sizeof(*p.own));
	p.beside = calloc(a->tracks.count + 1, sizeof(*p.beside));
	if (!crosses || !ret->of || !p.places || !p.own || !p.beside)
		err = cp_error_nomem();
	if (!err)
		err = find_crossing(a, crosses);
	for (i = 0; !err && i < a->count; i++)
		p.places[a->order[i]] = i;
	if (!err)
		place_all(&p, crosses);
	placing_free(&p);
	if (!err && p.no_memory)
		err = cp_error_nomem();
	if (err)
		cp_lanes_deinit(ret);
	return err;
}

void cp_lanes_deinit(struct cp_lanes *lanes)
{
	struct cp_lane *lane;

	cp_vec_for_each(&lanes->items, lane)
		cp_vec_free(&lane->ends);
	cp_vec_free(&lanes->items);
	free(lanes->of);
	lanes->of = NULL;
}
