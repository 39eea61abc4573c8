/* SPDX-License-Identifier: MIT */
#include "report/events/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "record/callsum.h"
#include "record/nettime.h"
#include "record/sum_rows.h"
#include "report/events/tailed.h"
#include "report/profile/places.h"
#include "report/profile/profile.h"
#include "report/profile/spans.h"
#include "report/profile/summed.h"

#define NEAR_BITS 12

struct builder {
	struct cp_calls c;
	bool walked; /* beside another, and not asked for yet */
	uint32_t *places; /* by function of the profile: place + 1 */
	uint32_t *threads; /* by thread: likewise */
	uint32_t near[1u << NEAR_BITS]; /* by caller and callee: the edge asked for last, + 1 */
	struct cp_map edges;
	struct cp_tailed tailed;
};

static bool add_called(struct builder *b, uint32_t function)
{
	if (!cp_vec_push(&b->c.functions, (struct cp_called){ .function = function }))
		return false;
	b->places[function] = (uint32_t)b->c.functions.count;
	return true;
}

static inline struct cp_called *called(struct builder *b, uint32_t function)
{
	if (!b->places[function] && !add_called(b, function))
		return NULL;
	return &b->c.functions.items[b->places[function] - 1];
}

static inline struct cp_calling_thread *calling(struct builder *b, uint32_t thread)
{
	uint32_t *place = &b->threads[thread];

	if (!*place) {
		if (!cp_vec_push(&b->c.threads, (struct cp_calling_thread){ .thread = thread }))
			return NULL;
		*place = (uint32_t)b->c.threads.count;
	}
	return &b->c.threads.items[*place - 1];
}

/* Function + 1, by the stack of who is just entered, whose leaf is its own; 0: none. */
static uint32_t caller_of(const struct cp_profile *p, uint32_t stack)
{
	const uint32_t *frames;
	size_t count;

	if (stack == CP_RECORD_NONE)
		return 0;
	frames = cp_profile_walk(p, stack, &count);
	return count > 1 ? p->frames.items[frames[count - 2]].function + 1 : 0;
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct builder *b = ctx;
	struct cp_tailed_chain *chain = cp_tailed_enter(&b->tailed, span);

	span->data = chain ? (void *)chain : b; /* shown */
	span->caller = span->entered ? caller_of(b->c.profile, call->stack) : 0;
	return NULL;
}

/* The place + 1; 0 without memory. */
static uint32_t find_edge(struct builder *b, uint32_t caller, uint32_t callee)
{
	uint64_t key = (uint64_t)caller << 32 | callee;
	const uint64_t *found = cp_map_get(&b->edges, key);

	if (found)
		return (uint32_t)*found + 1;
	if (!cp_vec_push(&b->c.edges,
			 (struct cp_call_edge){ .caller = caller, .callee = callee }) ||
	    !cp_map_put(&b->edges, key, b->c.edges.count - 1))
		return 0;
	return (uint32_t)b->c.edges.count;
}

static inline struct cp_call_edge *edge_of(struct builder *b, uint32_t caller, uint32_t callee)
{
	uint32_t *near =
		&b->near[(caller * 0x9e3779b1u ^ callee * 0x85ebca6bu) >> (32 - NEAR_BITS)];
	struct cp_call_edge *edge = *near ? &b->c.edges.items[*near - 1] : NULL;

	if (edge && edge->caller == caller && edge->callee == callee)
		return edge;
	*near = find_edge(b, caller, callee);
	return *near ? &b->c.edges.items[*near - 1] : NULL;
}

static inline void add_moment(struct cp_moments *m, double value, uint64_t times)
{
	double from;

	if (!m->count)
		m->first = value;
	from = value - m->first;
	m->count += times;
	m->sum += from * (double)times;
	m->squares += from * from * (double)times;
}

static double mean_of(const struct cp_moments *m)
{
	return m->first + m->sum / (double)m->count;
}

/* Of distances from the mean, their squares. */
static double squares_of(const struct cp_moments *m)
{
	return m->squares - m->sum / (double)m->count * m->sum;
}

/* Its time is, besides, that of those who ended by calling it, and of those before. */
static bool add_tailed(struct builder *b, const struct cp_span *span)
{
	struct cp_tailed_chain *chain = span->data == b ? NULL : span->data;
	const uint32_t *function;

	if (chain)
		cp_vec_for_each(&chain->functions, function) {
			struct cp_called *f = called(b, *function);

			if (!f)
				return false;
			if (*function != span->function)
				cp_span_add_whole(&f->tailed_sum, span, 1);
		}
	return cp_tailed_leave(&b->tailed, span, chain);
}

