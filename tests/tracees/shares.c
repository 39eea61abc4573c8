/* SPDX-License-Identifier: MIT
 *
 * Two functions in turn, by the thread's CPU time: three_quarters 3 ms of each round,
 * a_quarter 1 ms, with 3,000 and 1,000 bytes that they allocate and free; and a thread
 * called idler that waits all the time. The line tells each one's CPU time in ms, and how
 * many rounds there were.
 */
#include "tracee.h"

static uint64_t used[2];

static NOIPA void spend(uint64_t ns, uint64_t *sum)
{
	uint64_t start = tracee_clock(CLOCK_THREAD_CPUTIME_ID), now;

	do
		now = tracee_clock(CLOCK_THREAD_CPUTIME_ID);
	while (now - start < ns);
	*sum += now - start;
	__asm__ volatile(""); /* no tail call */
}

static void *volatile block;

static NOIPA void three_quarters(void)
{
	block = malloc(3000);
	free(block);
	spend(3000000, &used[0]);
	__asm__ volatile("");
}

static NOIPA void a_quarter(void)
{
	block = malloc(1000);
	free(block);
	spend(1000000, &used[1]);
	__asm__ volatile("");
}

static void *idle(void *arg)
{
	pthread_setname_np(pthread_self(), "idler");
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	tracee_begin("shares", argc, argv, (struct tracee_options){ .rounds = 25 });
	tracee_thread(idle, NULL);
	while (tracee_more()) {
		three_quarters();
		a_quarter();
	}
	return tracee_ok("three_quarters %.1f a_quarter %.1f rounds %ld", (double)used[0] / 1e6,
			 (double)used[1] / 1e6, tracee_round - 1);
}
