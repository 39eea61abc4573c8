/* SPDX-License-Identifier: MIT */
#include "report/profile/spans.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "report/profile/choice.h"
#include "report/profile/leaves.h"
#include "report/profile/profile.h"

struct cp_spans_walk {
	const struct cp_profile *p;
	const struct cp_span_visitor *visitor;
	void *ctx;
	struct cp_spans spans;
	uint32_t *functions; /* owned; by location */
	uint32_t locations; /* that it has */
	bool calls; /* somebody asks for them, or for which of them an event is in */
	bool all; /* calls are shown: nobody asks for less */
	struct cp_leaves *leaves; /* owned; NULL: they are told as other calls */
	struct cp_span leaf; /* the one being told */
	bool *tailed; /* owned, with `leaves`; by thread: what was shown last ended by a call */
	struct cp_error *error;
};

/* Does the filter let all calls through? */
static bool is_open(const struct cp_profile *p)
{
	const struct cp_profile_filter *f = &p->filter;

	return !p->choice && !f->thread && !f->pid && !f->image && !f->from_ns && !f->to_ns;
}

static uint64_t offset(const struct cp_spans_walk *w, uint64_t ts_ns)
{
	return cp_profile_ns(w->p, ts_ns);
}

static bool shown(const struct cp_spans_walk *w, const struct cp_span *span)
{
	const struct cp_profile_filter *f = &w->p->filter;

	if (w->visitor->every || w->all)
		return true;
	return !span->hidden && span->start_ns >= f->from_ns &&
	       (!f->to_ns || span->start_ns <= f->to_ns) &&
	       cp_profile_accepts_call(w->p, span->thread, span->function);
}

/* ---- calls ---- */

static bool hides(void *ctx, const struct cp_span *span)
{
	const struct cp_spans_walk *w = ctx;

	return !cp_choice_has(w->p->choice, span->id);
}

CP_ERROR cp_spans_walk_grow(struct cp_spans_walk *w)
{
	size_t count = cp_record_location_count(w->p->record);
	uint32_t *functions = reallocarray(w->functions, count + 1, sizeof(*functions));

	if (!functions)
		return cp_error_nomem();
	w->functions = functions;
	w->spans.functions = functions;
	for (; w->locations < count; w->locations++)
		functions[w->locations] = cp_profile_outermost(w->p, w->locations);
	return NULL;
}

static struct cp_error *begin(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	const struct cp_spans_walk *w = ctx;

	if (!w->visitor->enter || !shown(w, span))
		return NULL;
	if (w->leaves)
		w->tailed[span->thread] = false;
	return w->visitor->enter(w->ctx, span, call);
}

static struct cp_error *end(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	const struct cp_spans_walk *w = ctx;

	if (!w->visitor->leave || !shown(w, span))
		return NULL;
	if (w->leaves)
		w->tailed[span->thread] = span->end == CP_SPAN_TAIL_CALLED;
	return w->visitor->leave(w->ctx, span, call);
}

/* ---- events ---- */

typedef struct cp_error *(*visit_fn)(void *ctx, uint32_t thread, uint32_t function,
				     const struct cp_record_call *call);

/* Calls that are chosen bring along what happens right in them. */
static bool is_chosen(const struct cp_spans_walk *w, const struct cp_record_call *call)
{
	const struct cp_choice *choice = w->p->choice;
	const struct cp_span *around;

	if (!choice)
		return true;
	if (call->kind == CP_RECORD_DISARMED)
		return choice->has_outside;
	around = cp_spans_around(&w->spans, call->thread, call->depth);
	return call->duration_ns >= choice->least_ns &&
	       (around ? !around->hidden : choice->has_outside);
}

/* An event that is no call goes to `visit`, if there is one. */
static struct cp_error *moment(struct cp_spans_walk *w, visit_fn visit,
			       const struct cp_record_call *call)
{
	bool all = visit == w->visitor->heap || visit == w->visitor->map;
	uint32_t function;
	bool chosen;

	if (!visit)
		return NULL;
	chosen = is_chosen(w, call);
	if (w->p->choice)
		w->p->choice->moment_counts = chosen;
	function = all || visit == w->visitor->wait ? cp_profile_taker(w->p, call->function)
						    : cp_profile_outermost(w->p, call->function);
	/* None of these is left out: how much is in use depends on all before it. */
	if (!all && (!chosen || !cp_profile_accepts_call(w->p, call->thread, function) ||
		     offset(w, call->ts_ns) < w->p->filter.from_ns))
		return NULL;
	return visit(w->ctx, call->thread, function, call);
}

static bool other_event(void *walk, const struct cp_record_call *said)
{
	struct cp_record_call right;
	const struct cp_record_call *call = cp_span_put_right(said, &right);
	struct cp_spans_walk *w = walk;

	/* The walk ends with the time that is asked for: a call that is open by then stays open. */
	if (w->p->filter.to_ns && offset(w, call->ts_ns) > w->p->filter.to_ns)
		return true;
	if (call->kind < CP_RECORD_DISARMED)
		w->error = w->calls ? cp_spans_event(&w->spans, call) : NULL;
	else if (call->kind == CP_RECORD_THROW || call->kind == CP_RECORD_CATCH)
		w->error = moment(w, w->visitor->exception, call);
	else if (call->kind == CP_RECORD_WAIT)
		w->error = moment(w, w->visitor->wait, call);
	else if (cp_record_kind_is_heap(call->kind))
		w->error = moment(w, w->visitor->heap, call);
	else if (cp_record_kind_family(call->kind) == CP_RECORD_OF_MAPS)
		w->error = moment(w, w->visitor->map, call);
	else
		w->error = cp_spans_event(&w->spans, call);
	if (!w->error && call->kind == CP_RECORD_DISARMED)
		w->error = moment(w, w->visitor->disarmed, call);
	return !w->error && (!w->visitor->stop || !*w->visitor->stop);
}

