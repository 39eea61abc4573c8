/* SPDX-License-Identifier: MIT
 *
 * annotate THREADS ROUNDS [on]: nanoseconds of CPU time that an annotation
 * takes, less those of the same loop without: the best of so many rounds of 50,000.
 */
#include <cprof/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EVENTS 50000

static long rounds;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *measure(void *to)
{
	double with = 1e18, without = 1e18, from;

	for (long round = 0; round < rounds; round++) {
		from = now();
		for (long i = 0; i < EVENTS; i++) {
			CPROF_TRACE_INSTANT("event");
			__asm__ volatile("" ::: "memory");
		}
		with = now() - from < with ? now() - from : with;
		from = now();
		for (long i = 0; i < EVENTS; i++)
			__asm__ volatile("" ::: "memory");
		without = now() - from < without ? now() - from : without;
	}
	*(double *)to = (with - without) / EVENTS;
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	double took[8], sum = 0;
	pthread_t t[8];

	rounds = argc > 2 ? atol(argv[2]) : 100;
	if (threads < 1 || threads > 8)
		return 2;
	cprof_trace_set_enabled(argc > 3 && !strcmp(argv[3], "on"));
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, measure, &took[i]);
	for (int i = 0; i < threads; i++) {
		pthread_join(t[i], NULL);
		sum += took[i];
	}
	printf("%.3f\n", sum / threads);
	return 0;
}
