/* SPDX-License-Identifier: MIT
 *
 *      cursor        H0
 *        ▼           ▼
 *   ─────┬───────────┬─────   two copies, C1 and C2, then H1 = head again
 *        │ │ │ │ │ │ │
 *   ─────┴───────────┴─────
 *
 * An event is good if its sequence number is right in both copies and nobody
 * can have begun to overwrite it (H1). Its fields are taken of the second copy,
 * which was made after the writer had finished.
 */
#include "probe/trace_ring.h"

#include <string.h>

struct chunk {
	cprof_trace_event events[CP_TRACE_RING_CHUNK];
};

static bool read_root(const struct cp_reader *reader, uint64_t at, cprof_trace_root *ret)
{
	return cp_read_exact(reader, at, ret, sizeof(*ret)) && ret->magic == CPROF_TRACE_MAGIC &&
	       ret->version == CPROF_TRACE_ABI_VERSION && ret->root_size >= sizeof(*ret) &&
	       ret->event_size == sizeof(cprof_trace_event) &&
	       (ret->capacity & (ret->capacity - 1)) == 0 && ret->capacity <= CP_TRACE_RING_MAX;
}

bool cp_trace_ring_init(struct cp_trace_ring *ring, const struct cp_reader *reader, uint64_t root,
			bool fork)
{
	cprof_trace_root now;

	if (!read_root(reader, root, &now))
		return false;
	*ring = (struct cp_trace_ring){
		.root = root, .floor = fork ? 0 : now.head, .cursor = now.head, .begun = !fork
	};
	return true;
}

/* `count` events from index `first` on, around the end of the ring. */
static bool copy(const struct cp_reader *reader, const cprof_trace_root *root, uint64_t first,
		 size_t count, struct chunk *ret)
{
	uint64_t events, at = first & (root->capacity - 1);
	size_t before = root->capacity - at < count ? (size_t)(root->capacity - at) : count;
	size_t size = sizeof(ret->events[0]);

	memcpy(&events, &root->events, sizeof(events)); /* an address over there */
	return cp_read_exact(reader, events + at * size, ret->events, before * size) &&
	       (before == count ||
		cp_read_exact(reader, events, ret->events + before, (count - before) * size));
}

static void lose(struct cp_trace_ring *ring, uint64_t up_to)
{
	ring->lost += up_to - ring->cursor;
	ring->cursor = up_to;
}

/* Finds the place at which reading goes on; false: there is nothing to read. What is
 * not read of a ring that was dropped is lost, also when no other one was set up. */
static bool find_cursor(struct cp_trace_ring *ring, const cprof_trace_root *root)
{
	uint64_t first = root->first > ring->floor ? root->first : ring->floor;

	if (!ring->begun) {
		ring->cursor = first;
		ring->begun = true;
	} else if (ring->cursor < first && first <= root->head) {
		lose(ring, first); /* the ring was dropped with what was in there */
	}
	if (root->head < ring->cursor) {
		ring->cursor = root->head; /* it went backwards: by no writer of ours */
		return false;
	}
	if (root->head - ring->cursor > root->capacity)
		lose(ring, root->head - root->capacity);
	return root->head != ring->cursor;
}

/* Is the `n`th event good? If it never will be, it is lost. */
static bool is_complete(struct cp_trace_ring *ring, const cprof_trace_root *after, bool last,
			const cprof_trace_event *one, const cprof_trace_event *two, bool *wait_ret)
{
	uint64_t behind = after->head - ring->cursor;

	*wait_ret = false;
	if (one->sequence == ring->cursor + 1 && two->sequence == ring->cursor + 1 &&
	    behind <= after->capacity)
		return true;
	*wait_ret = behind <= after->capacity / 2 && !last;
	return false;
}

void cp_trace_ring_give_up(struct cp_trace_ring *ring)
{
	if (ring->begun && ring->own && ring->cursor < ring->head)
		lose(ring, ring->head);
}

enum cp_trace_ring_state cp_trace_ring_read(struct cp_trace_ring *ring,
					    const struct cp_reader *reader, int32_t pid, bool last,
					    cp_trace_ring_fn fn, void *ctx)
{
	struct chunk one, two;
	cprof_trace_root before, after;
	size_t count, i;
	bool wait;

	if (!read_root(reader, ring->root, &before))
		return CP_TRACE_RING_BROKEN;
	ring->switched_on = before.enabled & CPROF_TRACE_ENABLED_BY_CONTROLLER;
	ring->capacity = before.capacity;
	ring->own = before.pid == pid;
	if (!ring->own)
		return CP_TRACE_RING_EMPTY;
	ring->head = before.head;
	if (!find_cursor(ring, &before) || !before.capacity || !before.events)
		return CP_TRACE_RING_EMPTY;
	count = before.head - ring->cursor < CP_TRACE_RING_CHUNK
			? (size_t)(before.head - ring->cursor)
			: CP_TRACE_RING_CHUNK;
	if (!copy(reader, &before, ring->cursor, count, &one) ||
	    !copy(reader, &before, ring->cursor, count, &two) ||
	    !read_root(reader, ring->root, &after))
		return CP_TRACE_RING_BROKEN;
	if (after.events != before.events || after.capacity != before.capacity ||
	    after.head < before.head || after.first != before.first)
		return CP_TRACE_RING_EMPTY; /* dropped meanwhile: look at the next poll */
	for (i = 0; i < count; i++) {
		if (is_complete(ring, &after, last, &one.events[i], &two.events[i], &wait)) {
			if (!fn(ctx, &two.events[i]))
				return CP_TRACE_RING_EMPTY;
			ring->cursor++;
		} else if (wait) {
			return CP_TRACE_RING_EMPTY;
		} else {
			lose(ring, ring->cursor + 1);
		}
	}
	return before.head != ring->cursor ? CP_TRACE_RING_MORE : CP_TRACE_RING_EMPTY;
}
