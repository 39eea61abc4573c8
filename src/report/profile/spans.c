/* SPDX-License-Identifier: MIT */
#include "report/profile/spans.h"

#include "base/cleanup.h"
#include "report/look/nettime.h"
#include "report/profile/profile.h"

#define BLOCK 256 /* spans allocated at once */
#define SEARCH_MAX 4096 /* open calls among which one that ends is looked for */

/* The open calls of a thread, in the order of their enters. */
struct thread {
	CP_VEC(struct cp_span *) open;
};

struct walk {
	const struct cp_profile *p;
	const struct cp_span_visitor *visitor;
	void *ctx;
	uint64_t end_ns; /* of the recording */
	uint64_t last_id;
	bool missing; /* some events may be */
	struct thread *threads; /* by number */
	struct cp_map again; /* thread, function: how many are open */
	CP_VEC(struct cp_span *) blocks;
	CP_VEC(struct cp_span *) spare;
	struct cp_error *error;
};

const char *cp_span_end_name(enum cp_span_end end)
{
	static const char *const names[] = {
		[CP_SPAN_RETURNED] = "returned", [CP_SPAN_TAIL_CALLED] = "tail_called",
		[CP_SPAN_UNWOUND] = "unwound",	 [CP_SPAN_ENDED] = "thread_ended",
		[CP_SPAN_LOST] = "lost",	 [CP_SPAN_OPEN] = "open",
	};

	return names[end];
}

static struct cp_span *take_span(struct walk *w)
{
	struct cp_span *block;
	size_t i;

	if (!w->spare.count) {
		block = calloc(BLOCK, sizeof(*block));
		if (!block || !cp_vec_push(&w->blocks, block) ||
		    !cp_vec_reserve(&w->spare, w->blocks.count * BLOCK))
			return NULL;
		for (i = 0; i < BLOCK; i++)
			w->spare.items[w->spare.count++] = &block[i];
	}
	return w->spare.items[--w->spare.count];
}

static uint64_t *again(struct walk *w, const struct cp_span *span)
{
	uint64_t key = (uint64_t)span->thread << 32 | span->function;
	uint64_t *count = cp_map_get(&w->again, key);

	if (!count && cp_map_put(&w->again, key, 0))
		count = cp_map_get(&w->again, key);
	return count;
}

static uint64_t offset(const struct walk *w, uint64_t ts_ns)
{
	return cp_profile_ns(w->p, ts_ns);
}

static bool shown(const struct walk *w, const struct cp_span *span)
{
	const struct cp_profile_filter *f = &w->p->filter;

	return span->start_ns >= f->from_ns && (!f->to_ns || span->start_ns <= f->to_ns) &&
	       cp_profile_accepts_call(w->p, span->thread, span->function);
}

/* The call around one that is `depth` deep: the last one that is one less. Where its
 * enter was lost, the one before; but coroutines rest that are less deep. */
static struct cp_span *outer(const struct thread *t, uint32_t depth)
{
	size_t i, least = t->open.count > SEARCH_MAX ? t->open.count - SEARCH_MAX : 0;
	struct cp_span *around = NULL;

	for (i = t->open.count; i-- > least;) {
		struct cp_span *span = t->open.items[i];

		if (span->depth < depth && (!around || span->depth > around->depth))
			around = span;
		if (around && around->depth + 1 == depth)
			break;
	}
	return around;
}

/* ---- begin and end ---- */

static struct cp_error *begin(struct walk *w, const struct cp_record_call *call, uint64_t start_ns,
			      struct cp_span **ret)
{
	struct thread *t = &w->threads[call->thread];
	struct cp_span *span = take_span(w);
	uint64_t *count;

	if (!span || !cp_vec_push(&t->open, span))
		return cp_error_nomem();
	*span = (struct cp_span){
		.id = ++w->last_id,
		.thread = call->thread,
		.function = cp_profile_outermost(w->p, call->function),
		.location = call->function,
		.depth = call->depth,
		.entered = call->kind == CP_RECORD_ENTER,
		.inherited = call->kind == CP_RECORD_INHERITED,
		.start_ns = start_ns,
		.target = CP_RECORD_NONE,
	};
	t->open.count--; /* not around itself */
	span->outer = outer(t, call->depth);
	t->open.count++;
	count = again(w, span);
	if (!count)
		return cp_error_nomem();
	span->again = (uint32_t)(*count)++;
	*ret = span;
	if (!w->visitor->enter || !shown(w, span))
		return NULL;
	return w->visitor->enter(w->ctx, span, call);
}

