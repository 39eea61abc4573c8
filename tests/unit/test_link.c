/* SPDX-License-Identifier: MIT
 *
 * The memory of the link: how much of it a start takes, and that more is there before
 * the tracer comes to it. And that nobody is woken for an empty ring.
 */
#include "test.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "link/link.h"

/* Bytes of the ring that are in memory. */
static uint64_t present(const struct cp_link *link)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = CP_LINK_RING / page, i;
	unsigned char *there = calloc(pages, 1);
	uint64_t bytes = 0;

	CHECK(there && !mincore(link->ring, CP_LINK_RING, there));
	for (i = 0; there && i < pages; i++)
		bytes += there[i] & 1 ? page : 0;
	free(there);
	return bytes;
}

/* Makes an event and has it read. */
static void pass(struct cp_link *link, uint32_t size)
{
	struct cp_event *event = cp_ring_reserve(link, size, 0);
	bool bad = false;

	CHECK(event);
	if (!event)
		return;
	*event = (struct cp_event){ .size = size, .type = CP_EVENT_PROCESS };
	cp_ring_commit(link, event);
	CHECK(cp_ring_peek(link, &bad) == event && !bad);
	cp_ring_release(link, event);
}

static void test_populate(struct cp_link *link)
{
	const uint32_t size = 64 << 10;
	uint64_t before, at;

	CHECK_U64(present(link), 0);
	cp_link_populate(link);
	before = present(link);
	CHECK(before >= UINT64_C(32) << 10 && before <= UINT64_C(256) << 10);
	cp_link_populate(link);
	CHECK_U64(present(link), before);
	/* Once around and on: there is always more than the tracer has come to. */
	for (at = 0; at < CP_LINK_RING + (UINT64_C(4) << 20); at += size) {
		before = present(link);
		CHECK(!at || before == CP_LINK_RING || before >= at + (UINT64_C(512) << 10));
		pass(link, size);
		cp_link_populate(link);
	}
	CHECK_U64(present(link), CP_LINK_RING);
}

static bool is_kicked(const struct cp_link *link)
{
	struct pollfd fd = { .fd = link->kick, .events = POLLIN };
	uint64_t count;

	return poll(&fd, 1, 0) == 1 && read(link->kick, &count, sizeof(count)) == sizeof(count);
}

static void test_kick(struct cp_link *link)
{
	struct cp_event *event;
	bool bad;

	/* Hits of coverage make no events. */
	link->shared->asleep = 1;
	cp_ring_kick(link, false);
	CHECK(!is_kicked(link) && link->shared->asleep);
	cp_ring_kick(link, true);
	CHECK(is_kicked(link));
	event = cp_ring_reserve(link, sizeof(*event), 0);
	*event = (struct cp_event){ .size = sizeof(*event), .type = CP_EVENT_PROCESS };
	cp_ring_commit(link, event);
	cp_ring_kick(link, false);
	CHECK(!is_kicked(link));
	link->shared->asleep = 1;
	cp_ring_kick(link, false);
	CHECK(is_kicked(link) && !link->shared->asleep);
	cp_ring_kick(link, false);
	CHECK(!is_kicked(link));
	cp_ring_release(link, cp_ring_peek(link, &bad));
}

int main(void)
{
	struct cp_link link;
	struct cp_error *err = cp_link_create(&link);

	CHECK_OK(err);
	if (!err)
		test_populate(&link);
	if (!err)
		test_kick(&link);
	cp_link_deinit(&link);
	TEST_MAIN_END;
}
