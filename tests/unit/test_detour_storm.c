/* SPDX-License-Identifier: MIT
 *
 * Detours in threads that are interrupted: signals every few microseconds, whose
 * handlers meet detours themselves, look at the stack, or take the thread out; several
 * threads with one who reads; rings that are full; a fork.
 *
 *     test_detour_storm           the tests
 *     test_detour_storm cost      what a record costs, in ns
 */
#include "test.h"

#include "detour_ground.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#define ENTER 1
#define LEAVE 2
#define THREADS 4

static int entry_number, exit_number;
static __thread unsigned ring_number;

static unsigned stack_size; /* bytes of it that an exit copies */

static void patch_called(unsigned stack)
{
	struct cp_detour entry = ground_window((void *)detour_called, detour_called_exit);
	struct cp_detour exit = ground_window(detour_called_exit, detour_called_end);

	entry.records[entry.record_count++] = ground_record(ENTER, 0);
	exit.records[exit.record_count++] = ground_record(LEAVE, exit.size - 1);
	entry.records[0].values[0] = (struct cp_detour_value){ CP_DETOUR_GENERAL, 5, 0 };
	exit.records[0].values[0] = (struct cp_detour_value){ CP_DETOUR_GENERAL, 0, 0 };
	/* What the caller has on its stack. */
	entry.records[0].values[1] =
		(struct cp_detour_value){ CP_DETOUR_GENERAL, 7, .reach = CP_DETOUR_BYTES,
					  .size = 24 };
	entry.records[0].values[2] = entry.records[0].values[1];
	entry.records[0].values[2].reach = CP_DETOUR_STRING;
	entry.records[0].value_count = 3;
	exit.records[0].value_count = 1;
	exit.records[0].stack = (uint16_t)stack;
	stack_size = stack;
	entry_number = ground_make(&entry);
	exit_number = ground_make(&exit);
	CHECK(entry_number >= 0 && exit_number >= 0);
	ground_patch(entry_number);
	ground_patch(exit_number);
}

/* ---- what is read ---- */

/* Less than 64 KiB below all callers. */
static uint64_t text_near;

/* Calls of one thread: each leave belongs to the last open enter, and its result to
 * that one's argument. */
struct calls {
	struct {
		uint64_t sp, argument;
	} open[64];
	size_t depth;
	unsigned long entered, left, lost, cancelled, wrong, read, copied;
	uint64_t time;
};

static bool find_read(const struct cp_record *r, unsigned number, struct cp_detour_found *ret)
{
	const struct cp_detour_record *entry = &ground.made[entry_number].detour.records[0];

	*ret = (struct cp_detour_found){ 0 };
	return cp_detour_find(entry, number, r->values, r->value_words, ret) &&
	       ret->how != CP_DETOUR_READ_BAD;
}

static void take_call(struct calls *c, const struct cp_record *r)
{
	struct cp_detour_found bytes, string;

	if (r->kind == CP_RECORD_LOST) {
		c->lost += r->lost;
		c->depth = 0;
		return;
	}
	if (r->kind == CP_RECORD_CANCEL) {
		c->cancelled++;
		return;
	}
	if (r->site == ENTER) {
		c->entered++;
		c->wrong += !find_read(r, 1, &bytes) || !find_read(r, 2, &string);
		c->read += bytes.size == 24 && string.size == strnlen(bytes.bytes, 24) &&
			   !memcmp(bytes.bytes, string.bytes, string.size);
		c->wrong += c->depth == 64;
		c->open[c->depth % 64].sp = r->sp;
		c->open[c->depth % 64].argument = r->values[0];
		c->depth++;
		return;
	}
	c->left++;
	c->copied += r->stack_size == stack_size;
	/* It begins with the return address. */
	c->wrong += r->stack_size && *(const uint64_t *)(const void *)r->stack - text_near > 65536;
	if (c->depth) {
		uint64_t a = c->open[--c->depth % 64].argument;

		c->wrong += c->open[c->depth % 64].sp != r->sp;
		c->wrong += r->values[0] != 2 * (((a + 1 + 7) * a) ^ 0x55);
	} else if (!c->lost) {
		c->wrong++;
	}
}

static unsigned take_all(struct cp_records *reader, struct calls *c)
{
	struct cp_record record;
	unsigned count = 0;

	while (cp_records_next(reader, __rdtsc(), &record)) {
		take_call(c, &record);
		count++;
	}
	cp_records_release(reader);
	return count;
}

