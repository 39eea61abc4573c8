/* SPDX-License-Identifier: MIT
 *
 * Stops that the code of detours asks for, with this process's own handler in the
 * tracer's place, or in that of the handler that a dead tracer leaves behind.
 */
#include "test.h"

#include "detour_ground.h"

#include <string.h>
#include <ucontext.h>
#include <x86intrin.h>

#define ENTER 1
#define LEAVE 2
#define FOR_EVER (__rdtsc() + (UINT64_C(1) << 42))

static struct {
	bool alive; /* the tracer */
	unsigned ring; /* that is given to who asks */
	unsigned long asked, stopped, elsewhere, aside, other;
	struct cp_regs regs; /* at the last stop, the program's */
} tracer;

static int entry_number, exit_number;

/* A stop of a record, at the entry or the exit. */
static bool on_record(const ucontext_t *context)
{
	uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP],
		 flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
	const int numbers[] = { entry_number, exit_number };
	struct cp_detour_stop stops[CP_DETOUR_RECORDS];
	struct cp_detour_left left[2];
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!cp_detour_stops(&cp_arch_x86_64, &ground.made[numbers[i]].detour,
				     ground.made[numbers[i]].at, &ground.rings, stops) ||
		    stops[0].pc != pc)
			continue;
		CHECK_U64(stops[0].on, pc);
		ground_regs(context, &tracer.regs);
		CHECK(ground_leave(&tracer.regs, &flags, left) == numbers[i]);
		CHECK_U64(left[1].stage, CP_DETOUR_COMMITTED);
		tracer.stopped++;
		return true;
	}
	return false;
}

/* The mark that a caller's place gets: its own, another one's, or that of several. */
static enum { AS_OWN, AS_OTHER, AS_ANY } entered;

static bool is_aside; /* on another stack than its own */

/* Called from where nobody was known to call from; is from now on. */
static bool on_elsewhere(const ucontext_t *context)
{
	uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP],
		 flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
	uint8_t *callers = (uint8_t *)ground_ring(0) + cp_detour_callers_offset(GROUND_LOG);
	struct cp_detour_left left[2];
	struct cp_detour_stop stop;
	uint64_t sp;
	uint8_t own;

	if (!cp_detour_slow_foreign(&cp_arch_x86_64, &ground.rings, &stop) || stop.pc != pc)
		return false;
	CHECK_U64(stop.on, pc);
	if (is_aside) {
		tracer.aside++;
		return true;
	}
	ground_regs(context, &tracer.regs);
	CHECK(ground_leave(&tracer.regs, &flags, left) == entry_number);
	CHECK_U64(tracer.regs.r[16], (uintptr_t)detour_called);
	sp = tracer.regs.r[7];
	own = cp_detour_caller_mark(*(const uint64_t *)sp, sp);
	callers[cp_detour_caller(*(const uint64_t *)sp, sp, GROUND_LOG)] =
		entered == AS_OWN   ? own
		: entered == AS_ANY ? CP_DETOUR_ANY
				    : own ^ (own == (CP_DETOUR_ANY ^ 2) ? 4 : 2);
	tracer.elsewhere++;
	return true;
}

static void on_stop(int signal, siginfo_t *info, void *ucontext)
{
	ucontext_t *context = ucontext;
	struct cp_detour_stop stop;

	(void)signal;
	(void)info;
	if (on_record(context) || on_elsewhere(context))
		return;
	CHECK(cp_detour_slow_stop(&cp_arch_x86_64, &ground.rings, &stop));
	if ((uint64_t)context->uc_mcontext.gregs[REG_RIP] != stop.pc) {
		tracer.other++;
		return;
	}
	tracer.asked++;
	if (tracer.alive)
		ground_use_ring(tracer.ring);
	else
		context->uc_mcontext.gregs[REG_RIP] = (greg_t)stop.on;
}

static bool by_known; /* of the next entry */

static void patch(enum cp_detour_when entry_when, enum cp_detour_when exit_when, bool stops)
{
	struct cp_detour entry = ground_window((void *)detour_called, detour_called_exit);
	struct cp_detour exit = ground_window(detour_called_exit, detour_called_end);

	entry.records[entry.record_count++] = ground_record(ENTER, 0);
	exit.records[exit.record_count++] = ground_record(LEAVE, exit.size - 1);
	entry.records[0].when = entry_when;
	entry.records[0].by_known = by_known;
	exit.records[0].when = exit_when;
	entry.records[0].stops = exit.records[0].stops = stops;
	if (entry_when == CP_DETOUR_DECIDES)
		entry.records[0].tests[entry.records[0].test_count++] =
			(struct cp_detour_test){ .value = { CP_DETOUR_GENERAL, 5, 0 },
						 .op = CP_DETOUR_GT,
						 .size = 8,
						 .constant = 100 };
	entry_number = ground_make(&entry);
	exit_number = ground_make(&exit);
	CHECK(entry_number >= 0 && exit_number >= 0);
	ground_patch(entry_number);
	ground_patch(exit_number);
}

