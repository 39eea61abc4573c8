/* SPDX-License-Identifier: MIT */
#include "link/records.h"

#include <string.h>

#include "link/records_plain.h"

void cp_records_create_at(void *memory, unsigned log, uint16_t turn)
{
	struct cp_detour_ring *ring = memory;

	ring->begin = (uint64_t)turn << log;
	ring->head = ring->begin;
	ring->limit = 0;
	ring->own_low = 0;
	ring->own_end = UINT64_MAX;
	ring->left = -1; /* who is at a closed one asks for its own */
}

void cp_records_create(void *memory, unsigned log)
{
	cp_records_create_at(memory, log, 1);
}

/* The program may have written there. */
static uint64_t begin_of(const struct cp_detour_ring *ring, unsigned log)
{
	uint64_t turn = ring->begin >> log;

	return (turn && turn <= UINT16_MAX ? turn : 1) << log;
}

static void set_limit(struct cp_records *r)
{
	uint64_t limit = r->released + (UINT64_C(1) << r->log) - CP_DETOUR_RESERVE;

	__atomic_store_n(&r->ring->limit, limit, __ATOMIC_RELEASE);
}

/* What an earlier reader left could look like a record of this turn or the next. */
static void forget_all(const struct cp_records *r)
{
	struct cp_detour_head *units = cp_records_head(r, 0);
	uint16_t tag = (uint16_t)(cp_records_tag(r, r->position) - 1);
	size_t i;

	for (i = 0; i < (UINT64_C(1) << r->log) / CP_DETOUR_UNIT; i++)
		units[i].stamp = tag;
}

void cp_records_open(struct cp_records *records, void *memory, unsigned log)
{
	struct cp_detour_ring *ring = memory;

	*records = (struct cp_records){ .ring = ring,
					.log = log,
					.position = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE),
					.released = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE),
					.lost = __atomic_load_n(&ring->lost, __ATOMIC_RELAXED) };
	if (records->position != begin_of(ring, log))
		forget_all(records);
	set_limit(records);
}

void cp_records_follow(struct cp_records *records, void *memory, unsigned log)
{
	const uint64_t begin = begin_of(memory, log);

	*records = (struct cp_records){
		.ring = memory, .log = log, .position = begin, .released = begin
	};
	cp_records_forget_stacks(records);
}

void cp_records_close(struct cp_records *records)
{
	__atomic_store_n(&records->ring->wait_until, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&records->ring->read_until, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&records->ring->limit, 0, __ATOMIC_RELEASE);
}

void cp_records_wait(struct cp_records *records, uint64_t until)
{
	__atomic_store_n(&records->ring->wait_until, until, __ATOMIC_RELAXED);
}

void cp_records_set_memory(struct cp_records *records, const struct cp_records_memory *memory)
{
	struct cp_detour_ring *ring = records->ring;

	ring->page_life = memory->page_life;
	ring->stack_low = memory->stack_low;
	ring->stack_end = memory->stack_end;
	ring->self = memory->self;
	memcpy(ring->known, memory->known, sizeof(ring->known));
	memset(ring->pages, 0, sizeof(ring->pages));
	__atomic_store_n(&ring->may_probe, memory->may_probe, __ATOMIC_RELEASE);
}

void cp_records_read(struct cp_records *records, uint64_t until)
{
	__atomic_store_n(&records->ring->read_until, until, __ATOMIC_RELAXED);
}

void cp_records_ask(void *memory, uint64_t until, uint64_t first_wait)
{
	struct cp_detour_ring *ring = memory;

	__atomic_store_n(&ring->first_wait, first_wait, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->asks, until != 0, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->wait_until, until, __ATOMIC_RELEASE);
}

/* ---- other stacks ---- */

static struct cp_detour_part *part_at(const struct cp_records *r, uint64_t address)
{
	uint8_t *stacks = (uint8_t *)r->ring + cp_detour_stacks_offset(r->log);

	return (struct cp_detour_part *)(void *)stacks + cp_detour_stack_slot(address);
}

/* Behind what the table has room for. */
static uint64_t end_of_table(uint64_t low)
{
	return (low & ~(uint64_t)(CP_DETOUR_PART - 1)) + CP_DETOUR_STACKS * CP_DETOUR_PART;
}