static uint32_t caller_function(const struct cp_span *span)
{
	const struct cp_span *outer = cp_span_shown_outer(span);

	if (outer)
		return outer->function;
	return span->caller ? span->caller - 1 : CP_RECORD_NONE;
}

/* Adds a call that is over, or so many alike. */
static bool add(struct builder *b, const struct cp_span *span, uint64_t times)
{
	struct cp_called *f = called(b, span->function);
	struct cp_calling_thread *t = calling(b, span->thread);
	uint32_t caller = caller_function(span);
	struct cp_call_edge *e = edge_of(b, caller, span->function);

	/* The time of a call inside the same function's counts once. */
	if (!f || !t || !e ||
	    !cp_call_sum_add(&e->sum, span, span->again == (caller == span->function), times))
		return false;
	if (!span->again) {
		cp_span_add_whole(&f->sum.whole, span, times);
		f->sum.cpu_ns += span->cpu_ns * times;
	}
	if (!span->inherited)
		t->calls += times;
	if (!cp_span_shown_outer(span)) {
		cp_span_add_whole(&t->sum, span, times);
		cp_span_add_whole(&b->c.outermost_sum, span, times);
	}
	return true;
}

/* Likewise: how long it was, which nothing has cut short. */
static bool add_duration(struct builder *b, const struct cp_span *span, uint64_t times)
{
	struct cp_called *f = called(b, span->function);
	struct cp_net_time one = { .ns = span->net_ns, .at_most = span->uncertain_ns != 0 };

	if (!f)
		return false;
	f->tailed_inside |= span->end == CP_SPAN_TAIL_CALLED && span->again;
	cp_span_add_whole(&f->over, span, times);
	add_moment(&f->moments, (double)cp_span_likely(span), times);
	return cp_durations_add(&f->durations, one, times);
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct builder *b = ctx;

	(void)call;
	if (!add(b, span, 1) || !add_tailed(b, span))
		return cp_error_nomem();
	if (span->inherited || span->end >= CP_SPAN_LOST)
		return NULL;
	return add_duration(b, span, 1) ? NULL : cp_error_nomem();
}

static struct cp_error *leaves(void *ctx, struct cp_span *span, uint64_t count)
{
	struct builder *b = ctx;

	return add(b, span, count) && add_duration(b, span, count) ? NULL : cp_error_nomem();
}

static struct cp_error *disarmed(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call)
{
	struct cp_called *f = called(ctx, function);

	(void)thread;
	if (!f)
		return cp_error_nomem();
	f->disarmed = call->count ? call->count : 1;
	f->starved = !call->count;
	return NULL;
}

/* ---- order ---- */