static void know_stack(struct cp_records *reader)
{
	struct cp_records_memory memory = { .may_probe = true, .self = (uintptr_t)reader->ring };
	pthread_attr_t attributes;
	size_t size = 0;
	void *low = NULL;

	CHECK(!pthread_getattr_np(pthread_self(), &attributes));
	CHECK(!pthread_attr_getstack(&attributes, &low, &size));
	pthread_attr_destroy(&attributes);
	memory.stack_low = (uintptr_t)low;
	memory.stack_end = (uintptr_t)low + size;
	cp_records_set_memory(reader, &memory);
}

/* ---- signals ---- */

enum { NESTED, TAKEN_OUT, BOTH };
static int what_handlers_do;
static volatile unsigned long signals_inside, handler_calls;
/* Calls of handlers that were read: signals may come back to back, and fill the ring. */
static volatile unsigned long handler_read;
enum { UNREAD_MAX = 50 };
static volatile bool wrong_result;

static void on_signal(int signal, siginfo_t *info, void *ucontext)
{
	ucontext_t *context = ucontext;
	uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	(void)info;
	if (ground_is_inside(pc)) {
		signals_inside++;
		if (what_handlers_do != NESTED &&
		    !ground_take_out(context, ground_ring(ring_number)))
			wrong_result = true;
	}
	if (what_handlers_do == TAKEN_OUT || handler_calls - handler_read >= UNREAD_MAX)
		return;
	handler_calls++;
	if (detour_called(handler_calls, 7) != detour_plain(handler_calls, 7))
		wrong_result = true;
}

static timer_t start_signals(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	struct itimerspec when = { { 0, 20000 }, { 0, 20000 } };
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
	static char stack[65536];
	timer_t timer;

	sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) }, NULL);
	sigaction(SIGPROF, &action, NULL);
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	CHECK(!timer_settime(timer, 0, &when, NULL));
	return timer;
}

/* Calls until enough signals found the thread in a detour. */
static void test_signals(int what, unsigned long signals)
{
	struct calls calls = { 0 };
	struct cp_records reader;
	unsigned long made = 0, round;
	timer_t timer;

	what_handlers_do = what;
	signals_inside = handler_calls = handler_read = 0;
	ring_number = 1;
	ground_use_ring(1);
	cp_records_open(&reader, ground_ring(1), GROUND_LOG);
	know_stack(&reader);
	cp_records_read(&reader, __rdtsc() + (UINT64_C(1) << 42));
	timer = start_signals();
	for (round = 0; round < 2000000 && signals_inside < signals; round++) {
		unsigned long i;

		for (i = 0; i < 100; i++, made++) {
			if (detour_called(made, 7) != detour_plain(made, 7))
				wrong_result = true;
		}
		i = handler_calls;
		take_all(&reader, &calls);
		handler_read = i;
	}
	timer_delete(timer);
	take_all(&reader, &calls);
	CHECK(signals_inside >= signals && !wrong_result);
	CHECK_U64(calls.lost, 0);
	CHECK_U64(calls.cancelled, 0);
	CHECK_U64(calls.wrong, 0);
	CHECK_U64(calls.entered, made + handler_calls);
	CHECK_U64(calls.read, calls.entered);
	/* Handlers have another stack. */
	CHECK_U64(calls.copied, made);
	CHECK_U64(calls.left, made + handler_calls);
	printf("%lu signals in detours, %lu calls\n", signals_inside, calls.left);
}

/* ---- threads ---- */

static struct cp_records readers[THREADS + 1];
static struct calls of_threads[THREADS + 1];
static atomic_uint finished;
static unsigned long calls_each;

static void *call_on(void *arg)
{
	char deep[CP_DETOUR_STACK_MAX];
	unsigned long i;

	ring_number = (unsigned)(uintptr_t)arg;
	__asm__ volatile("" ::"r"(deep) : "memory");
	know_stack(&readers[ring_number - 1]);
	ground_use_ring(ring_number);
	for (i = 0; i < calls_each; i++) {
		if (detour_called(i, 7) != detour_plain(i, 7))
			wrong_result = true;
	}
	atomic_fetch_add(&finished, 1);
	return NULL;
}

