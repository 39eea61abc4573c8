/* SPDX-License-Identifier: MIT
 *
 * Reading rings of records, which are written here as the code of detours does it.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "arch/detour.h"
#include "link/records_plain.h"

#define LOG CP_DETOUR_LOG_MIN
#define BYTES (UINT64_C(1) << LOG)
#define NOW (UINT64_C(5) << 48) /* more than a stamp holds */

static struct cp_detour_ring *ring;
static struct cp_records reader;

static struct cp_detour_head *reserve(unsigned units, uint64_t *position_ret)
{
	*position_ret = ring->head;
	ring->head += (uint64_t)units * CP_DETOUR_UNIT;
	return (void *)((uint8_t *)ring + CP_DETOUR_BUFFER + *position_ret % BYTES);
}

static void commit(struct cp_detour_head *head, uint64_t position, uint64_t time)
{
	head->stamp = time << 16 | (uint16_t)(position >> LOG);
}

/* False: no room. */
static bool write_record(uint32_t site, uint64_t time, const uint64_t *values, unsigned count)
{
	unsigned units = 1 + (count + 1) / 2;
	struct cp_detour_head *head;
	uint64_t position;

	if (ring->head >= ring->limit)
		return false;
	head = reserve(units, &position);
	head->what = cp_detour_what(site, units);
	head->sp = 0x1000 >> 3;
	if (count)
		memcpy(head + 1, values, count * sizeof(*values));
	commit(head, position, time);
	return true;
}

static void begin(void)
{
	free(ring);
	ring = calloc(1, cp_detour_ring_size(LOG));
	CHECK(ring);
	cp_records_create(ring, LOG);
	CHECK(!write_record(1, 1, NULL, 0)); /* closed */
	cp_records_open(&reader, ring, LOG);
}

static void test_order(void)
{
	const uint64_t values[3] = { 7, 8, 9 };
	struct cp_record r;

	begin();
	CHECK(!cp_records_next(&reader, NOW, &r));
	CHECK(write_record(1, NOW - 100, NULL, 0));
	CHECK(write_record(2, NOW + 50, values, 3));
	CHECK(cp_records_next(&reader, NOW, &r));
	CHECK(r.kind == CP_RECORD_SITE && r.site == 1 && r.value_words == 0);
	CHECK_U64(r.time, NOW - 100);
	CHECK_U64(r.sp, 0x1000);
	CHECK(cp_records_next(&reader, NOW, &r));
	CHECK(r.site == 2 && r.value_words == 4 && !memcmp(r.values, values, sizeof(values)));
	CHECK_U64(r.time, NOW + 50);
	CHECK(!cp_records_next(&reader, NOW, &r));
}

/* What was reserved is waited for, and what is behind it, too. */
static void test_in_between(void)
{
	struct cp_detour_head *first;
	struct cp_record r;
	uint64_t position;

	begin();
	first = reserve(2, &position);
	CHECK(write_record(2, NOW, NULL, 0));
	CHECK(!cp_records_next(&reader, NOW, &r));
	first->what = cp_detour_what(1, 2);
	commit(first, position, NOW);
	CHECK(cp_records_next(&reader, NOW, &r) && r.site == 1);
	CHECK(cp_records_next(&reader, NOW, &r) && r.site == 2);
}

/* What a killed cprof's code was at in another ring, and ends in this one, is no record of it,
 * and what comes there later is. */
