/* SPDX-License-Identifier: MIT */
#include "report/profile/choice.h"

#include <stdlib.h>

#include "record/calls.h"
#include "report/profile/spans.h"
#include "report/profile/summed.h"

#define IS_UNDER 1u
#define IS_NOT_UNDER 2u /* it is below what --not-under leaves out, or that itself */
#define PASSES 4u /* all but --paths-to and --levels */
#define IS_TARGET 8u
#define LEADS 16u /* to a target, or is one */

/* What is known of a call. */
struct fate {
	uint64_t from; /* the call that made it; 0: none is known */
	uint32_t level; /* it and the calls around that --under and --not-under leave */
	uint8_t flags;
};

/* The function that a thread is about to enter, for its last call ended by that. */
struct tail {
	uint64_t id; /* of that call; 0: there is none */
	uint32_t depth, target;
};

struct chooser {
	const struct cp_profile *p;
	const struct cp_call_choice *rules;
	struct cp_choice *choice;
	CP_VEC(struct fate) fates; /* by id; the first is of no call */
	struct tail *tails; /* by thread */
	uint8_t *functions; /* what rules say of each: IS_*; 0: not asked yet */
};

#define ASKED 128u

static uint8_t said_of(struct chooser *c, uint32_t function)
{
	const struct cp_function *f = &c->p->functions.items[function];
	const struct cp_call_choice *rules = c->rules;
	uint8_t *said = &c->functions[function];

	if (*said)
		return *said;
	*said = ASKED;
	if (rules->under && rules->matches(rules->under, c->p, f))
		*said |= IS_UNDER;
	if (rules->not_under && rules->matches(rules->not_under, c->p, f))
		*said |= IS_NOT_UNDER;
	if (rules->paths_to && rules->matches(rules->paths_to, c->p, f))
		*said |= IS_TARGET;
	return *said;
}

static struct fate *fate_of(struct chooser *c, uint64_t id)
{
	return &c->fates.items[id < c->fates.count ? id : 0];
}

static bool is_left(const struct chooser *c, const struct fate *f)
{
	return (!c->rules->under || f->flags & IS_UNDER) && !(f->flags & IS_NOT_UNDER);
}

/* The call that this one was made by, which may be over: by a tail call. */
static uint64_t maker(struct chooser *c, const struct cp_span *span)
{
	struct tail tail = c->tails[span->thread];

	c->tails[span->thread].id = 0;
	if (tail.id && span->entered && tail.depth == span->depth && tail.target == span->function)
		return tail.id;
	return span->outer ? span->outer->id : 0;
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct chooser *c = ctx;
	uint8_t said = said_of(c, span->function);
	struct fate fate = { .from = maker(c, span) };

	(void)call;
	c->choice->met_under |= (said & IS_UNDER) != 0;
	c->choice->met_not_under |= (said & IS_NOT_UNDER) != 0;
	c->choice->met_paths_to |= (said & IS_TARGET) != 0;
	fate.flags = (uint8_t)((fate_of(c, fate.from)->flags & (IS_UNDER | IS_NOT_UNDER)) |
			       (said & (IS_UNDER | IS_NOT_UNDER | IS_TARGET)));
	fate.level = (span->outer ? fate_of(c, span->outer->id)->level : 0) + is_left(c, &fate);
	return cp_vec_push(&c->fates, fate) ? NULL : cp_error_nomem();
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct chooser *c = ctx;
	struct fate *fate = fate_of(c, span->id);

	(void)call;
	c->tails[span->thread] = (struct tail){ 0 };
	if (span->end == CP_SPAN_TAIL_CALLED && span->target != CP_RECORD_NONE)
		c->tails[span->thread] = (struct tail){ span->id, span->depth, span->target };
	if (is_left(c, fate) && span->net_ns >= c->rules->least_ns)
		fate->flags |= PASSES;
	return NULL;
}

/* Who made a call has a lower id, so from the last one on all is known of each. */
static struct cp_error *decide(struct chooser *c)
{
	const struct cp_call_choice *rules = c->rules;
	struct fate *fate;
	size_t id;

	c->choice->last_id = c->fates.count - 1;
	c->choice->calls = calloc(c->fates.count / 8 + 1, 1);
	if (!c->choice->calls)
		return cp_error_nomem();
	for (id = c->fates.count; --id;) {
		fate = &c->fates.items[id];
		if (fate->flags & IS_TARGET && fate->flags & PASSES)
			fate->flags |= LEADS;
		if (fate->flags & LEADS)
			fate_of(c, fate->from)->flags |= LEADS;
		if (fate->flags & PASSES && (!rules->paths_to || fate->flags & LEADS) &&
		    (!rules->levels || fate->level <= rules->levels))
			c->choice->calls[id / 8] |= (uint8_t)(1u << id % 8);
	}
	return NULL;
}

static struct cp_error *choose(struct chooser *c)
{
	static const struct cp_span_visitor visitor = {
		.enter = enter, .leave = leave, .every = true, .bare = true
	};

	c->tails = calloc(cp_record_thread_count(c->p->record) + 1, sizeof(*c->tails));
	c->functions = calloc(c->p->functions.count + 1, 1);
	if (!c->tails || !c->functions || !cp_vec_push(&c->fates, (struct fate){ 0 }))
		return cp_error_nomem();
	CP_TRY(cp_spans_walk(c->p, &visitor, c));
	return decide(c);
}

/* A replay shows single calls, and whatever else is events. */
static struct cp_error *check(const struct cp_profile *p)
{
	const struct cp_call_choice *rules = &p->filter.calls;
	bool of_calls = rules->under || rules->not_under || rules->paths_to || rules->levels;

	if (!p->filter.no_costs || !cp_record_call_count(p->record))
		CP_TRY(cp_profile_check_sums(p));
	if (cp_record_call_count(p->record) || (p->filter.no_costs && !of_calls))
		return NULL;
	return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0,
					  "the recording has no traced calls that could be chosen"),
			     "calls are recorded by: cprof run --trace=SPEC -- CMD");
}

CP_ERROR cp_choice_create(const struct cp_profile *p, struct cp_choice **ret)
{
	const struct cp_call_choice *rules = &p->filter.calls;
	struct chooser c = { .p = p, .rules = rules };
	struct cp_error *err;

	if (!cp_call_choice_is_any(rules))
		return NULL;
	CP_TRY(check(p));
	c.choice = calloc(1, sizeof(*c.choice));
	if (!c.choice)
		return cp_error_nomem();
	c.choice->least_ns = rules->least_ns;
	c.choice->has_outside = !rules->under && !rules->paths_to;
	err = choose(&c);
	cp_vec_free(&c.fates);
	free(c.tails);
	free(c.functions);
	if (err)
		cp_choice_destroy(c.choice);
	else
		*ret = c.choice;
	return err;
}

void cp_choice_destroy(struct cp_choice *c)
{
	if (!c)
		return;
	free(c->calls);
	free(c);
}
