/* SPDX-License-Identifier: MIT
 *
 * cprof/trace_ring.h - the ring: set up, written, and read by the program
 * itself. Included by cprof/trace_impl.h.
 */
#ifndef CPROF_TRACE_RING_H
#define CPROF_TRACE_RING_H

#include <cprof/trace_impl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writers that overtake each other are told by sequence numbers and a fence,
 * which ThreadSanitizer does not know and would report. */
#define CPROF_TRACE_RACES_ __attribute__((no_sanitize("thread")))

/* Whose memory the ring is (root.reserved). */
enum cprof_trace_memory_ {
	CPROF_TRACE_OWN_ = 0,
	CPROF_TRACE_STORAGE_ = 1, /* the caller's */
	CPROF_TRACE_GIVEN_UP_ = 2 /* by cprof_trace_shutdown(), but cprof still reads it */
};

/* Where this executable or library lies in memory, as linkers say it. */
extern const char cprof_trace_own_start_[] __asm__("__ehdr_start")
	__attribute__((weak, visibility("hidden")));

/* The ids of a process's rings must differ, and no ring knows of another: the
 * program's counts from 1, a library's from the time at which it was set up, in
 * 16 ns, which no counting is as fast as. (Not in 1 ns: ids stay exact in JSON for
 * years.) */
CPROF_TRACE_SLOW_ void cprof_trace_first_id_(void)
{
	uintptr_t own = CPROF_TRACE_NUMBER_(&cprof_trace_own_start_[0]);
	uint64_t none = 0;

	if (own && getauxval(AT_PHDR) - own < 65536)
		return; /* the program's own headers are here */
	(void)__atomic_compare_exchange_n(&cprof_trace_root_v1.next_id, &none,
					  cprof_trace_now_() >> 4, false, __ATOMIC_RELAXED,
					  __ATOMIC_RELAXED);
}

/* Sets the ring up. Two may race, or a signal handler may come in between: who
 * moves `capacity` off 0 says how large it is, who moves `events` off NULL
 * whose memory it is. */
