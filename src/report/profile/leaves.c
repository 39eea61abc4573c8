/* SPDX-License-Identifier: MIT */
#include "report/profile/leaves.h"

#include <stdlib.h>

#define PAIRS_BITS 11
#define PAIRS (1u << PAIRS_BITS)
#define TIMES 8 /* of a pair */
#define STEP_SHIFT 3 /* of times: call_block.h has units of 8 ns */

/* Some calls that took as long; none is longer than 32 bits say. */
struct alike {
	uint32_t duration, overhead, uncertain, count;
};

struct pair {
	uint32_t location, function, thread, again;
	uint32_t node, caller; /* of the call around; CP_RECORD_NONE: there is none */
	bool used;
	struct alike times[TIMES]; /* by duration */
};

struct cp_leaves {
	cp_leaves_fn tell;
	void *ctx;
	struct pair pairs[PAIRS];
};

struct cp_leaves *cp_leaves_create(cp_leaves_fn tell, void *ctx)
{
	struct cp_leaves *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->tell = tell;
	l->ctx = ctx;
	return l;
}

void cp_leaves_destroy(struct cp_leaves *l)
{
	free(l);
}

/* What was not told of those that are alike. */
static struct cp_error *flush(struct cp_leaves *l, const struct pair *pair, struct alike *alike)
{
	struct cp_span outer = { .function = pair->caller, .node = pair->node, .data = l };
	struct cp_span span = {
		.outer = pair->caller == CP_RECORD_NONE ? NULL : &outer,
		.thread = pair->thread,
		.function = pair->function,
		.location = pair->location,
		.again = pair->again,
		.entered = true,
		.target = CP_RECORD_NONE,
		.end_ns = alike->duration,
		.duration_ns = alike->duration,
		.overhead_ns = alike->overhead,
		.uncertain_ns = alike->uncertain,
	};
	uint64_t count = alike->count;

	cp_span_set_net(&span);
	alike->count = 0;
	return count ? l->tell(l->ctx, &span, count) : NULL;
}

static struct cp_error *flush_pair(struct cp_leaves *l, struct pair *pair)
{
	size_t i;

	for (i = 0; pair->used && i < TIMES; i++)
		CP_TRY(flush(l, pair, &pair->times[i]));
	return NULL;
}

CP_ERROR cp_leaves_flush(struct cp_leaves *l)
{
	size_t i;

	for (i = 0; i < PAIRS; i++)
		CP_TRY(flush_pair(l, &l->pairs[i]));
	return NULL;
}

static size_t place_of(const struct cp_span *span, uint32_t node, uint32_t caller)
{
	uint64_t hash = (uint64_t)node * 0x9e3779b97f4a7c15u + span->location;

	hash = (hash ^ caller) * 0xbf58476d1ce4e5b9u + span->thread;
	return (size_t)(hash * 0x94d049bb133111ebu >> (64 - PAIRS_BITS));
}

static struct cp_error *tell_one(struct cp_leaves *l, const struct cp_span *span)
{
	struct cp_span one = *span;

	return l->tell(l->ctx, &one, 1);
}

CP_ERROR cp_leaves_add(struct cp_leaves *l, const struct cp_span *span)
{
	const struct cp_span *outer = cp_span_shown_outer(span);
	uint32_t node = outer ? outer->node : 0, caller = outer ? outer->function : CP_RECORD_NONE;
	struct pair *pair = &l->pairs[place_of(span, node, caller)];
	struct alike *alike = &pair->times[span->duration_ns >> STEP_SHIFT & (TIMES - 1)];
	struct alike one = { (uint32_t)span->duration_ns, (uint32_t)span->overhead_ns,
			     (uint32_t)span->uncertain_ns, 0 };

	if (!pair->used || pair->location != span->location || pair->node != node ||
	    pair->caller != caller || pair->thread != span->thread || pair->again != span->again) {
		CP_TRY(flush_pair(l, pair));
		*pair = (struct pair){ .location = span->location,
				       .function = span->function,
				       .thread = span->thread,
				       .again = span->again,
				       .node = node,
				       .caller = caller,
				       .used = true };
		return tell_one(l, span);
	}
	if (span->duration_ns > UINT32_MAX)
		return tell_one(l, span);
	if (alike->duration != one.duration || alike->overhead != one.overhead ||
	    alike->uncertain != one.uncertain || alike->count == UINT32_MAX) {
		CP_TRY(flush(l, pair, alike));
		*alike = one;
	}
	alike->count++;
	return NULL;
}