/* Ends the call at `place` of its thread's open ones, which says how. */
static struct cp_error *finish(struct walk *w, struct thread *t, size_t place,
			       const struct cp_record_call *call)
{
	struct cp_span *span = t->open.items[place];
	struct cp_error *err = NULL;
	uint64_t *count = again(w, span);
	size_t i;

	for (i = place; i + 1 < t->open.count; i++) {
		t->open.items[i] = t->open.items[i + 1];
		if (t->open.items[i]->outer == span)
			t->open.items[i]->outer = span->outer;
	}
	t->open.count--;
	if (count && *count)
		--*count;
	span->net_ns =
		span->duration_ns -
		(span->overhead_ns < span->duration_ns ? span->overhead_ns : span->duration_ns);
	if (span->outer) {
		span->outer->inner_ns += cp_span_likely(span);
		span->outer->inner_overhead_ns += span->overhead_ns;
		span->outer->inner_doubt += cp_span_doubt(span);
		span->outer->inner_uncertain_ns += span->uncertain_ns;
	}
	if (w->visitor->leave && shown(w, span))
		err = w->visitor->leave(w->ctx, span, call);
	w->spare.items[w->spare.count++] = span; /* there is room for all */
	return err;
}

/* Nothing says how it ended. */
static struct cp_error *abandon(struct walk *w, struct thread *t, size_t place,
				enum cp_span_end how, uint64_t end_ns)
{
	struct cp_span *span = t->open.items[place];

	span->end = how;
	span->end_ns = end_ns > span->start_ns ? end_ns : span->start_ns;
	span->duration_ns = span->end_ns - span->start_ns;
	span->overhead_ns = span->inner_overhead_ns;
	span->uncertain_ns = span->inner_uncertain_ns;
	return finish(w, t, place, NULL);
}

/* ---- events ---- */

/* The call that `call` leaves, + 1: the one entered just then; or else the
 * innermost of its function and depth. 0: none. */
static size_t find(const struct walk *w, const struct thread *t, const struct cp_record_call *call)
{
	uint64_t start = offset(w, call->ts_ns - call->duration_ns);
	size_t i, least = t->open.count > SEARCH_MAX ? t->open.count - SEARCH_MAX : 0, likely = 0;

	for (i = t->open.count; i-- > least;) {
		const struct cp_span *span = t->open.items[i];

		if (span->location != call->function || span->depth != call->depth)
			continue;
		if (span->start_ns == start)
			return i + 1;
		likely = likely ? likely : i + 1;
	}
	return likely;
}

static struct cp_error *leave(struct walk *w, const struct cp_record_call *call)
{
	struct thread *t = &w->threads[call->thread];
	size_t place = find(w, t, call), i;
	struct cp_span *span;

	if (!place) {
		CP_TRY(begin(w, call, offset(w, call->ts_ns - call->duration_ns), &span));
		place = t->open.count;
	}
	span = t->open.items[place - 1];
	/* An open call that is deeper was made by this one, and its end is missing. If no event is
	 * missing, it is in a coroutine
	 * that rests. */
	for (i = t->open.count; w->missing && i > place; i--) {
		if (t->open.items[i - 1]->depth > span->depth)
			CP_TRY(abandon(w, t, i - 1, CP_SPAN_LOST, offset(w, call->ts_ns)));
	}
	span->end = call->kind == CP_RECORD_LEAVE	 ? CP_SPAN_RETURNED
		    : call->kind == CP_RECORD_TAIL_CALL	 ? CP_SPAN_TAIL_CALLED
		    : call->flags & CP_RECORD_CALL_ENDED ? CP_SPAN_ENDED
							 : CP_SPAN_UNWOUND;
	if (call->target != CP_RECORD_NONE)
		span->target = cp_profile_outermost(w->p, call->target);
	span->unsure = span->end == CP_SPAN_UNWOUND && call->flags & CP_RECORD_CALL_UNSURE;
	span->end_ns = offset(w, call->ts_ns);
	span->duration_ns = call->duration_ns;
	span->overhead_ns = call->overhead_ns;
	span->uncertain_ns = call->uncertain_ns;
	span->cpu_ns = call->cpu_ns;
	return finish(w, t, place - 1, call);
}

typedef struct cp_error *(*visit_fn)(void *ctx, uint32_t thread, uint32_t function,
				     const struct cp_record_call *call);

/* An event that is no call goes to `visit`, if there is one. */
static struct cp_error *moment(struct walk *w, visit_fn visit, const struct cp_record_call *call)
{
	bool all = visit == w->visitor->heap || visit == w->visitor->map;
	uint32_t function;

	if (!visit)
		return NULL;
	function = all || visit == w->visitor->wait ? cp_profile_taker(w->p, call->function)
						    : cp_profile_outermost(w->p, call->function);
	/* None of these is left out: how much is in use depends on all before it. */
	if (!all && (!cp_profile_accepts_call(w->p, call->thread, function) ||
		     offset(w, call->ts_ns) < w->p->filter.from_ns))
		return NULL;
	return visit(w->ctx, call->thread, function, call);
}

/* From here on nothing says how its calls end, in no thread. */
static struct cp_error *disarmed(struct walk *w, const struct cp_record_call *call)
{
	size_t count = cp_record_thread_count(w->p->record), i, k;