static void unpatch(void)
{
	ground_unpatch(entry_number);
	ground_unpatch(exit_number);
}

/* Sites in the order of their records, as digits. */
static unsigned long sites(struct cp_records *reader)
{
	struct cp_record record;
	unsigned long digits = 0;

	while (cp_records_next(reader, __rdtsc(), &record)) {
		CHECK_U64(record.kind, CP_RECORD_SITE);
		digits = digits * 10 + record.site;
	}
	cp_records_release(reader);
	return digits;
}

/* A thread without a ring, at its first call and later ones. */
static void test_ask(void)
{
	struct cp_records reader;

	patch(CP_DETOUR_ALWAYS, CP_DETOUR_ALWAYS, false);
	tracer.alive = true;
	tracer.ring = 2;
	cp_records_open(&reader, ground_ring(2), GROUND_LOG);
	ground_use_ring(0);
	CHECK(detour_called(5, 7) == detour_plain(5, 7));
	CHECK_U64(tracer.asked, 0); /* nobody wants to know */
	cp_records_ask(ground_ring(0), FOR_EVER, 0);
	CHECK(detour_called(5, 7) == detour_plain(5, 7));
	CHECK(detour_called(6, 7) == detour_plain(6, 7));
	CHECK_U64(tracer.asked, 1);
	CHECK_U64(sites(&reader), 1212);
	/* Nobody is there to give it one. */
	tracer.alive = false;
	ground_use_ring(0);
	CHECK(detour_called(7, 7) == detour_plain(7, 7));
	CHECK_U64(tracer.asked, 3);
	/* Nobody was for long. */
	cp_records_ask(ground_ring(0), __rdtsc(), 0);
	CHECK(detour_called(7, 7) == detour_plain(7, 7));
	cp_records_ask(ground_ring(0), 0, 0);
	CHECK(detour_called(7, 7) == detour_plain(7, 7));
	CHECK_U64(tracer.asked, 3);
	CHECK_U64(sites(&reader), 0);
	cp_records_close(&reader);
	unpatch();
}

/* What the entry decided is known at the exit, in another ring. */
static void test_ask_decided(void)
{
	struct cp_records reader;
	unsigned long before = tracer.asked;
	uint64_t i;

	patch(CP_DETOUR_DECIDES, CP_DETOUR_IF_DECIDED, false);
	tracer.alive = true;
	tracer.ring = 3;
	cp_records_open(&reader, ground_ring(3), GROUND_LOG);
	cp_records_ask(ground_ring(0), FOR_EVER, 0);
	ground_use_ring(0);
	for (i = 98; i < 103; i++)
		CHECK(detour_called(i, 7) == detour_plain(i, 7));
	CHECK_U64(tracer.asked, before + 1);
	CHECK_U64(sites(&reader), 1212);
	cp_records_ask(ground_ring(0), 0, 0);
	cp_records_close(&reader);
	unpatch();
}

/* Where a condition holds, and with the program's registers. */
static void test_stops(void)
{
	struct cp_records reader;
	uint64_t i;

	patch(CP_DETOUR_DECIDES, CP_DETOUR_IF_DECIDED, true);
	ground_use_ring(4);
	cp_records_open(&reader, ground_ring(4), GROUND_LOG);
	for (i = 90; i < 100; i++)
		CHECK(detour_called(i, 7) == detour_plain(i, 7));
	CHECK_U64(tracer.stopped, 0);
	for (i = 101; i < 111; i++) {
		CHECK(detour_called(i, 7) == detour_plain(i, 7));
		CHECK_U64(tracer.regs.r[0], detour_plain(i, 7));
		CHECK(tracer.regs.r[16] - (uintptr_t)detour_called_exit <
		      (size_t)(detour_called_end - detour_called_exit));
	}
	CHECK_U64(tracer.stopped, 20);
	CHECK(sites(&reader) != 0);
	/* Without a record there is no stop. */
	cp_records_close(&reader);
	CHECK(detour_called(200, 7) == detour_plain(200, 7));
	CHECK_U64(tracer.stopped, 20);
	unpatch();
}

