/* SPDX-License-Identifier: MIT
 *
 * Functions that compute, wait, and do both; a line for each of them with the
 * CPU time of their calls, by the thread's own clock, in ns.
 */
#include "tracee.h"

#define ROUNDS 3

static uint32_t sink;

static uint64_t cpu_clock(void)
{
	return tracee_clock(CLOCK_THREAD_CPUTIME_ID);
}

static NOIPA void computes(uint64_t ns)
{
	uint64_t end = cpu_clock() + ns;

	while (cpu_clock() < end)
		sink = tracee_mix(sink, 1000);
}

static NOIPA void waits(void)
{
	const struct timespec nap = { 0, 20000000 };

	nanosleep(&nap, NULL);
}

static NOIPA void does_both(void)
{
	computes(5000000);
	waits();
	computes(5000000);
	sink++;
}

static uint64_t one_round(int which)
{
	uint64_t start = cpu_clock();

	if (which == 0)
		computes(20000000);
	else if (which == 1)
		waits();
	else
		does_both();
	return cpu_clock() - start;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "computes", "waits", "does_both" };
	uint64_t sums[3] = { 0 };

	tracee_begin("cpu_time", argc, argv, (struct tracee_options){ .rounds = 1 });
	for (int i = 0; i < 3 * ROUNDS; i++)
		sums[i % 3] += one_round(i % 3);
	for (int i = 0; i < 3; i++)
		printf("%s %llu\n", names[i], (unsigned long long)sums[i]);
	return tracee_ok("%u", sink);
}