	for (i = 0; i < count; i++) {
		struct thread *t = &w->threads[i];

		for (k = t->open.count; k--;)
			if (t->open.items[k]->location == call->function)
				CP_TRY(abandon(w, t, k, CP_SPAN_LOST, offset(w, call->ts_ns)));
	}
	return moment(w, w->visitor->disarmed, call);
}

/* Nothing takes longer than since the clock began, and of its time no more than all is
 * uncertain: what a file says otherwise, a little less than nothing as a rule, it does
 * not know. */
static struct cp_record_call put_right(const struct cp_record_call *from)
{
	struct cp_record_call call = *from;

	if (call.duration_ns > call.ts_ns)
		call.duration_ns = 0;
	if (call.uncertain_ns > call.duration_ns)
		call.uncertain_ns = call.duration_ns;
	return call;
}

static bool event(void *ctx, const struct cp_record_call *said)
{
	const struct cp_record_call right = put_right(said), *call = &right;
	struct walk *w = ctx;
	struct cp_span *span;

	/* The walk ends with the time that is asked for: a call that is open by then stays open. */
	if (w->p->filter.to_ns && offset(w, call->ts_ns) > w->p->filter.to_ns)
		return true;
	if (call->kind == CP_RECORD_ENTER || call->kind == CP_RECORD_INHERITED)
		w->error = begin(w, call, offset(w, call->ts_ns), &span);
	else if (call->kind == CP_RECORD_DISARMED)
		w->error = disarmed(w, call);
	else if (call->kind == CP_RECORD_THROW || call->kind == CP_RECORD_CATCH)
		w->error = moment(w, w->visitor->exception, call);
	else if (call->kind == CP_RECORD_WAIT)
		w->error = moment(w, w->visitor->wait, call);
	else if (cp_record_kind_is_heap(call->kind))
		w->error = moment(w, w->visitor->heap, call);
	else if (cp_record_kind_family(call->kind) == CP_RECORD_OF_MAPS)
		w->error = moment(w, w->visitor->map, call);
	else
		w->error = leave(w, call);
	return !w->error && (!w->visitor->stop || !*w->visitor->stop);
}

static struct cp_error *rest(struct walk *w)
{
	size_t count = cp_record_thread_count(w->p->record), i;

	for (i = 0; i < count; i++) {
		struct thread *t = &w->threads[i];

		while (t->open.count)
			CP_TRY(abandon(w, t, t->open.count - 1, CP_SPAN_OPEN, w->end_ns));
	}
	return NULL;
}

static struct cp_error *walk(struct walk *w)
{
	struct cp_error *err;

	w->threads = calloc(cp_record_thread_count(w->p->record) + 1, sizeof(*w->threads));
	if (!w->threads)
		return cp_error_nomem();
	err = cp_record_each_call(w->p->record, event, w);
	if (w->error) {
		cp_error_free(err);
		return w->error;
	}
	if (err || (w->visitor->stop && *w->visitor->stop))
		return err;
	return rest(w);
}

static bool is_missing_events(const struct cp_record *r)
{
	const struct cp_record_damage *d = cp_record_damage(r);

	return d->bad_chunks || d->missing_bytes || d->dropped || d->lost ||
	       cp_record_final(r)->calls_lost;
}

CP_ERROR cp_spans_walk(const struct cp_profile *p, const struct cp_span_visitor *visitor, void *ctx)
{
	const struct cp_record_totals *t = cp_record_final(p->record);
	struct walk w = {
		.p = p, .visitor = visitor, .ctx = ctx, .missing = is_missing_events(p->record)
	};
	struct cp_error *err;
	size_t i;

	w.end_ns = offset(&w, t->end_ns);
	if (p->filter.to_ns && p->filter.to_ns < w.end_ns)
		w.end_ns = p->filter.to_ns;
	err = walk(&w);
	for (i = 0; w.threads && i < cp_record_thread_count(p->record); i++)
		cp_vec_free(&w.threads[i].open);
	free(w.threads);
	for (i = 0; i < w.blocks.count; i++)
		free(w.blocks.items[i]);
	cp_vec_free(&w.blocks);
	cp_vec_free(&w.spare);
	cp_map_free(&w.again);
	return err;
}

/* ---- times ---- */

void cp_span_add_whole(struct cp_net_sum *to, const struct cp_span *span)
{
	cp_net_add(to, cp_span_likely(span), cp_span_doubt(span));
}

/* The doubt of its calls is part of its own. */
void cp_span_add_self(struct cp_net_sum *to, const struct cp_span *span)
{
	double doubt = cp_span_doubt(span) - span->inner_doubt;
	/* Recordings may lie: what is too large wraps. */
	uint64_t likely = (uint64_t)cp_span_likely(span) - (uint64_t)span->inner_ns;

	cp_net_add(to, (int64_t)likely, doubt > 0 ? doubt : 0);
}
