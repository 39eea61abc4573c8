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
static bool add_stack(cprof_profiler *p, enum cp_live_kind kind, uint64_t ts_ns, cprof_addr ip,
		      uint64_t events, uint64_t weight)
{
	struct stack_key key = { kind, collector_thread(p, cprof_current_thread()),
				 CPROF_NO_STACK };
	struct batch *b = collector_batch(p, cp_live_second(p->sums, ts_ns));

	if (b)
		key.stack = cprof_stacks_current(b->stacks, ip);
	return key.stack != CPROF_NO_STACK && cprof_tally_add(b->weights, &key, events, weight);
}

void collector_stack(cprof_profiler *p, enum cp_live_kind kind, uint64_t ts_ns, cprof_addr ip,
		     uint64_t events, uint64_t weight)
{
	pthread_mutex_lock(&p->lock);
	if (!p->failed)
		p->failed = !add_stack(p, kind, ts_ns, ip, events, weight);
	pthread_mutex_unlock(&p->lock);
}
