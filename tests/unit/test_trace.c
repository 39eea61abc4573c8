/* SPDX-License-Identifier: MIT
 *
 * cprof/trace.h as a program uses it, and the reader that looks at its ring
 * while writers race: nothing torn, and read + lost = recorded.
 */
#include <cprof/trace.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/trace_ring.h"
#include "test.h"

static cprof_trace_event got[16];
static uint64_t start;
static uint32_t count;

static void copy(uint64_t from)
{
	cprof_trace_copy(got, from, 16, &start, &count);
}

static void *finish_there(void *id)
{
	cprof_trace_finish(*(uint64_t *)id);
	return NULL;
}

static void test_set_up(void)
{
	static _Alignas(64) cprof_trace_event storage[8];

	CHECK_U64(cprof_trace_begin("off", "c", NULL), 0);
	cprof_trace_end(0);
	CHECK(!cprof_trace_root_v1.events && !cprof_trace_root_v1.head);
	CHECK(!cprof_trace_init(NULL, 1));
	CHECK(!cprof_trace_init((char *)storage + 8, 8));
	CHECK(cprof_trace_init(storage, 11));
	CHECK_U64(cprof_trace_root_v1.capacity, 8);
	CHECK(!cprof_trace_init(NULL, 64));
	cprof_trace_set_enabled(true);
}

static void test_spans(void)
{
	uint64_t id = cprof_trace_begin("a", "f", NULL), async;
	pthread_t t;

	CHECK_U64(id, 1);
	cprof_trace_end(id);
	copy(0);
	CHECK(start == 0 && count == 2 && got[0].timestamp <= got[1].timestamp);
	CHECK(got[0].type == CPROF_TRACE_EVENT_BEGIN && got[1].type == CPROF_TRACE_EVENT_END);
	CHECK(got[0].u.span.id == id && got[1].u.span.id == id);
	CHECK(got[0].thread_id == (uint32_t)getpid());
	async = cprof_trace_start("as", "n", "o");
	pthread_create(&t, NULL, finish_there, &async);
	pthread_join(t, NULL);
	copy(2);
	CHECK(count == 2 && got[0].u.span.id == got[1].u.span.id);
	CHECK(got[0].thread_id != got[1].thread_id);
	cprof_trace_fiber_switch(3, 4);
	copy(4);
	CHECK(count == 1 && got[0].u.fiber.from_fiber == 3 && got[0].u.fiber.to_fiber == 4);
}

static void test_wraparound(void)
{
	uint64_t head = cprof_trace_root_v1.head, i;
	cprof_trace_event gpu = { .type = CPROF_TRACE_EVENT_BEGIN,
				  .thread_id = 777,
				  .timestamp = 42 };
	cprof_trace_buffer b;

	for (i = 0; i < 20; i++)
		cprof_trace_instant("i", "f", NULL);
	head += 20;
	copy(0);
	CHECK(start == head - 8 && count == 8);
	copy(head - 2);
	CHECK(start == head - 2 && count == 2);
	copy(1000);
	CHECK(start == 1000 && count == 0);
	b = cprof_trace_get_buffer();
	CHECK(b.total_recorded == head && b.count[0] + b.count[1] == 8 && b.start[0] == head - 8);
	CHECK(b.start[1] == b.start[0] + b.count[0] && b.start[1] % 8 == 0);
	CHECK(b.events[0][0].sequence == b.start[0] + 1 &&
	      b.events[1][0].sequence == b.start[1] + 1);
	gpu.u.span.name = "gpu";
	cprof_trace_submit(&gpu, 1);
	copy(head);
	CHECK(count == 1 && got[0].thread_id == 777 && got[0].timestamp == 42);
}

static void test_strings(void)
{
	const char *first = cprof_trace_intern("str0"), *same;
	char text[32];
	int i, wrong = 0;

	CHECK(!cprof_trace_intern(NULL));
	for (i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "str%d", i % 10000);
		same = cprof_trace_intern(text);
		wrong += !same || same == text || strcmp(same, text) != 0 ||
			 same != cprof_trace_intern(text);
	}
	CHECK_U64(wrong, 0);
	CHECK(cprof_trace_intern("str0") == first && !strcmp(first, "str0"));
}