/* Who reads asks all to wait for it: nothing is lost, nobody waits for ever. */
static void test_threads(bool wait, unsigned long calls)
{
	pthread_t threads[THREADS];
	unsigned long lost = 0;
	uint64_t before[THREADS];
	unsigned i, count;

	memset(of_threads, 0, sizeof(of_threads));
	atomic_store(&finished, 0);
	calls_each = calls;
	for (i = 0; i < THREADS; i++) {
		cp_records_open(&readers[i], ground_ring(i + 1), GROUND_LOG);
		before[i] = cp_records_lost(&readers[i]);
		cp_records_wait(&readers[i], wait ? __rdtsc() + (UINT64_C(1) << 42) : 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_on, (void *)(uintptr_t)(i + 1));
	do {
		count = 0;
		for (i = 0; i < THREADS; i++)
			count += take_all(&readers[i], &of_threads[i]);
		if (!count)
			sched_yield();
	} while (count || atomic_load(&finished) < THREADS);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		take_all(&readers[i], &of_threads[i]);
		lost += of_threads[i].lost;
		CHECK_U64(of_threads[i].wrong, 0);
		CHECK_U64(of_threads[i].copied, of_threads[i].left);
		CHECK_U64(of_threads[i].entered + of_threads[i].left +
				  (cp_records_lost(&readers[i]) - before[i]),
			  2 * calls_each);
		CHECK(of_threads[i].lost <= cp_records_lost(&readers[i]) - before[i]);
		CHECK(!of_threads[i].lost == !(cp_records_lost(&readers[i]) - before[i]));
		cp_records_close(&readers[i]);
	}
	CHECK(!wrong_result && (!wait || !lost));
	printf("%u threads, %lu records lost\n", THREADS, lost);
}

/* ---- nobody reads ---- */

