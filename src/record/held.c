/* SPDX-License-Identifier: MIT */
#include "record/held.h"

#include <stdlib.h>
#include <string.h>

#include "record/arena.h"
#include "record/batch.h"

#define SPARE_MOST 4096 /* places at the front that may be empty */

enum state { OPEN, WANTED, UNWANTED };

struct cp_held {
	struct cp_record_call call;
	struct cp_record_arena values; /* of the call */
	enum state state;
	bool patient;
};

static void destroy(struct cp_held *h)
{
	if (h)
		cp_record_arena_free(&h->values);
	free(h);
}

/* NULL without memory. */
static struct cp_held *create(const struct cp_record_call *call, enum state state)
{
	struct cp_held *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->state = state;
	if (cp_record_copy_call(&h->values, call, &h->call))
		return h;
	destroy(h);
	return NULL;
}

/* Writes what waits for nothing. */
static void go_on(struct cp_held_queue *q, struct cp_record_writer *w)
{
	struct cp_held *h;

	for (; q->head < q->items.count; q->head++) {
		h = q->items.items[q->head];
		if (h && h->state == OPEN)
			break;
		if (h && h->state == WANTED)
			cp_record_call(w, &h->call);
		destroy(h);
		q->items.items[q->head] = NULL;
	}
	if (!q->head || (q->head < q->items.count && q->head < SPARE_MOST))
		return;
	memmove(q->items.items, q->items.items + q->head,
		(q->items.count - q->head) * sizeof(*q->items.items));
	q->items.count -= q->head;
	q->first += q->head;
	q->head = 0;
}

size_t cp_held_count(const struct cp_held_queue *q)
{
	return q->items.count - q->head;
}

void cp_held_add(struct cp_held_queue *q, struct cp_record_writer *w,
		 const struct cp_record_call *call)
{
	struct cp_held *h = cp_held_count(q) ? create(call, WANTED) : NULL;

	if (h && cp_vec_push(&q->items, h))
		return;
	destroy(h);
	cp_record_call(w, call);
}

uint64_t cp_held_hold(struct cp_held_queue *q, struct cp_record_writer *w,
		      const struct cp_record_call *call, bool patient)
{
	struct cp_held *h = create(call, OPEN);

	if (h)
		h->patient = patient;
	if (h && cp_vec_push(&q->items, h))
		return q->first + q->items.count;
	destroy(h);
	cp_record_call(w, call);
	return 0;
}

static struct cp_held *late(const struct cp_held_queue *q, uint64_t number)
{
	const uint64_t *found = cp_map_get(&q->late, number);

	return found ? (struct cp_held *)(uintptr_t)*found : NULL;
}

static struct cp_held *find(const struct cp_held_queue *q, uint64_t number)
{
	if (late(q, number))
		return late(q, number);
	if (number <= q->first + q->head || number > q->first + q->items.count)
		return NULL;
	return q->items.items[number - 1 - q->first];
}

bool cp_held_is_open(const struct cp_held_queue *q, uint64_t number)
{
	const struct cp_held *h = find(q, number);

	return h && h->state == OPEN;
}

bool cp_held_is_late(const struct cp_held_queue *q, uint64_t number)
{
	return late(q, number) != NULL;
}

void cp_held_hurry(struct cp_held_queue *q, uint64_t number)
{
	struct cp_held *h = find(q, number);

	if (h)
		h->patient = false;
}

void cp_held_decide(struct cp_held_queue *q, struct cp_record_writer *w, uint64_t number,
		    bool wanted)
{
	struct cp_held *h = find(q, number);

	if (h && late(q, number)) {
		if (wanted) /* it came before all that is held now */
			cp_record_call(w, &h->call);
		cp_map_remove(&q->late, number);
		destroy(h);
		return;
	}
	if (h && h->state == OPEN)
		h->state = wanted ? WANTED : UNWANTED;
	go_on(q, w);
}

/* It has held others for long. */
static void pass(struct cp_held_queue *q, size_t at)
{
	struct cp_held *h = q->items.items[at];

	if (h->patient && cp_map_put(&q->late, q->first + at + 1, (uintptr_t)h))
		q->items.items[at] = NULL;
	else
		h->state = WANTED;
}

void cp_held_let_go(struct cp_held_queue *q, struct cp_record_writer *w, uint64_t since_ns)
{
	size_t i;

	for (i = q->head; i < q->items.count; i++) {
		const struct cp_held *h = q->items.items[i];

		if (h && h->call.ts_ns >= since_ns)
			break;
		if (h && h->state == OPEN)
			pass(q, i);
	}
	go_on(q, w);
}

void cp_held_deinit(struct cp_held_queue *q)
{
	uint64_t number, held;
	size_t i, cursor = 0;

	for (i = q->head; i < q->items.count; i++)
		destroy(q->items.items[i]);
	while (cp_map_next(&q->late, &cursor, &number, &held))
		destroy((struct cp_held *)(uintptr_t)held);
	cp_map_free(&q->late);
	cp_vec_free(&q->items);
	*q = (struct cp_held_queue){ 0 };
}