/* The child's own events begin behind its parent's. */
static void test_fork(void)
{
	uint64_t head = cprof_trace_root_v1.head;
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		bool parents = cprof_trace_root_v1.pid == getppid();

		cprof_trace_instant("child", "f", NULL);
		copy(0);
		_exit(parents && count == 1 && start == head && cprof_trace_root_v1.first == head &&
				      got[0].thread_id == (uint32_t)getpid() &&
				      cprof_trace_root_v1.pid == getpid() &&
				      cprof_trace_intern("str0") && cprof_trace_intern("new")
			      ? 0
			      : 1);
	}
	waitpid(child, &status, 0);
	CHECK_U64(status, 0);
	CHECK(cprof_trace_root_v1.head == head && cprof_trace_root_v1.pid == getpid());
}

static void test_shutdown(void)
{
	uint64_t head = cprof_trace_root_v1.head;

	cprof_trace_shutdown();
	CHECK(!cprof_trace_enabled() && !cprof_trace_root_v1.events);
	cprof_trace_set_enabled(true);
	cprof_trace_instant("again", "f", NULL);
	CHECK_U64(cprof_trace_root_v1.capacity, CPROF_TRACE_DEFAULT_CAPACITY);
	CHECK_U64(cprof_trace_root_v1.generation, 2);
	copy(0);
	CHECK(count == 1 && start == head);
	/* While cprof records, there is something to read for it yet. */
	cprof_trace_root_v1.enabled |= CPROF_TRACE_ENABLED_BY_CONTROLLER;
	cprof_trace_shutdown();
	CHECK(cprof_trace_root_v1.events && cprof_trace_enabled());
	CHECK(cprof_trace_init(NULL, 1024));
	cprof_trace_root_v1.enabled = CPROF_TRACE_ENABLED_BY_APP;
	cprof_trace_shutdown();
	CHECK(!cprof_trace_root_v1.events);
}

/* ---- the reader ---- */

#define WRITERS 3

static atomic_int writing;
static uint64_t per_writer, seen, torn;

static const char *pointer(uint64_t n)
{
	return (const char *)(uintptr_t)n;
}

static void *write_on(void *number)
{
	uint64_t k = (uint64_t)(uintptr_t)number << 40, end = k + per_writer;

	while (k++ < end)
		cprof_trace_record(CPROF_TRACE_EVENT_COUNTER, k, pointer(k * 3), pointer(k * 5),
				   pointer(k * 7), (int64_t)(k * 11));
	writing--;
	return NULL;
}

static bool take(void *ctx, const cprof_trace_event *e)
{
	uint64_t k = e->u.span.id;

	(void)ctx;
	seen++;
	torn += e->type != CPROF_TRACE_EVENT_COUNTER || e->u.span.name != pointer(k * 3) ||
		e->u.span.category != pointer(k * 5) || e->u.span.object != pointer(k * 7) ||
		e->u.span.value != (int64_t)(k * 11);
	return true;
}

static size_t read_self(void *ctx, uint64_t address, void *buffer, size_t size)
{
	ssize_t n = pread(*(int *)ctx, buffer, size, (off_t)address);

	return n > 0 ? (size_t)n : 0;
}

static void test_race(void)
{
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	const struct cp_reader reader = { read_self, &mem };
	uint64_t head = cprof_trace_root_v1.head;
	struct cp_trace_ring ring;
	enum cp_trace_ring_state state = CP_TRACE_RING_EMPTY;
	pthread_t threads[WRITERS];
	size_t i;

	per_writer = getenv("CPROF_TEST_LONG") ? 10000000 : 100000;
	cprof_trace_set_enabled(true);
	CHECK(cp_trace_ring_init(&ring, &reader, (uintptr_t)&cprof_trace_root_v1, false));
	CHECK(!cp_trace_ring_init(&ring, &reader, (uintptr_t)&mem, false));
	CHECK(cp_trace_ring_init(&ring, &reader, (uintptr_t)&cprof_trace_root_v1, false));
	writing = WRITERS;
	for (i = 0; i < WRITERS; i++)
		pthread_create(&threads[i], NULL, write_on, (void *)(uintptr_t)(i + 1));
	while (writing)
		state = cp_trace_ring_read(&ring, &reader, getpid(), false, take, NULL);
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	while (cp_trace_ring_read(&ring, &reader, getpid(), true, take, NULL) == CP_TRACE_RING_MORE)
		;
	CHECK(state != CP_TRACE_RING_BROKEN);
	CHECK_U64(torn, 0);
	CHECK(seen > 0);
	CHECK_U64(seen + ring.lost, cprof_trace_root_v1.head - head);
	CHECK_U64(cprof_trace_root_v1.head - head, WRITERS * per_writer);
	close(mem);
}

int main(void)
{
	test_set_up();
	test_spans();
	test_wraparound();
	test_strings();
	test_fork();
	test_shutdown();
	test_race();
	TEST_MAIN_END;
}
