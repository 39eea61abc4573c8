/* SPDX-License-Identifier: MIT */
#include "report/profile/spans.h"

#include "base/cleanup.h"
#include "report/profile/choice.h"
#include "report/profile/profile.h"

struct walk {
	const struct cp_profile *p;
	const struct cp_span_visitor *visitor;
	void *ctx;
	uint64_t end_ns; /* of the recording */
	struct cp_spans spans;
	struct cp_error *error;
};

static uint64_t offset(const struct walk *w, uint64_t ts_ns)
{
	return cp_profile_ns(w->p, ts_ns);
}

static bool shown(const struct walk *w, const struct cp_span *span)
{
	const struct cp_profile_filter *f = &w->p->filter;

	if (w->visitor->every)
		return true;
	return !span->hidden && span->start_ns >= f->from_ns &&
	       (!f->to_ns || span->start_ns <= f->to_ns) &&
	       cp_profile_accepts_call(w->p, span->thread, span->function);
}

/* ---- calls ---- */

static bool hides(void *ctx, const struct cp_span *span)
{
	const struct walk *w = ctx;

	return w->p->choice && !cp_choice_has(w->p->choice, span->id);
}

static uint32_t function_at(void *ctx, uint32_t location)
{
	const struct walk *w = ctx;

	return cp_profile_outermost(w->p, location);
}

static struct cp_error *begin(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	const struct walk *w = ctx;

	return w->visitor->enter && shown(w, span) ? w->visitor->enter(w->ctx, span, call) : NULL;
}

static struct cp_error *end(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	const struct walk *w = ctx;

	return w->visitor->leave && shown(w, span) ? w->visitor->leave(w->ctx, span, call) : NULL;
}

/* ---- events ---- */

typedef struct cp_error *(*visit_fn)(void *ctx, uint32_t thread, uint32_t function,
				     const struct cp_record_call *call);

/* Calls that are chosen bring along what happens right in them. */
static bool is_chosen(const struct walk *w, const struct cp_record_call *call)
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
static struct cp_error *moment(struct walk *w, visit_fn visit, const struct cp_record_call *call)
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

static bool event(void *ctx, const struct cp_record_call *said)
{
	const struct cp_record_call right = cp_span_put_right(said), *call = &right;
	struct walk *w = ctx;

	/* The walk ends with the time that is asked for: a call that is open by then stays open. */
	if (w->p->filter.to_ns && offset(w, call->ts_ns) > w->p->filter.to_ns)
		return true;
	if (call->kind == CP_RECORD_THROW || call->kind == CP_RECORD_CATCH)
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

static struct cp_error *walk(struct walk *w)
{
	struct cp_error *err = cp_record_each_call(w->p->record, event, w);

	if (w->error) {
		cp_error_free(err);
		return w->error;
	}
	if (err || (w->visitor->stop && *w->visitor->stop))
		return err;
	return cp_spans_rest(&w->spans, w->end_ns);
}

static bool is_missing_events(const struct cp_record *r)
{
	const struct cp_record_damage *d = cp_record_damage(r);

	return d->bad_chunks || d->missing_bytes || d->dropped || d->lost ||
	       cp_record_final(r)->calls_lost || cp_record_final(r)->call_records_lost;
}

CP_ERROR cp_spans_walk(const struct cp_profile *p, const struct cp_span_visitor *visitor, void *ctx)
{
	static const struct cp_spans_to to = { function_at, hides, begin, end };
	const struct cp_record_totals *t = cp_record_final(p->record);
	struct walk w = { .p = p,
			  .visitor = visitor,
			  .ctx = ctx,
			  .spans = { .to = &to,
				     .ctx = &w,
				     .start_ns = cp_record_info(p->record)->start_ns,
				     .missing = is_missing_events(p->record) } };
	struct cp_error *err;

	w.end_ns = offset(&w, t->end_ns);
	if (p->filter.to_ns && p->filter.to_ns < w.end_ns)
		w.end_ns = p->filter.to_ns;
	err = walk(&w);
	cp_spans_deinit(&w.spans);
	return err;
}
