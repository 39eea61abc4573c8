/* SPDX-License-Identifier: MIT
 *
 * Handlers of a timer's signal, which comes every 100 us in the mode "starves": one
 * that calls 200 functions has time for that unless each of them costs a stop. In
 * the others the signal finds the program at the same place without that it starves:
 * it waits for the handler in a loop of one instruction (every 4 ms), in a system
 * call, or is stopped at a breakpoint whenever the signal comes.
 */
#include <stdatomic.h>

#include "tracee.h"

static volatile unsigned sum;
static atomic_ulong handled;

static NOIPA void leaf(unsigned i)
{
	sum += i;
}

static NOIPA void other(unsigned i)
{
	sum -= i;
}

static void slow(int signal)
{
	unsigned i;

	(void)signal;
	for (i = 0; i < 100; i++)
		leaf(i);
	for (i = 0; i < 100; i++)
		other(i);
	handled++;
}

static void quick(int signal)
{
	(void)signal;
	leaf(1);
	handled++;
}

static void bare(int signal)
{
	(void)signal;
	handled++;
}

static timer_t timer;

static void every(long us)
{
	const struct itimerspec interval = { { 0, us * 1000 }, { 0, us * 1000 } };

	TRY(timer_settime(timer, 0, &interval, NULL));
}

static void handle(void (*handler)(int), long us)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };

	sigaction(SIGUSR1, &action, NULL);
	TRY(timer_create(CLOCK_MONOTONIC, &event, &timer));
	every(us);
}

static void starve(void)
{
	uint64_t x = 1;
	unsigned i;

	handle(slow, 100);
	for (i = 0; i < 30000000; i++)
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	every(0);
	CHECK(handled, "no signal came");
	CHECK(sum == 0 && x == UINT64_C(0x51a0d9d15abaaf81), "sum %u, %llx", sum,
	      (unsigned long long)x);
}

static void spin(unsigned long enough)
{
	while (atomic_load_explicit(&handled, memory_order_relaxed) < enough)
		;
}

static void waits(const char *mode)
{
	const unsigned long enough = (unsigned long)opt.size;

	handle(strcmp(mode, "calls") ? quick : bare, 4000);
	while (handled < enough) {
		if (!strcmp(mode, "spins"))
			spin(enough);
		else if (!strcmp(mode, "pauses"))
			pause();
		else
			leaf(1);
	}
	every(0);
}

int main(int argc, char **argv)
{
	tracee_begin("starved", argc, argv,
		     (struct tracee_options){ .mode = "starves", .size = 300 });
	if (!strcmp(opt.mode, "starves"))
		starve();
	else
		waits(opt.mode);
	return tracee_ok("%s", opt.mode);
}