CPROF_TRACE_SLOW_ bool cprof_trace_set_up_(void *storage, uint32_t capacity)
{
	cprof_trace_root *root = &cprof_trace_root_v1;
	cprof_trace_event *none = CPROF_TRACE_NULL_;
	uint32_t before = 0;
	void *ring = storage;
	size_t bytes;

	if (!__atomic_compare_exchange_n(&root->capacity, &before, capacity, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		if (storage)
			return false;
		capacity = before;
	}
	bytes = CPROF_TRACE_CAST_(size_t, capacity) * sizeof(cprof_trace_event);
	if (storage)
		(void)memset(storage, 0, bytes);
	else
		ring = cprof_trace_pages_(bytes);
	if (!ring)
		return false;
	(void)cprof_trace_thread_();
	cprof_trace_first_id_();
	if (__atomic_compare_exchange_n(&root->events, &none,
					CPROF_TRACE_CAST_(cprof_trace_event *, ring), false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		(void)__atomic_add_fetch(&root->generation, 1, __ATOMIC_RELAXED);
		root->reserved = storage ? CPROF_TRACE_STORAGE_ : CPROF_TRACE_OWN_;
		return true;
	}
	if (!storage)
		(void)cprof_trace_munmap_(ring, bytes);
	return false;
}

CPROF_TRACE_SLOW_ bool cprof_trace_init(void *storage, uint32_t capacity)
{
	uint32_t rounded = 2;

	if (capacity < 2 || (CPROF_TRACE_NUMBER_(storage) & 63) != 0)
		return false;
	if (cprof_trace_root_v1.reserved == CPROF_TRACE_GIVEN_UP_) {
		cprof_trace_root_v1.reserved = CPROF_TRACE_OWN_; /* it is still there */
		return true;
	}
	if (__atomic_load_n(&cprof_trace_root_v1.capacity, __ATOMIC_ACQUIRE))
		return false;
	while (rounded <= capacity / 2)
		rounded *= 2;
	return cprof_trace_set_up_(storage, rounded);
}

CPROF_TRACE_SLOW_ void cprof_trace_shutdown(void)
{
	cprof_trace_root *root = &cprof_trace_root_v1;
	cprof_trace_event *ring;

	if (__atomic_and_fetch(&root->enabled, ~CPROF_TRACE_ENABLED_BY_APP, __ATOMIC_RELAXED) &&
	    root->reserved != CPROF_TRACE_STORAGE_) {
		root->reserved = CPROF_TRACE_GIVEN_UP_; /* cprof will read it, and records on */
		return;
	}
	__atomic_store_n(&root->enabled, 0, __ATOMIC_RELAXED);
	ring = __atomic_exchange_n(&root->events,
				   CPROF_TRACE_CAST_(cprof_trace_event *, CPROF_TRACE_NULL_),
				   __ATOMIC_ACQ_REL);
	if (ring && root->reserved != CPROF_TRACE_STORAGE_)
		(void)cprof_trace_munmap_(ring, CPROF_TRACE_CAST_(size_t, root->capacity) *
							sizeof(*ring));
	/* Indices go on, so that a reader outside sees what it missed. */
	__atomic_store_n(&root->first, root->head, __ATOMIC_RELAXED);
	__atomic_store_n(&root->capacity, 0, __ATOMIC_RELEASE);
}

/* The ring, made if there is none yet; NULL without memory. */
CPROF_TRACE_SLOW_ cprof_trace_event *cprof_trace_first_use_(void)
{
	const char *text = getenv("CPROF_TRACE_EVENTS");
	int error = errno;
	unsigned long long wanted = text ? strtoull(text, CPROF_TRACE_NULL_, 10) : 0;
	uint32_t rounded = 2;

	errno = error;
	if (wanted < 2 || wanted > 1ull << 26)
		wanted = CPROF_TRACE_DEFAULT_CAPACITY;
	while (rounded <= wanted / 2)
		rounded *= 2;
	(void)cprof_trace_set_up_(CPROF_TRACE_NULL_, rounded);
	return __atomic_load_n(&cprof_trace_root_v1.events, __ATOMIC_ACQUIRE);
}

/* Takes a slot and says that it is not complete. NULL without memory. */
CPROF_TRACE_RACES_ CPROF_TRACE_INLINE_ cprof_trace_event *cprof_trace_reserve_(uint64_t *index)
{
	cprof_trace_event *ring = __atomic_load_n(&cprof_trace_root_v1.events, __ATOMIC_ACQUIRE);
	cprof_trace_event *slot;

	if (__builtin_expect(!ring, 0)) {
		ring = cprof_trace_first_use_();
		if (!ring)
			return CPROF_TRACE_NULL_;
	}
	*index = __atomic_fetch_add(&cprof_trace_root_v1.head, 1, __ATOMIC_RELAXED);
	slot = &ring[*index & (cprof_trace_root_v1.capacity - 1)];
	__atomic_store_n(&slot->sequence, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	return slot;
}

CPROF_TRACE_RACES_ CPROF_TRACE_INLINE_ void cprof_trace_complete_(cprof_trace_event *slot,
								  uint64_t index)
{
	__atomic_store_n(&slot->sequence, index + 1, __ATOMIC_RELEASE);
}

/* What cprof_trace_begin() and its like call while recording is on. */
CPROF_TRACE_RACES_ CPROF_TRACE_SLOW_ uint64_t cprof_trace_record(uint32_t type, uint64_t id,
								 const char *name,
								 const char *category,
								 const char *object, int64_t value)
{
	uint32_t tid = cprof_trace_thread_();
	uint64_t index;
	cprof_trace_event *slot = cprof_trace_reserve_(&index);

	if (!slot)
		return 0;
	if (type == CPROF_TRACE_EVENT_BEGIN || type == CPROF_TRACE_EVENT_START)
		id = __atomic_add_fetch(&cprof_trace_root_v1.next_id, 1, __ATOMIC_RELAXED);
	slot->type = type;
	slot->thread_id = tid;
	slot->timestamp = cprof_trace_now_();
	slot->u.span.id = id;
	slot->u.span.category = category;
	slot->u.span.name = name;
	slot->u.span.object = object;
	slot->u.span.value = value;
	cprof_trace_complete_(slot, index);
	return id;
}

CPROF_TRACE_RACES_ CPROF_TRACE_SLOW_ void cprof_trace_record_fiber_switch(uint32_t from_fiber,
									  uint32_t to_fiber)
{
	uint32_t tid = cprof_trace_thread_();
	uint64_t index;
	cprof_trace_event *slot = cprof_trace_reserve_(&index);

	if (!slot)
		return;
	slot->type = CPROF_TRACE_EVENT_FIBER_SWITCH;
	slot->thread_id = tid;
	slot->timestamp = cprof_trace_now_();
	slot->u.fiber.from_fiber = from_fiber;
	slot->u.fiber.to_fiber = to_fiber;
	slot->u.fiber.reserved[0] = slot->u.fiber.reserved[1] = 0;
	slot->u.fiber.reserved[2] = slot->u.fiber.reserved[3] = 0;
	cprof_trace_complete_(slot, index);
}

CPROF_TRACE_RACES_ CPROF_TRACE_SLOW_ void cprof_trace_submit(const cprof_trace_event *events,
							     uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count && cprof_trace_enabled(); i++) {
		cprof_trace_event *slot;
		uint64_t index;

		(void)cprof_trace_thread_();
		slot = cprof_trace_reserve_(&index);
		if (!slot)
			return;
		slot->type = events[i].type;
		slot->thread_id = events[i].thread_id;
		slot->timestamp = events[i].timestamp;
		slot->u = events[i].u;
		cprof_trace_complete_(slot, index);
	}
}

/* The oldest index that is still there. */
CPROF_TRACE_INLINE_ uint64_t cprof_trace_oldest_(uint64_t head)
{
	uint64_t capacity = cprof_trace_root_v1.capacity, first = cprof_trace_root_v1.first;
	uint64_t oldest = head > capacity ? head - capacity : 0;

	return oldest < first ? first : oldest;
}

CPROF_TRACE_RACES_ CPROF_TRACE_SLOW_ void cprof_trace_copy(cprof_trace_event *dest, uint64_t start,
							   uint32_t count, uint64_t *actual_start,
							   uint32_t *actual_count)
{
	cprof_trace_root *root = &cprof_trace_root_v1;
	const cprof_trace_event *ring = __atomic_load_n(&root->events, __ATOMIC_ACQUIRE);
	uint64_t head = __atomic_load_n(&root->head, __ATOMIC_ACQUIRE);
	uint64_t mask = root->capacity - 1, first = start;
	uint32_t n = 0;

	if (ring && first < cprof_trace_oldest_(head))
		first = cprof_trace_oldest_(head);
	while (ring && n < count && first + n < head) {
		uint64_t i = first + n;
		const cprof_trace_event *slot = &ring[i & mask];

		if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) != i + 1) {
			head = __atomic_load_n(&root->head, __ATOMIC_ACQUIRE);
			if (head <= i + mask + 1)
				break; /* not complete yet */
			first = cprof_trace_oldest_(head); /* overtaken: what is left */
			n = 0;
			continue;
		}
		dest[n] = *slot;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&slot->sequence, __ATOMIC_RELAXED) == i + 1)
			n++; /* else overwritten meanwhile: look again */
	}
	*actual_start = first;
	*actual_count = n;
}

CPROF_TRACE_SLOW_ cprof_trace_buffer cprof_trace_get_buffer(void)
{
	cprof_trace_root *root = &cprof_trace_root_v1;
	cprof_trace_buffer b = { 0, { 0, 0 }, { CPROF_TRACE_NULL_, CPROF_TRACE_NULL_ }, { 0, 0 } };
	const cprof_trace_event *ring = __atomic_load_n(&root->events, __ATOMIC_ACQUIRE);
	uint64_t capacity = root->capacity, offset, total, before;

	b.total_recorded = __atomic_load_n(&root->head, __ATOMIC_ACQUIRE);
	if (!ring || capacity == 0)
		return b;
	b.start[0] = cprof_trace_oldest_(b.total_recorded);
	offset = b.start[0] & (capacity - 1);
	total = b.total_recorded - b.start[0];
	before = total < capacity - offset ? total : capacity - offset;
	b.events[0] = ring + offset;
	b.count[0] = CPROF_TRACE_CAST_(uint32_t, before);
	b.start[1] = b.start[0] + before;
	b.events[1] = ring;
	b.count[1] = CPROF_TRACE_CAST_(uint32_t, total - before);
	return b;
}

#ifdef __cplusplus
}
#endif
#endif
