/* SPDX-License-Identifier: MIT
 *
 * spin THREADS ROUNDS: a fixed amount of work, 40 frames deep, on each of
 * THREADS threads. Prints the elapsed and the CPU time that it took, in ns:
 * the program's own word, free of what its start and a tool's start cost.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST_THREADS 1024
#define DEPTH 40

static unsigned long rounds;

static __attribute__((noinline)) uint64_t work(uint64_t x)
{
	int i;

	for (i = 0; i < 4000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

static __attribute__((noinline)) uint64_t descend(int depth, uint64_t x)
{
	uint64_t sum = depth ? descend(depth - 1, x) : work(x);

	__asm__ volatile("" : "+r"(sum)); /* the compiler is not to make a loop of it */
	return sum + 1;
}

static void *spin(void *arg)
{
	uint64_t *sum = arg;
	unsigned long i;

	for (i = 0; i < rounds; i++)
		*sum += descend(DEPTH, i + 1);
	return NULL;
}

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	static pthread_t threads[MOST_THREADS];
	static uint64_t sums[MOST_THREADS];
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, i;
	uint64_t start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);

	rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 100000;
	if (count > MOST_THREADS)
		return 2;
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, spin, &sums[i]))
			return 1;
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%lu %lu\n", (unsigned long)(now(CLOCK_MONOTONIC) - start),
	       (unsigned long)(now(CLOCK_PROCESS_CPUTIME_ID) - cpu));
	return 0;
}