static void test_of_another(void)
{
	struct cp_detour_head *head;
	struct cp_record r;
	uint64_t position;
	uint32_t i;

	begin();
	for (i = 0; i < 5; i++)
		CHECK(write_record(1, NOW, NULL, 0));
	reserve(1, &position); /* a signal comes, and then another cprof */

	free(ring);
	ring = calloc(1, cp_detour_ring_size(LOG));
	CHECK(ring);
	cp_records_create_at(ring, LOG, 7);
	cp_records_open(&reader, ring, LOG);
	cp_records_follow(&reader, ring, LOG);
	for (i = 0; i < 3; i++)
		CHECK(write_record(100 + i, NOW, NULL, 0));
	head = (void *)((uint8_t *)ring + CP_DETOUR_BUFFER + position % BYTES);
	head->what = cp_detour_what(1, 1);
	commit(head, position, NOW); /* its handler has returned */
	for (i = 3; i < 5; i++)
		CHECK(write_record(100 + i, NOW, NULL, 0));
	head = reserve(1, &position); /* where the other one is */
	for (i = 0; i < 5; i++)
		CHECK(cp_records_next(&reader, NOW, &r) && r.site == 100 + i);
	CHECK(!cp_records_next(&reader, NOW, &r));
	head->what = cp_detour_what(105, 1);
	commit(head, position, NOW);
	CHECK(cp_records_next(&reader, NOW, &r) && r.site == 105);
	CHECK(!cp_records_next(&reader, NOW, &r));
}

static void test_taken_out(void)
{
	struct cp_detour_left left = { .stage = CP_DETOUR_RESERVED, .units = 3 };
	struct cp_record r;
	uint64_t position;

	begin();
	reserve(3, &position);
	left.tag = (uint16_t)(position >> LOG);
	left.index = (uint32_t)(position % BYTES);
	cp_detour_void(ring, &left);
	CHECK(write_record(1, NOW, NULL, 0));
	cp_detour_cancel(ring, LOG, NOW << 16);
	CHECK(write_record(1, NOW + 1, NULL, 0));
	CHECK(cp_records_next(&reader, NOW, &r) && r.kind == CP_RECORD_SITE);
	CHECK_U64(r.time, NOW + 1);
	/* It was given already when it was cancelled. */
	cp_detour_cancel(ring, LOG, NOW << 16);
	CHECK(cp_records_next(&reader, NOW, &r) && r.kind == CP_RECORD_CANCEL);
	CHECK(!cp_records_next(&reader, NOW, &r));
	/* Of what a stop told, the record before, not read by then, is none. */
	CHECK(write_record(1, NOW + 2, NULL, 0));
	cp_detour_come_again(ring, LOG, NOW << 16);
	CHECK(cp_records_next(&reader, NOW, &r) && r.kind == CP_RECORD_SITE);
	CHECK_U64(r.time, NOW + 2);
	CHECK(cp_records_next(&reader, NOW, &r) && r.kind == CP_RECORD_CANCEL);
	CHECK(!cp_records_next(&reader, NOW, &r));
}

/* Many turns with records of all sizes, read at once or when there is no room. */
static void test_turns(bool late)
{
	uint64_t values[9], written = 0, seen = 0, i, rounds;
	struct cp_record r;

	begin();
	for (rounds = 0; ring->head < BYTES * 20 && rounds < BYTES * 20; rounds++) {
		unsigned count = (unsigned)(written * 7 % 10);

		/* Each looks like a record of the next turn. */
		for (i = 0; i < count; i++)
			values[i] = written << 16 | (uint16_t)((ring->head >> LOG) + 1);
		if (write_record((uint32_t)written & 0xfffff, NOW + written, values, count)) {
			written++;
			if (late)
				continue;
		}
		for (; cp_records_next(&reader, NOW, &r); seen++) {
			CHECK_U64(r.site, seen & 0xfffff);
			CHECK_U64(r.time, NOW + seen);
			count = (unsigned)(seen * 7 % 10);
			CHECK_U64(r.value_words, (count + 1) / 2 * 2);
			CHECK(!count || r.values[count - 1] >> 16 == seen);
		}
		cp_records_release(&reader);
		CHECK(late || ring->head < ring->limit);
		/* Reserved and not written: what was there before is no record. */
		i = ring->head;
		ring->head += 4 * CP_DETOUR_UNIT;
		CHECK(!cp_records_next(&reader, NOW, &r));
		ring->head = i;
	}
	CHECK(ring->head >= BYTES * 20);
	CHECK(seen + (late ? BYTES / CP_DETOUR_UNIT : 1) > written);
}