void cp_records_know_stack(struct cp_records *r, uint64_t low, uint64_t end, uint64_t top)
{
	uint64_t most = end_of_table(low), next;
	struct cp_detour_part *part;

	__atomic_store_n(&r->ring->others, CP_DETOUR_OTHERS_KNOWN, __ATOMIC_RELAXED);
	for (end = end < most ? end : most; low < end; low = next) {
		next = (low | (CP_DETOUR_PART - 1)) + 1;
		next = next < end ? next : end;
		part = part_at(r, low);
		__atomic_store_n(&part->end, top, __ATOMIC_RELAXED);
		__atomic_store_n(&part->at, low | (next - low) << CP_DETOUR_PART_BITS,
				 __ATOMIC_RELEASE);
	}
}

void cp_records_forget_stack(struct cp_records *r, uint64_t low, uint64_t end)
{
	const uint64_t address = (UINT64_C(1) << CP_DETOUR_PART_BITS) - 1;
	uint64_t at, most = end_of_table(low);

	end = end < most ? end : most;
	for (at = low & ~(uint64_t)(CP_DETOUR_PART - 1); at < end; at += CP_DETOUR_PART) {
		uint64_t *part = &part_at(r, at)->at;
		uint64_t begin = __atomic_load_n(part, __ATOMIC_RELAXED) & address;

		if (begin >= low && begin < end)
			__atomic_store_n(part, 0, __ATOMIC_RELAXED);
	}
}

void cp_records_forget_stacks(struct cp_records *r)
{
	size_t i;

	if (__atomic_load_n(&r->ring->others, __ATOMIC_RELAXED) != CP_DETOUR_OTHERS_KNOWN)
		return;
	for (i = 0; i < CP_DETOUR_STACKS; i++)
		__atomic_store_n(&part_at(r, i << CP_DETOUR_PART_LOG)->at, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&r->ring->others, CP_DETOUR_OTHERS_UNTRIED, __ATOMIC_RELAXED);
}

void cp_records_know_none(struct cp_records *r)
{
	if (__atomic_load_n(&r->ring->others, __ATOMIC_RELAXED) == CP_DETOUR_OTHERS_UNTRIED)
		__atomic_store_n(&r->ring->others, CP_DETOUR_OTHERS_NONE, __ATOMIC_RELAXED);
}

static const struct cp_detour_long *long_at(const struct cp_records *r, uint64_t position)
{
	return (const void *)(cp_records_head(r, position) + 1);
}

/* Units of a record that is there. 0: it says what can't be; the program may have written
 * there. */
static inline size_t units_at(const struct cp_records *r, uint64_t position)
{
	size_t units = cp_records_head(r, position)->what >> CP_DETOUR_SITE_BITS;

	if (units)
		return units;
	units = __atomic_load_n(&long_at(r, position)->units, __ATOMIC_RELAXED);
	return units >= 2 && units <= CP_DETOUR_RECORD_MAX / CP_DETOUR_UNIT ? units : 0;
}

/* The record at a position is there; its length in bytes, 0: it is not, or can't be. */
static inline size_t committed(struct cp_records *r, uint64_t position, uint64_t *stamp_ret)
{
	if (!cp_records_reserved(r, position) || !cp_records_written(r, position, stamp_ret))
		return 0;
	return units_at(r, position) * CP_DETOUR_UNIT;
}

static inline bool is_cancelled(struct cp_records *r, uint64_t next)
{
	uint64_t stamp;

	return committed(r, next, &stamp) &&
	       (cp_records_head(r, next)->what & CP_RECORDS_SITE_MASK) == CP_DETOUR_CANCEL;
}

/* Of a LOST record at `position`. As long as it is the last thing that happened, more
 * are lost in its place; else it says how many were by then. */
static uint64_t newly_lost(struct cp_records *r, uint64_t position)
{
	uint64_t after = position + CP_DETOUR_UNIT;
	uint64_t total = __atomic_load_n(&r->ring->lost, __ATOMIC_RELAXED);
	uint64_t since = (uint32_t)(cp_records_head(r, position)->sp - (uint32_t)r->lost);

	if (__atomic_load_n(&r->ring->lost_head, __ATOMIC_RELAXED) == after &&
	    total - r->lost > since)
		since = total - r->lost;
	r->lost += since;
	return since;
}

