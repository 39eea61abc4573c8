/* SPDX-License-Identifier: MIT */
#include "modules/live/collector.h"

#include <stdlib.h>
#include <string.h>

/* ---- batches ---- */

void collector_batch_destroy(struct batch *b)
{
	if (!b)
		return;
	cprof_stacks_free(b->stacks);
	cprof_tally_free(b->weights);
	cp_interner_free(&b->edges);
	cp_vec_free(&b->amounts);
	free(b);
}

struct batch *collector_batch(cprof_profiler *p, uint32_t second)
{
	struct batch *b = p->newest;

	if (b && b->second >= second)
		return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->stacks = cprof_stacks_create();
	b->weights = cprof_tally_create(sizeof(struct stack_key), 0);
	if (!b->stacks || !b->weights) {
		collector_batch_destroy(b);
		return NULL;
	}
	b->second = second;
	if (p->newest)
		p->newest->next = b;
	else
		p->oldest = b;
	p->newest = b;
	return b;
}

void collector_names(const cprof_thread *t, struct cp_live_thread *to)
{
	const char *name = cprof_thread_name(t),
		   *process = cprof_process_name(cprof_thread_process(t));

	strncpy(to->name, name ? name : "", sizeof(to->name) - 1);
	strncpy(to->process, process ? process : "", sizeof(to->process) - 1);
}

uint32_t collector_thread(cprof_profiler *p, cprof_thread *t)
{
	const uint64_t *known = cp_map_get(&p->threads, (uintptr_t)t);
	uint32_t number;

	if (known || !t)
		return known ? (uint32_t)*known : CP_LIVE_ALL;
	cp_live_lock(p->sums);
	number = cp_live_thread(p->sums, cprof_process_pid(cprof_thread_process(t)),
				cprof_thread_tid(t));
	if (number != CP_LIVE_ALL)
		collector_names(t, &p->sums->threads.items[number]);
	cp_live_unlock(p->sums);
	if (!cp_map_put(&p->threads, (uintptr_t)t, number))
		return CP_LIVE_ALL;
	return number;
}

/* With the lock held. */
static bool add_stack(cprof_profiler *p, const struct collected *c)
{
	uint32_t second = cp_live_second(p->sums, c->ts_ns), from, parts;
	struct stack_key key = { .kind = c->kind,
				 .thread = collector_thread(p, cprof_current_thread()) };
	struct batch *b = collector_batch(p, second);
	uint64_t left = c->weight, until = c->ts_ns;

	key.stack = b ? cprof_stacks_current(b->stacks, c->ip) : CPROF_NO_STACK;
	if (key.stack == CPROF_NO_STACK)
		return false;
	from = c->lasted && left < until ? cp_live_second(p->sums, until - left) : second;
	/* What is longer ago than is kept counts in the oldest. */
	for (parts = 1; second > from && parts < CP_LIVE_SLOTS; parts++, second--) {
		uint64_t begin = cp_live_second_end(p->sums, second - 1);

		key.before = b->second - second;
		if (until > begin && !cprof_tally_add(b->weights, &key, 0, until - begin))
			return false;
		left -= until - begin;
		until = begin;
	}
	key.before = b->second - second;
	return cprof_tally_add(b->weights, &key, c->events, left);
}

void collector_stack(cprof_profiler *p, const struct collected *c)
{
	pthread_mutex_lock(&p->lock);
	if (!p->failed)
		p->failed = !add_stack(p, c);
	pthread_mutex_unlock(&p->lock);
}