/* Another reader, where one left much unread. */
static void test_another_reader(void)
{
	uint64_t values[2] = { (1 << 20) | 2, cp_detour_what(5, 1) }, i; /* a record of turn 2 */
	struct cp_record r;

	begin();
	while (write_record(1, NOW, values, 2))
		;
	cp_records_close(&reader);
	cp_records_open(&reader, ring, LOG);
	CHECK(!cp_records_next(&reader, NOW, &r));
	ring->head += BYTES / 2;
	for (i = 0; i < BYTES; i += CP_DETOUR_UNIT) {
		CHECK(!cp_records_next(&reader, NOW, &r));
		reader.position = ring->head - BYTES / 2 + i;
	}
}

/* A program may write anything there. */
static void test_nonsense(void)
{
	struct cp_record r;
	uint32_t x = 1;
	size_t i, k;

	begin();
	for (k = 0; k < 200; k++) {
		for (i = 0; i < BYTES / 4; i++) {
			x = x * 1664525 + 1013904223;
			((uint32_t *)(void *)((uint8_t *)ring + CP_DETOUR_BUFFER))[i] =
				x >> 13 & 1 ? x : x & 0xffff0001;
		}
		ring->head = k & 1 ? UINT64_MAX : reader.position + BYTES;
		ring->lost = (uint64_t)x << 20;
		for (i = 0; i < 1000 && cp_records_next(&reader, NOW, &r); i++)
			CHECK(r.value_words <= 124);
		cp_records_release(&reader);
	}
}

/* Losses that nothing in the ring tells of. */
static void test_untold(void)
{
	begin();
	ring->lost = 7;
	CHECK_U64(cp_records_untold(&reader), 7);
	reader.lost = 4; /* a LOST record told of them */
	CHECK_U64(cp_records_untold(&reader), 3);
	CHECK_U64(cp_records_lost(&reader), 7);
}

/* One that says its size behind its head: one that fits, or the program wrote there. */
static bool write_long(uint32_t units, uint32_t stack)
{
	struct cp_detour_head *head;
	uint64_t position;
	struct cp_record r;

	begin();
	head = reserve(units > 1 && units < 2000 ? units : 2, &position);
	head->what = cp_detour_what(3, 0);
	*(struct cp_detour_long *)(head + 1) = (struct cp_detour_long){ units, stack };
	commit(head, position, 1);
	CHECK(write_record(4, 1, NULL, 0));
	if (!cp_records_next(&reader, NOW, &r))
		return false;
	CHECK_U64(r.site, 3);
	CHECK(r.values == (const uint64_t *)(head + 1) + 1);
	CHECK(r.stack >= (const uint8_t *)r.values);
	CHECK(r.stack + r.stack_size <= (const uint8_t *)(head + units));
	CHECK_U64(r.stack_size, stack <= (units - 2) * 16 ? stack : 0);
	CHECK(cp_records_next(&reader, NOW, &r) && r.site == 4);
	cp_records_release(&reader);
	return reader.released == position + (units + 1) * CP_DETOUR_UNIT;
}

/* As blocks are read: up to the first that is not plain or may be cancelled. */
static size_t peek(struct cp_records *copy, struct cp_record_plain *ret, size_t most)
{
	enum cp_record_peeked what;
	uint64_t position;
	size_t n = 0;

	*copy = cp_records_copy(&reader);
	for (position = copy->position; n < most; position = ret[n++].end) {
		what = cp_records_peek(copy, position, NOW, &ret[n]);
		if (what != CP_PEEKED_PLAIN)
			return n - (what == CP_PEEKED_CANCEL && n);
	}
	return n;
}

