/* SPDX-License-Identifier: MIT */
#include "report/events/tailed.h"

#include <stdlib.h>

CP_ERROR cp_tailed_init(struct cp_tailed *t, size_t threads)
{
	t->waits = calloc(threads + 1, sizeof(*t->waits));
	return t->waits ? NULL : cp_error_nomem();
}

void cp_tailed_deinit(struct cp_tailed *t)
{
	struct cp_tailed_chain **chain;

	cp_vec_for_each(&t->all, chain) {
		cp_vec_free(&(*chain)->functions);
		free(*chain);
	}
	cp_vec_free(&t->all);
	cp_vec_free(&t->spare);
	free(t->waits);
}

static void put_back(struct cp_tailed *t, struct cp_tailed_chain *chain)
{
	if (chain)
		t->spare.items[t->spare.count++] = chain; /* there is room for all */
}

static struct cp_tailed_chain *take(struct cp_tailed *t)
{
	struct cp_tailed_chain *chain;

	if (t->spare.count) {
		chain = t->spare.items[--t->spare.count];
		chain->functions.count = 0;
		return chain;
	}
	chain = calloc(1, sizeof(*chain));
	if (chain && cp_vec_push(&t->all, chain)) {
		if (cp_vec_reserve(&t->spare, t->all.count))
			return chain;
		return NULL; /* it is freed with all */
	}
	free(chain);
	return NULL;
}

struct cp_tailed_chain *cp_tailed_enter(struct cp_tailed *t, const struct cp_span *span)
{
	struct cp_tailed_wait *wait = &t->waits[span->thread];
	struct cp_tailed_chain *chain = wait->chain;

	wait->chain = NULL;
	if (!chain ||
	    (span->entered && wait->depth == span->depth && wait->target == span->function))
		return chain;
	put_back(t, chain);
	return NULL;
}

/* The time of a call inside of another one of its function is part of that one's. */
static bool add(struct cp_tailed_chain *chain, const struct cp_span *span)
{
	const uint32_t *function;

	if (span->again)
		return true;
	cp_vec_for_each(&chain->functions, function)
		if (*function == span->function)
			return true;
	return cp_vec_push(&chain->functions, span->function);
}

bool cp_tailed_leave(struct cp_tailed *t, const struct cp_span *span, struct cp_tailed_chain *chain)
{
	struct cp_tailed_wait *wait = &t->waits[span->thread];

	put_back(t, wait->chain); /* what was called next is not traced */
	wait->chain = NULL;
	if (span->end != CP_SPAN_TAIL_CALLED || span->target == CP_RECORD_NONE) {
		put_back(t, chain);
		return true;
	}
	chain = chain ? chain : take(t);
	if (!chain || !add(chain, span))
		return false;
	*wait = (struct cp_tailed_wait){ chain, span->depth, span->target };
	return true;
}