bool cp_spans_walk_event(void *walk, const struct cp_record_call *said)
{
	struct cp_spans_walk *w = walk;

	/* Most of what there is: an end of a call, where nobody asks for a part of the time. */
	if (said->kind >= CP_RECORD_DISARMED || !w->calls || w->visitor->stop || w->p->filter.to_ns)
		return other_event(walk, said);
	w->error = cp_spans_event(&w->spans, said);
	return !w->error;
}

/* A call that returned before anything else came. */
static bool leaf_event(void *walk, const struct cp_record_call *call,
		       const struct cp_record_leaf *leaf)
{
	struct cp_spans_walk *w = walk;
	struct cp_record_call leave;

	if (w->tailed[call->thread] || leaf->end_ns < call->ts_ns) {
		leave = *call;
		cp_record_leaf_leave(leaf, &leave);
		return cp_spans_walk_event(w, call) && cp_spans_walk_event(w, &leave);
	}
	w->error = cp_spans_pass(&w->spans, call, leaf, &w->leaf);
	if (!w->error && shown(w, &w->leaf))
		w->error = cp_leaves_add(w->leaves, &w->leaf);
	return !w->error;
}

static bool is_missing_events(const struct cp_record *r)
{
	const struct cp_record_damage *d = cp_record_damage(r);

	return d->bad_chunks || d->missing_bytes || d->dropped || d->lost ||
	       cp_record_totals_lack_calls(cp_record_final(r));
}

CP_ERROR cp_spans_walk_begin(const struct cp_profile *p, const struct cp_span_visitor *visitor,
			     void *ctx, struct cp_spans_walk **ret)
{
	static const struct cp_spans_to all = { NULL, begin, end }, chosen = { hides, begin, end };
	struct cp_spans_walk *w = calloc(1, sizeof(*w));
	struct cp_error *err;

	if (!w)
		return cp_error_nomem();
	*w = (struct cp_spans_walk){ .p = p,
				     .visitor = visitor,
				     .calls = visitor->enter || visitor->leave || p->choice,
				     .ctx = ctx,
				     .all = is_open(p),
				     .spans = { .to = p->choice ? &chosen : &all,
						.ctx = w,
						.start_ns = cp_record_info(p->record)->start_ns,
						.missing = is_missing_events(p->record) } };
	err = cp_spans_walk_grow(w);
	if (err)
		cp_spans_walk_destroy(w);
	else
		*ret = w;
	return err;
}

/* The end of what is walked through: of calls, when cprof began to leave. */
static uint64_t end_of(const struct cp_spans_walk *w)
{
	const struct cp_record_totals *final = cp_record_final(w->p->record);
	uint64_t left_ns = final->left_ns, ended_ns = final->end_ns;
	uint64_t end_ns = offset(w, left_ns && left_ns < ended_ns ? left_ns : ended_ns);
	uint64_t to_ns = w->p->filter.to_ns;

	return to_ns && to_ns < end_ns ? to_ns : end_ns;
}

CP_ERROR cp_spans_walk_end(struct cp_spans_walk *w, bool all)
{
	if (w->error)
		return cp_steal(w->error);
	if (w->leaves)
		CP_TRY(cp_leaves_flush(w->leaves));
	if (!all || (w->visitor->stop && *w->visitor->stop))
		return NULL;
	return cp_spans_rest(&w->spans, end_of(w));
}

void cp_spans_walk_destroy(struct cp_spans_walk *w)
{
	if (!w)
		return;
	cp_error_free(w->error);
	cp_spans_deinit(&w->spans);
	cp_leaves_destroy(w->leaves);
	free(w->tailed);
	free(w->functions);
	free(w);
}

/* Where all calls are told, whenever they end, and nobody ends the walk. */
static struct cp_error *begin_leaves(struct cp_spans_walk *w)
{
	const struct cp_span_visitor *visitor = w->visitor;

	if (!visitor->leaves || !visitor->bare || visitor->stop || w->p->choice ||
	    w->p->filter.to_ns)
		return NULL;
	w->leaves = cp_leaves_create(visitor->leaves, w->ctx);
	w->tailed = calloc(cp_record_thread_count(w->p->record) + 1, sizeof(*w->tailed));
	return w->leaves && w->tailed ? NULL : cp_error_nomem();
}

static struct cp_error *walk_events(struct cp_spans_walk *w)
{
	const struct cp_record *r = w->p->record;

	if (!w->calls)
		return cp_record_each_single_call(r, cp_spans_walk_event, w);
	CP_TRY(begin_leaves(w));
	if (w->leaves)
		return cp_record_each_bare_leaf(r, cp_spans_walk_event, leaf_event, w);
	return w->visitor->bare ? cp_record_each_bare_call(r, cp_spans_walk_event, w)
				: cp_record_each_call(r, cp_spans_walk_event, w);
}

CP_ERROR cp_spans_walk(const struct cp_profile *p, const struct cp_span_visitor *visitor, void *ctx)
{
	struct cp_spans_walk *w;
	struct cp_error *err, *first;

	CP_TRY(cp_spans_walk_begin(p, visitor, ctx, &w));
	err = walk_events(w);
	first = cp_spans_walk_end(w, !err);
	if (first) {
		cp_error_free(err);
		err = first;
	}
	cp_spans_walk_destroy(w);
	return err;
}