/* What was reserved and not needed is given back, and holds what the program likes: whoever
 * saw the ring's head before must not take it for a record. */
static void test_given_back(void)
{
	struct cp_detour_head *head;
	struct cp_record_plain p;
	struct cp_records copy;
	struct cp_record r;
	uint64_t position;

	begin();
	head = reserve(3, &position);
	CHECK(!cp_records_next(&reader, NOW, &r));
	head->what = cp_detour_what(1, 1);
	commit(head, position, NOW);
	head[1].what = cp_detour_what(2, 1);
	commit(&head[1], position, NOW); /* a value that looks like it */
	ring->head -= (uint64_t)2 * CP_DETOUR_UNIT;
	CHECK_U64(peek(&copy, &p, 1), 1);
	CHECK(cp_records_next(&reader, NOW, &r) && r.site == 1);
	CHECK_U64(peek(&copy, &p, 1), 0);
	CHECK(!cp_records_next(&reader, NOW, &r));
}

/* Of records of all kinds, those that are plain are the same to who peeks. */
static void test_peek(void)
{
	const uint64_t values[3] = { 77, 8, 9 };
	struct cp_record_plain p[9];
	struct cp_records copy;
	struct cp_record r;
	size_t i;

	begin();
	CHECK_U64(peek(&copy, p, 9), 0);
	CHECK(write_record(1, NOW - 5, NULL, 0) && write_record(2, NOW + 5, values, 1));
	CHECK(write_record(3, NOW, NULL, 0) && write_record(4, NOW, NULL, 0));
	cp_detour_cancel(ring, LOG, NOW << 16); /* the last one */
	CHECK(write_record(5, NOW, values, 3));
	CHECK(write_record(CP_DETOUR_LOST, NOW, NULL, 0) && write_record(6, NOW, NULL, 0));
	CHECK_U64(peek(&copy, p, 2), 2);
	CHECK_U64(peek(&copy, p, 9), 3);
	for (i = 0; i < 3; i++) {
		CHECK(cp_records_next(&reader, NOW, &r) && r.kind == CP_RECORD_SITE);
		CHECK(r.site == p[i].site && r.time == p[i].time && r.sp == p[i].sp);
		CHECK(p[i].values == r.values && p[i].words == r.value_words);
		CHECK_U64(reader.position, p[i].end);
	}
	CHECK_U64(peek(&copy, p, 9), 0);
	CHECK(cp_records_next(&reader, NOW, &r) && r.site == 5);
	CHECK_U64(peek(&copy, p, 9), 0);
	CHECK(cp_records_next(&reader, NOW, &r) && r.kind == CP_RECORD_LOST);
	CHECK_U64(peek(&copy, p, 9), 1);
	CHECK(write_record(7, NOW, values, 3) && peek(&copy, p, 9) == 2);
	CHECK(p[1].site == 7 && p[1].words == 4 && p[1].values[2] == 9);
	CHECK(cp_records_next(&reader, NOW, &r) && cp_records_next(&reader, NOW, &r));
	CHECK(p[0].site == 6 && !cp_records_next(&reader, NOW, &r));
}

/* What was peeked at, and could be taken for a record of the next turn, is forgotten, of one
 * record among others as of one that was passed over. */
static void test_peeked_is_forgotten(bool partly)
{
	const uint16_t next = 2; /* the tag of the next turn */
	const uint64_t harmless[3] = { 7, 8, 9 }, alike[3] = { 7, 8, 0xabc0000 | next };
	const volatile uint64_t *value;
	struct cp_record_plain p[9];
	struct cp_records copy;
	struct cp_record r;

	begin();
	CHECK(write_record(1, NOW, harmless, 3) && write_record(2, NOW, alike, 3));
	CHECK(write_record(3, NOW, alike, 3) && write_record(4, NOW, harmless, 3));
	CHECK_U64(reader.position >> LOG, 1);
	CHECK_U64(peek(&copy, p, 9), 4);
	value = &p[1].values[2];
	CHECK_U64(*value, alike[2]);
	cp_records_pass(&reader, &copy, p[partly].end);
	cp_records_release(&reader);
	CHECK_U64((uint16_t)*value, partly ? 1 : next);
	CHECK_U64(peek(&copy, p, 9), partly ? 2 : 3);
	while (cp_records_next(&reader, NOW, &r))
		value = &r.values[2];
	CHECK_U64(r.site, 4);
	cp_records_release(&reader);
	CHECK_U64(reader.released, reader.position);
	CHECK_U64((uint16_t)p[0].values[2], 1);
}

