/* SPDX-License-Identifier: MIT */
#include "modules/live/collector.h"

#include <stdlib.h>
#include <string.h>

/* ---- batches ---- */

void collector_batch_destroy(struct batch *b)
{
	if (!b)
		return;
	cp_interner_free(&b->places);
	cp_interner_free(&b->stacks);
	cp_vec_free(&b->weights);
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

static void add_place(cprof_profiler *p, const struct place *place)
{
	uint32_t number;

	if (cp_intern(&p->newest->places, place, sizeof(*place), &number, NULL))
		cp_buf_add(&p->stack, &number, sizeof(number));
	else
		p->failed = true;
}

static cprof_walk add_frame(const cprof_function *function, cprof_addr ip,
			    const cprof_frame_info *frame, size_t size,
			    const cprof_context *context, void *data)
{
	const cprof_image *image = cprof_frame_info_image(frame);
	const struct place place = {
		.assembly = image ? (uintptr_t)cprof_image_assembly(image) : 0,
		.image = image ? (uintptr_t)cprof_image_name(image) : 0,
		.address = cprof_frame_info_address(frame),
		.is_signal = cprof_frame_info_is_signal(frame),
	};

	(void)function;
	(void)ip;
	(void)size;
	(void)context;
	add_place(data, &place);
	return CPROF_WALK_CONTINUE;
}

/* With the lock held. */
static void add_stack(cprof_profiler *p, enum cp_live_kind kind, uint64_t ts_ns, cprof_addr ip,
		      const struct weight *weight)
{
	const struct origin origin = { kind, collector_thread(p, cprof_current_thread()) };
	const struct place nowhere = { .address = ip };
	struct batch *b = collector_batch(p, cp_live_second(p->sums, ts_ns));
	uint32_t number;
	bool fresh;

	p->failed |= !b;
	if (p->failed)
		return;
	cp_buf_clear(&p->stack);
	cp_buf_add(&p->stack, &origin, sizeof(origin));
	cprof_do_stack_snapshot(cprof_current_thread(), add_frame,
				CPROF_SNAPSHOT_ALL_FRAMES | CPROF_SNAPSHOT_ADDRESSES, p, NULL, 0);
	if (p->stack.size == sizeof(origin))
		add_place(p, &nowhere);
	if (p->stack.failed ||
	    !cp_intern(&b->stacks, p->stack.bytes, p->stack.size, &number, &fresh) ||
	    (fresh && !cp_vec_push(&b->weights, (struct weight){ 0 }))) {
		p->failed = true;
		return;
	}
	b->weights.items[number].events += weight->events;
	b->weights.items[number].weight += weight->weight;
}

void collector_stack(cprof_profiler *p, enum cp_live_kind kind, uint64_t ts_ns, cprof_addr ip,
		     const struct weight *weight)
{
	pthread_mutex_lock(&p->lock);
	add_stack(p, kind, ts_ns, ip, weight);
	pthread_mutex_unlock(&p->lock);
}
