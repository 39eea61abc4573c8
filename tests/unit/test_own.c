/* SPDX-License-Identifier: MIT
 *
 * Limits of calls a second go by the time that the program has for itself; and what of that
 * stops took is what is certain.
 */
#include <string.h>

#include "base/clock.h"
#include "test.h"
#include "tracer/known/costs.h"
#include "tracer/known/own.h"
#include "tracer/hits/pause.h"
#include "tracer/memory/space.h"

#define US 1000.0
#define MS 1000000u
#define RATE 5000u

static struct space space;
static struct own thread;

/* A thread did something of its own, and tracing took the rest of the time. */
static void stop(double own_us, double lost_us)
{
	struct own before = thread;

	thread.seen_ns += (uint64_t)((own_us + lost_us) * US);
	thread.lost_ns += (uint64_t)(lost_us * US);
	own_clock_advance(&space.clock, &before, &thread);
}

static void start(void)
{
	memset(&space, 0, sizeof(space));
	memset(&thread, 0, sizeof(thread));
	thread.seen_ns = 1;
	stop(1, 0);
}

/* How many of at most `most` hits there are until one was too many. */
static unsigned hits(unsigned most, double own_us, double lost_us)
{
	unsigned i;

	for (i = 1; i <= most; i++) {
		stop(own_us, lost_us);
		if (pause_spend(&space, RATE))
			return i;
	}
	return most + 1;
}

/* As after a pause (end() in pause.c). */
static void go_on(void)
{
	space.pause.credit = RATE / 5 + 1;
	space.pause.begins = true;
}

static void test_the_clock_runs_while_threads_do_something(void)
{
	struct own other = { 0 }, before = other;
	unsigned i;

	start();
	for (i = 0; i < 1000; i++)
		stop(10, 19990); /* a busy machine */
	CHECK(space.clock.ns > 9.9 * MS && space.clock.ns < 10.1 * MS);
	for (i = 0; i < 1000; i++)
		stop(10, 0);
	CHECK(space.clock.ns > 19.9 * MS && space.clock.ns < 20.1 * MS);
	/* Of who was never seen nothing is known. */
	other.seen_ns = thread.seen_ns + 5 * MS;
	own_clock_advance(&space.clock, &before, &other);
	CHECK(space.clock.ns > 24.9 * MS && space.clock.ns < 25.1 * MS);
}

static void test_who_allocates_often_pauses_on_a_busy_machine_too(void)
{
	/* 100,000 a second by its own time, 50 by others'. */
	start();
	CHECK(hits(100000, 10, 19990) < 4 * RATE + RATE / 4);
	/* A piece ends when it took long enough. */
	go_on();
	CHECK(hits(1000, 10, 19990) < 20);
	/* On an idle machine it has its hits. */
	go_on();
	CHECK(hits(2000, 10, 20) > RATE / 5);
}

static void test_who_does_not_is_watched_all_the_time(void)
{
	start();
	CHECK(hits(100000, 250, 30) == 100001);
	go_on();
	CHECK(hits(100000, 250, 30) == 100001);
	go_on();
	CHECK(hits(100000, 250, 20000) == 100001);
}

/* A stop that took so long when it was measured says of no other that it did. */
static void test_a_slow_stop_is_taken_for_no_other(void)
{
	struct calibration c = { 0 };
	struct stop_cost cost;
	unsigned i;

	costs_add(&c, 475000, 1000, true);
	cost = costs_of(&c, 1000, true);
	CHECK(cost.least == 0);
	CHECK(2 * cost.slant > cost.mean); /* so nothing is told as known less that */
	for (i = 0; i < 15; i++)
		costs_add(&c, 5000 + i, 1000, true);
	CHECK(costs_of(&c, 1000, true).least == 2500);
	CHECK(costs_of_any(&c).least == 2500);
	for (i = 0; i < 1000; i++)
		costs_add(&c, 90000, 1000000, false);
	/* Others may still take what some took before. */
	CHECK(costs_of(&c, 1000000, false).least == 2500);
	CHECK(costs_of(&c, 1000000, false).mean >= 5000);
}

/* What is certain of a sum is what is of each. */
static void test_bounds_add_up(void)
{
	struct cp_doubt then = { 0 }, now;

	cp_doubt_add(&then, 3, 100, 50, 700);
	now = then;
	CHECK(cp_slack_since(&now, &then) == 0);
	cp_doubt_add(&now, 1000, 100, 50, 700);
	cp_doubt_add_range(&now, 4000);
	CHECK(cp_slack_since(&now, &then) == 1000 * 700 + 2000);
}

int main(void)
{
	test_a_slow_stop_is_taken_for_no_other();
	test_bounds_add_up();
	test_the_clock_runs_while_threads_do_something();
	test_who_allocates_often_pauses_on_a_busy_machine_too();
	test_who_does_not_is_watched_all_the_time();
	TEST_MAIN_END;
}