static void test_nobody(void)
{
	struct cp_detour_ring *ring = ground_ring(5);
	struct calls calls = { 0 };
	struct cp_records reader;
	uint64_t lost, i;
	pid_t child;
	int status;

	ground_use_ring(5);
	cp_records_open(&reader, ring, GROUND_LOG);
	for (i = 0; i < 100000; i++)
		CHECK(detour_called(i, 7) == detour_plain(i, 7));
	lost = ring->lost;
	CHECK(lost > 100000);
	/* A child writes nothing where its parent's is full, or closed. */
	child = fork();
	if (!child) {
		ground_use_ring(0);
		for (i = 0; i < 1000; i++)
			wrong_result |= detour_called(i, 7) != detour_plain(i, 7);
		_exit(wrong_result || ring->lost != lost ||
		      ((struct cp_detour_ring *)ground_ring(0))->lost != 2000);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
	take_all(&reader, &calls);
	CHECK_U64(calls.wrong, 0);
	CHECK_U64(calls.entered + calls.left + lost, 200000);
	/* And it goes on where there is room again. */
	for (i = 0; i < 10; i++)
		detour_called(i, 7);
	take_all(&reader, &calls);
	CHECK_U64(calls.lost, lost);
	CHECK_U64(calls.entered + calls.left + lost, 200020);
	cp_records_close(&reader);
	detour_called(1, 7);
	take_all(&reader, &calls);
	CHECK_U64(calls.entered + calls.left + lost, 200020);
}

/* ---- conditions ---- */

static void test_conditions(void)
{
	struct calls calls = { 0 };
	struct cp_records reader;
	uint64_t i;

	ground_unpatch(entry_number);
	ground_unpatch(exit_number);
	ground.made[entry_number].detour.records[0].when = CP_DETOUR_DECIDES;
	ground.made[entry_number].detour.records[0].tests[0] =
		(struct cp_detour_test){ .value = { CP_DETOUR_GENERAL, 5, 0 },
					 .op = CP_DETOUR_GT,
					 .size = 4,
					 .constant = 89999 };
	ground.made[entry_number].detour.records[0].test_count = 1;
	ground.made[exit_number].detour.records[0].when = CP_DETOUR_IF_DECIDED;
	entry_number = ground_make(&ground.made[entry_number].detour);
	exit_number = ground_make(&ground.made[exit_number].detour);
	CHECK(entry_number >= 0 && exit_number >= 0);
	ground_patch(entry_number);
	ground_patch(exit_number);
	ground_use_ring(6);
	cp_records_open(&reader, ground_ring(6), GROUND_LOG);
	for (i = 89000; i < 90100; i++)
		CHECK(detour_called(i | (i & 1) << 40, 7) == detour_plain(i | (i & 1) << 40, 7));
	take_all(&reader, &calls);
	CHECK_U64(calls.entered, 100);
	CHECK_U64(calls.left, 100);
	CHECK_U64(calls.wrong, 0);
	cp_records_close(&reader);
}

/* ---- cost ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* In ns for a call, best and median of 41 rounds. */
static void measure(const char *what, uint64_t (*fn)(uint64_t, uint64_t), uint64_t argument,
		    struct cp_records *reader, double base)
{
	double times[41], start;
	struct cp_record record;
	unsigned i, k;
	uint64_t sum = 0;

	for (i = 0; i < 41; i++) {
		start = now_ns();
		for (k = 0; k < 2000; k++)
			sum += fn(argument, sum);
		times[i] = (now_ns() - start) / 2000;
		while (cp_records_next(reader, __rdtsc(), &record))
			;
		cp_records_release(reader);
	}
	__asm__ volatile("" ::"r"(sum));
	qsort(times, 41, sizeof(times[0]), compare);
	printf("%-34s best %6.2f  median %6.2f  more than plain %6.2f\n", what, times[0], times[20],
	       times[0] - base);
}

static void add_general(struct cp_detour_record *r, unsigned count)
{
	static const uint8_t arguments[] = { 5, 4, 1, 2, 8, 9 };
	unsigned i;

	r->value_count = 0;
	for (i = 0; i < count; i++)
		r->values[r->value_count++] =
			(struct cp_detour_value){ CP_DETOUR_GENERAL, arguments[i], 0 };
}

static void make_again(struct cp_detour *entry, struct cp_detour *exit)
{
	ground_unpatch(entry_number);
	ground_unpatch(exit_number);
	entry_number = ground_make(entry);
	exit_number = ground_make(exit);
	ground_patch(entry_number);
	ground_patch(exit_number);
}

static int cost(void)
{
	struct cp_detour entry, exit;
	struct cp_records reader;
	double base = 1e9, start;
	unsigned i, k;
	uint64_t sum = 0;

	ground_use_ring(1);
	cp_records_open(&reader, ground_ring(1), GROUND_LOG);
	for (i = 0; i < 41; i++) {
		start = now_ns();
		for (k = 0; k < 2000; k++)
			sum += detour_plain(5, sum);
		if ((now_ns() - start) / 2000 < base)
			base = (now_ns() - start) / 2000;
	}
	measure("plain call", detour_plain, 5, &reader, base);
	entry = ground.made[entry_number].detour;
	exit = ground.made[exit_number].detour;
	entry.records[0].value_count = exit.records[0].value_count = 0;
	make_again(&entry, &exit);
	measure("entry and return", detour_called, 5, &reader, base);
	add_general(&entry.records[0], 6);
	exit.records[0].value_count = 1;
	make_again(&entry, &exit);
	measure("six arguments and a result", detour_called, 5, &reader, base);
	entry.records[0].when = CP_DETOUR_DECIDES;
	entry.records[0].tests[0] = (struct cp_detour_test){ .value = { CP_DETOUR_GENERAL, 5, 0 },
							     .op = CP_DETOUR_GT,
							     .size = 8,
							     .constant = 4096 };
	entry.records[0].test_count = 1;
	exit.records[0].when = CP_DETOUR_IF_DECIDED;
	make_again(&entry, &exit);
	measure("refused by a condition", detour_called, 5, &reader, base);
	measure("accepted by it, six arguments", detour_called, 5000, &reader, base);
	cp_records_close(&reader);
	make_again(&entry, &exit);
	entry.records[0].when = exit.records[0].when = CP_DETOUR_ALWAYS;
	entry.records[0].test_count = 0;
	make_again(&entry, &exit);
	measure("nobody reads", detour_called, 5, &reader, base);
	return 0;
}

int main(int argc, char **argv)
{
	text_near = ((uintptr_t)call_on & ~UINT64_C(4095)) - 16384;
	ground_prepare();
	patch_called(200);
	if (argc > 1 && !strcmp(argv[1], "cost"))
		return cost();
	test_signals(NESTED, 2000);
	test_signals(TAKEN_OUT, 2000);
	test_signals(BOTH, 2000);
	test_threads(false, 60000);
	test_threads(true, 60000);
	/* Records that are large for the ring. */
	ground_unpatch(entry_number);
	ground_unpatch(exit_number);
	patch_called(CP_DETOUR_STACK_MAX);
	test_threads(false, 4000);
	test_threads(true, 4000);
	test_nobody();
	test_conditions();
	TEST_MAIN_END;
}