static int descending(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

struct ordering {
	const struct cp_calls *c;
	enum cp_profile_order by;
};

static uint64_t ordered_by(const struct cp_called *f, enum cp_profile_order order)
{
	switch (order) {
	case CP_ORDER_SELF:
		return f->self.ns;
	case CP_ORDER_CALLS:
		return f->sum.calls;
	case CP_ORDER_MIN:
		return cp_called_quantile(f, 0).ns;
	case CP_ORDER_MAX:
		return cp_called_quantile(f, 1).ns;
	case CP_ORDER_AVERAGE:
		return f->average.ns;
	case CP_ORDER_DEVIATION:
		return f->deviation.ns;
	case CP_ORDER_TOTAL:
	case CP_ORDER_NAME:
		break;
	}
	return 0;
}

static int compare_called(const void *va, const void *vb, void *ctx)
{
	const struct cp_called *a = va, *b = vb;
	const struct ordering *o = ctx;
	const struct cp_function *all = o->c->profile->functions.items;
	int order = descending(ordered_by(a, o->by), ordered_by(b, o->by));

	if (!order && o->by != CP_ORDER_NAME)
		order = descending(a->total.ns, b->total.ns);
	return order ? order : strcmp(all[a->function].name, all[b->function].name);
}

static int compare_edges(const void *va, const void *vb)
{
	const struct cp_call_edge *a = va, *b = vb;
	int order = descending(a->time.ns, b->time.ns);

	order = order ? order : descending(a->sum.calls, b->sum.calls);
	order = order ? order : descending(b->callee, a->callee);
	return order ? order : descending(b->caller, a->caller);
}

static int compare_threads(const void *va, const void *vb)
{
	const struct cp_calling_thread *a = va, *b = vb;
	int order = descending(a->time.ns, b->time.ns);

	return order ? order : descending(b->thread, a->thread);
}

void cp_calls_sort(struct cp_calls *c, enum cp_profile_order order)
{
	struct ordering o = { c, order };

	if (c->functions.count)
		qsort_r(c->functions.items, c->functions.count, sizeof(*c->functions.items),
			compare_called, &o);
}

static CP_ERROR sort_all(struct cp_calls *c)
{
	struct cp_called *f;

	cp_vec_for_each(&c->functions, f)
		if (!cp_durations_sort(&f->durations))
			return cp_error_nomem();
	if (c->edges.count)
		qsort(c->edges.items, c->edges.count, sizeof(*c->edges.items), compare_edges);
	if (c->threads.count)
		qsort(c->threads.items, c->threads.count, sizeof(*c->threads.items),
		      compare_threads);
	cp_calls_sort(c, CP_ORDER_TOTAL);
	return NULL;
}

/* ---- all of it ---- */

/* ---- calls that the recording has added up ---- */

static bool add_row(struct builder *b, const struct cp_record_sum *row)
{
	const struct cp_profile *p = b->c.profile;
	struct cp_calling_thread *t;
	struct cp_call_edge *e;
	struct cp_called *f;
	uint32_t caller, callee;

	if (cp_record_sum_is_of_thread(row)) {
		t = calling(b, row->thread);
		if (!t)
			return false;
		t->calls += row->calls;
		cp_net_add_sum(&t->sum, &row->outermost);
		cp_net_add_sum(&b->c.outermost_sum, &row->outermost);
		return true;
	}
	callee = cp_profile_outermost(p, row->callee);
	caller = row->caller == CP_RECORD_NONE ? CP_RECORD_NONE
					       : cp_profile_outermost(p, row->caller);
	f = called(b, callee);
	e = edge_of(b, caller, callee);
	if (!f || !e || !cp_call_sum_merge(&e->sum, &row->sum, true))
		return false;
	if (caller != callee) { /* recursion counts once */
		cp_net_add_sum(&f->sum.whole, &row->sum.whole);
		f->sum.cpu_ns += row->sum.cpu_ns;
	}
	return true;
}

static struct cp_error *add_rows(struct builder *b)
{
	const struct cp_profile *p = b->c.profile;
	size_t count = cp_record_sum_count(p->record), i;
	struct cp_called *f;

	if (!count)
		return NULL;
	CP_TRY(cp_profile_check_sums(p));
	for (i = 0; i < count; i++) {
		const struct cp_record_sum *row = cp_record_get_sum(p->record, i);

		if (cp_profile_accepts_sum(p, row) && !add_row(b, row))
			return cp_error_nomem();
	}
	cp_vec_for_each(&b->c.functions, f) { /* of some, nothing is known of each call */
		cp_durations_deinit(&f->durations);
		f->durations = (struct cp_durations){ 0 };
		f->moments = (struct cp_moments){ 0 };
	}
	return NULL;
}

/* A function's calls are those of all its callers; its whole time is known. */
static bool add_up(struct builder *b)
{
	const struct cp_call_edge *e;
	struct cp_called *f;

	cp_vec_for_each(&b->c.edges, e) {
		f = called(b, e->callee);
		if (!f || !cp_call_sum_merge(&f->sum, &e->sum, false))
			return false;
	}
	return true;
}

/* Of calls that the recording has added up: by the middle of each bucket. */
static void moments_of_sums(struct cp_called *f)
{
	struct cp_call_sum *sum = &f->sum;
	uint32_t i;

	for (i = 0; i < CP_SPREAD_BUCKETS; i++) {
		uint64_t low = cp_spread_low(i), high = cp_spread_high(i);
		uint64_t known = cp_spread_count(&sum->known, i),
			 bound = cp_spread_count(&sum->bound, i);

		low = low < sum->least.ns ? sum->least.ns : low;
		high = high > sum->most.ns ? sum->most.ns : high;
		if (known)
			add_moment(&f->moments, (double)(low + (high - low) / 2), known);
		if (bound)
			add_moment(&f->moments, (double)high, bound);
	}
	f->average.ns = (uint64_t)(mean_of(&f->moments) + 0.5);
	f->average.at_most = sum->bound.total != 0;
}

/* What is not known of each call makes them differ more than they do, not less. */
static void settle_moments(struct cp_called *f)
{
	struct cp_moments *m = &f->moments;

	if (m->count) {
		f->average = cp_net_settle(&f->over);
		f->average.ns /= m->count;
	} else if (cp_call_sum_over(&f->sum)) {
		moments_of_sums(f);
	}
	if (m->count && squares_of(m) > 0)
		f->deviation.ns = (uint64_t)(sqrt(squares_of(m) / (double)m->count) + 0.5);
	f->deviation.at_most = f->sum.bound.total != 0;
}

/* Time in itself is a part of that with what it calls: one above the other's is none. */
static struct cp_net_time part_of(struct cp_net_time self, struct cp_net_time total)
{
	return self.ns > total.ns ? (struct cp_net_time){ total.ns, true } : self;
}

static void settle_all(struct cp_calls *c)
{
	struct cp_calling_thread *t;
	struct cp_call_edge *e;
	struct cp_called *f;

	cp_vec_for_each(&c->functions, f) {
		f->total = cp_net_settle(&f->sum.whole);
		f->tailed = cp_net_settle(&f->tailed_sum);
		f->self = part_of(cp_net_settle(&f->sum.self), f->total);
		settle_moments(f);
		c->calls += f->sum.calls;
		c->upper_bound |= f->sum.bounds;
	}
	cp_vec_for_each(&c->edges, e) {
		e->time = cp_net_settle(&e->sum.whole);
		e->self = part_of(cp_net_settle(&e->sum.self), e->time);
	}
	cp_vec_for_each(&c->threads, t)
		t->time = cp_net_settle(&t->sum);
	c->outermost = cp_net_settle(&c->outermost_sum);
	cp_vec_for_each(&c->functions, f)
		c->tailed |= f->tailed.ns > c->outermost.ns / 100;
}

static void destroy(void *made)
{
	struct builder *b = made;

	if (!b)
		return;
	free(b->places);
	free(b->threads);
	cp_map_free(&b->edges);
	cp_tailed_deinit(&b->tailed);
	cp_calls_deinit(&b->c);
	free(b);
}

static struct cp_error *begin(const struct cp_profile *p, struct builder **ret)
{
	size_t threads = cp_record_thread_count(p->record);
	struct builder *b = calloc(1, sizeof(*b));
	struct cp_error *err;

	if (!b)
		return cp_error_nomem();
	b->c.profile = p;
	b->places = calloc(p->functions.count + 1, sizeof(*b->places));
	b->threads = calloc(threads + 1, sizeof(*b->threads));
	err = b->places && b->threads ? cp_tailed_init(&b->tailed, threads) : cp_error_nomem();
	if (err)
		destroy(b);
	else
		*ret = b;
	return err;
}

/* What is known when all calls were seen. */
static struct cp_error *finish(struct builder *b, struct cp_calls *ret)
{
	CP_TRY(add_rows(b));
	if (!add_up(b))
		return cp_error_nomem();
	settle_all(&b->c);
	CP_TRY(sort_all(&b->c));
	*ret = b->c;
	b->c = (struct cp_calls){ 0 };
	return NULL;
}

static const struct cp_span_visitor visitor = {
	.enter = enter, .leave = leave, .leaves = leaves, .disarmed = disarmed, .bare = true
};

static struct cp_error *begin_beside(const struct cp_profile *p, void **made_ret)
{
	struct builder *b = NULL;

	CP_TRY(begin(p, &b));
	b->walked = true;
	*made_ret = b;
	return NULL;
}

const struct cp_profile_beside cp_calls_beside = { begin_beside, &visitor, destroy };

CP_ERROR cp_calls_build(const struct cp_profile *p, struct cp_calls *ret)
{
	struct builder *b = p->filter.beside == &cp_calls_beside ? p->beside : NULL;
	struct cp_error *err;

	if (b && b->walked) {
		b->walked = false;
		return finish(b, ret);
	}
	CP_TRY(begin(p, &b));
	err = cp_spans_walk(p, &visitor, b);
	if (!err)
		err = finish(b, ret);
	destroy(b);
	return err;
}

void cp_calls_deinit(struct cp_calls *c)
{
	struct cp_call_edge *e;
	struct cp_called *f;

	cp_vec_for_each(&c->functions, f) {
		cp_call_sum_deinit(&f->sum);
		cp_durations_deinit(&f->durations);
	}
	cp_vec_for_each(&c->edges, e)
		cp_call_sum_deinit(&e->sum);
	cp_vec_free(&c->functions);
	cp_vec_free(&c->edges);
	cp_vec_free(&c->threads);
}

struct cp_net_time cp_called_quantile(const struct cp_called *f, double share)
{
	if (!f->durations.count)
		return cp_call_sum_quantile(&f->sum, share);
	return cp_durations_at(&f->durations, cp_call_rank(f->durations.count, share));
}

const struct cp_called *cp_calls_of(const struct cp_calls *c, uint32_t function)
{
	const struct cp_called *f;

	cp_vec_for_each(&c->functions, f)
		if (f->function == function)
			return f;
	return NULL;
}

CP_ERROR cp_calls_find(const struct cp_calls *c, const char *name, uint32_t *function_ret)
{
	CP_FREE uint32_t *list = calloc(c->functions.count + 1, sizeof(*list));
	size_t i;

	if (!list)
		return cp_error_nomem();
	for (i = 0; i < c->functions.count; i++)
		list[i] = c->functions.items[i].function;
	return cp_profile_find_among(c->profile, list, c->functions.count, name, function_ret);
}