static __attribute__((noinline)) uint64_t from_one_place(uint64_t n)
{
	uint64_t result = detour_called(n, 7);

	__asm__ volatile("" : "+r"(result)); /* no tail call */
	return result;
}

/* The first call from a place stops, and is no record. */
static void test_callers(void)
{
	struct cp_records reader;
	uint64_t i;

	by_known = true;
	patch(CP_DETOUR_ALWAYS, CP_DETOUR_ALWAYS, false);
	ground_use_ring(5);
	cp_records_open(&reader, ground_ring(5), GROUND_LOG);
	/* Nobody wants to know. */
	CHECK(detour_called(4, 7) == detour_plain(4, 7));
	CHECK_U64(tracer.elsewhere, 0);
	CHECK_U64(sites(&reader), 2);
	cp_records_read(&reader, FOR_EVER);
	for (i = 0; i < 3; i++) {
		__asm__ volatile("" : "+r"(i)); /* one place, not one for each round */
		CHECK(detour_called(i, 7) == detour_plain(i, 7));
	}
	CHECK_U64(tracer.elsewhere, 1);
	CHECK_U64(sites(&reader), 21212);
	CHECK(detour_called(9, 7) == detour_plain(9, 7));
	CHECK_U64(tracer.elsewhere, 2);
	CHECK_U64(sites(&reader), 2);
	/* Another one's place is not this one's; that of several is. */
	entered = AS_OTHER;
	for (i = 0; i < 5; i++) {
		if (i == 2)
			entered = AS_ANY;
		CHECK(from_one_place(i) == detour_plain(i, 7));
	}
	entered = AS_OWN;
	CHECK_U64(tracer.elsewhere, 5);
	CHECK_U64(sites(&reader), 2221212);
	cp_records_close(&reader);
	unpatch();
	by_known = false;
}

/* Calls on the stack that is said not to be its own. */
static void call_aside(struct cp_records *reader, uint64_t first, unsigned long want)
{
	uint64_t i;

	for (i = first; i < first + 3; i++)
		CHECK(detour_called(i, 7) == detour_plain(i, 7));
	CHECK_U64(sites(reader), want);
}

/* On another stack than its own, a thread stops at each call, unless it is a known one. */
static void test_other_stacks(void)
{
	uint64_t here = (uintptr_t)__builtin_frame_address(0), stopped = tracer.elsewhere;
	struct cp_records reader;

	patch(CP_DETOUR_ALWAYS, CP_DETOUR_ALWAYS, false);
	ground_use_ring(5);
	cp_records_open(&reader, ground_ring(5), GROUND_LOG);
	cp_records_read(&reader, FOR_EVER);
	reader.ring->own_low = reader.ring->own_end = 0;
	is_aside = true;
	call_aside(&reader, 0, 0);
	CHECK_U64(tracer.aside, 6); /* enter and leave */
	cp_records_know_stack(&reader, here - 4096, here, here);
	call_aside(&reader, 3, 121212);
	CHECK_U64(tracer.aside, 6);
	cp_records_forget_stacks(&reader);
	call_aside(&reader, 6, 0);
	CHECK_U64(tracer.aside, 12);
	CHECK_U64(tracer.elsewhere, stopped);
	reader.ring->own_end = UINT64_MAX;
	is_aside = false;
	cp_records_close(&reader);
	unpatch();
}

/* Each page of the table is a fault in each process: it has few, and callers are all over it. */
static void test_callers_table(void)
{
	uint8_t pages[1u << (CP_DETOUR_CALLER_BITS - 12)] = { 0 };
	unsigned log, used = 0;
	uint64_t at;

	for (log = 12; log <= 24; log++)
		for (at = UINT64_C(0x555555550000); at < UINT64_C(0x555555560000); at += 5) {
			uint32_t place = cp_detour_caller(at, 0, log);

			CHECK(place < 1u << CP_DETOUR_CALLER_BITS && place < 1u << (log - 1));
			pages[place >> 12] = 1;
		}
	for (at = 0; at < sizeof(pages); at++)
		used += pages[at];
	CHECK_U64(used, sizeof(pages));
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = on_stop, .sa_flags = SA_SIGINFO };

	ground_prepare();
	sigaction(SIGTRAP, &action, NULL);
	test_ask();
	test_ask_decided();
	test_stops();
	test_callers();
	test_other_stacks();
	test_callers_table();
	CHECK_U64(tracer.other, 0);
	TEST_MAIN_END;
}