/* What a record of `size` bytes has behind its head. */
static inline void take_values(const struct cp_records *r, uint64_t position, size_t size,
			       struct cp_record *ret)
{
	const struct cp_detour_head *head = cp_records_head(r, position);
	size_t before = sizeof(*head), stack = 0, up;

	if (!(head->what >> CP_DETOUR_SITE_BITS)) {
		before += sizeof(struct cp_detour_long);
		stack = __atomic_load_n(&long_at(r, position)->stack, __ATOMIC_RELAXED);
	}
	up = (stack + CP_DETOUR_UNIT - 1) / CP_DETOUR_UNIT * CP_DETOUR_UNIT;
	if (up > size - before)
		stack = up = 0;
	ret->values = (const void *)((const uint8_t *)head + before);
	ret->value_words = (unsigned)((size - before - up) / 8);
	ret->stack = (const uint8_t *)head + size - up;
	ret->stack_size = (uint32_t)stack;
}

bool cp_records_next(struct cp_records *records, uint64_t now, struct cp_record *ret)
{
	const struct cp_detour_head *head;
	uint64_t stamp = 0;
	uint32_t site;
	size_t size;

	for (;;) {
		size = committed(records, records->position, &stamp);
		if (!size)
			return false;
		head = cp_records_head(records, records->position);
		site = head->what & CP_RECORDS_SITE_MASK;
		*ret = (struct cp_record){ .site = site,
					   .time = cp_records_time(stamp, now),
					   .sp = (uint64_t)head->sp << 3 };
		take_values(records, records->position, size, ret);
		if (site == CP_DETOUR_LOST)
			ret->lost = newly_lost(records, records->position);
		ret->kind = site == CP_DETOUR_LOST				  ? CP_RECORD_LOST
			    : site == CP_DETOUR_CANCEL || site == CP_DETOUR_AGAIN ? CP_RECORD_CANCEL
										  : CP_RECORD_SITE;
		records->position += size;
		if (site == CP_DETOUR_VOID)
			continue;
		if (ret->kind == CP_RECORD_SITE && is_cancelled(records, records->position)) {
			records->position += CP_DETOUR_UNIT;
			continue;
		}
		return true;
	}
}

/* Units behind the first could hold what looks like a record of the next turn. Few do: what
 * is not written stays in the caches of who writes there next. */
static size_t forget(const struct cp_records *r, uint64_t position)
{
	struct cp_detour_head *head = cp_records_head(r, position);
	const uint16_t tag = cp_records_tag(r, position), next = (uint16_t)(tag + 1);
	size_t units = units_at(r, position), i;

	for (i = 1; i < units; i++)
		if ((uint16_t)head[i].stamp == next)
			head[i].stamp = tag;
	return units * CP_DETOUR_UNIT;
}

uint64_t cp_records_lost(const struct cp_records *records)
{
	return __atomic_load_n(&records->ring->lost, __ATOMIC_RELAXED);
}

uint64_t cp_records_untold(const struct cp_records *records)
{
	return cp_records_lost(records) - records->lost;
}

/* The limit is in a line of the caches that the program reads for each record: it is
 * moved when it is worth it. Where pieces are seen, by half of the ring when they are: at the
 * ends of a piece calls lack what belongs to them, so they are to be few. */
static uint64_t worth(const struct cp_records *r)
{
	uint64_t size = UINT64_C(1) << r->log, half = (size - 2 * (uint64_t)CP_DETOUR_RESERVE) / 2;

	return r->in_pieces && half > size / 16 && cp_records_untold(r) ? half : size / 16;
}

void cp_records_release(struct cp_records *records)
{
	uint64_t all = UINT64_C(1) << records->log;
	uint64_t clean = records->clean < records->position ? records->clean : records->position;
	size_t size = 1;

	if (records->released < clean)
		records->released = clean;
	while (size && records->released < records->position) {
		size = forget(records, records->released);
		records->released += size;
	}
	if (records->ring->limit &&
	    records->released + all - CP_DETOUR_RESERVE >= records->ring->limit + worth(records))
		set_limit(records);
}