static void test_long(void)
{
	const struct cp_detour_left left = { .units = 1000, .tag = 1 };
	uint64_t position;
	struct cp_record r;

	CHECK(write_long(2, 0) && write_long(3, 16) && write_long(3, 7));
	CHECK(write_long(CP_DETOUR_RECORD_MAX / CP_DETOUR_UNIT, CP_DETOUR_STACK_MAX));
	CHECK(write_long(3, 17) && write_long(64, UINT32_MAX));
	CHECK(!write_long(0, 0) && !write_long(1, 0) && !write_long(UINT32_MAX, 0));
	CHECK(!write_long(CP_DETOUR_RECORD_MAX / CP_DETOUR_UNIT + 1, 0));
	/* A thread was taken out of one. */
	begin();
	reserve(1000, &position);
	CHECK(write_record(5, 1, NULL, 0));
	cp_detour_void(ring, &left);
	CHECK(cp_records_next(&reader, NOW, &r) && r.site == 5);
	CHECK(!cp_records_next(&reader, NOW, &r));
}

static bool is_part(uint64_t sp)
{
	const struct cp_detour_part *parts =
		(const void *)((const uint8_t *)ring + cp_detour_stacks_offset(LOG));
	uint64_t part = parts[cp_detour_stack_slot(sp)].at;

	return sp - (part & ((UINT64_C(1) << CP_DETOUR_PART_BITS) - 1)) < part >>
	       CP_DETOUR_PART_BITS;
}

/* Every word of stacks that are known, and none beside them. */
static void test_stacks(void)
{
	const uint64_t top = UINT64_C(0x7f1234567ff8), far = CP_DETOUR_STACKS * CP_DETOUR_PART;
	uint64_t sp, low = top - 5000;

	begin();
	cp_records_know_stack(&reader, low, top, top);
	cp_records_know_stack(&reader, top + 0x8000, top + 0x8008, top);
	for (sp = low - 8000; sp < top + 8000; sp += 8)
		CHECK(is_part(sp) == (sp >= low && sp < top) && !is_part(sp + far));
	CHECK(is_part(top + 0x8000) && !is_part(top + 0x8008) && !is_part(top + 0x7ff8));
	cp_records_forget_stack(&reader, low, top);
	for (sp = low; sp < top; sp += 8)
		CHECK(!is_part(sp));
	CHECK(is_part(top + 0x8000));
	/* One that is larger than the table: what is nearest to its end is another one's. */
	cp_records_know_stack(&reader, low, low + 2 * far, top);
	CHECK(is_part(low) && is_part(low + far - CP_DETOUR_PART) && !is_part(low + far));
	cp_records_forget_stacks(&reader);
	CHECK(!is_part(low) && !is_part(top + 0x8000));
	CHECK_U64(reader.ring->others, CP_DETOUR_OTHERS_UNTRIED);
}

int main(void)
{
	test_stacks();
	test_long();
	test_order();
	test_given_back();
	test_peek();
	test_peeked_is_forgotten(false);
	test_peeked_is_forgotten(true);
	test_in_between();
	test_of_another();
	test_taken_out();
	test_turns(false);
	test_turns(true);
	test_another_reader();
	test_nonsense();
	test_untold();
	free(ring);
	TEST_MAIN_END;
}
