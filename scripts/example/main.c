/* SPDX-License-Identifier: MIT
 *
 * workshop [SECONDS]: threads with names do their trades, together for so many
 * seconds of CPU time (8 unless told), each its share of it; one more thread
 * waits for them. Where the time goes is therefore known.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "example.h"

struct trade {
	const char *name;
	uint64_t (*work)(struct dice *dice);
	double share, seconds;
	unsigned long pieces;
	uint64_t sum;
	pthread_t thread;
};

static struct trade trades[] = {
	{ "calculator", calculate, .share = 0.35 },
	{ "librarian", count_words, .share = 0.30 },
	{ "packer", pack_text, .share = 0.20 },
	{ "engineer", solve_equations, .share = 0.15 },
};
#define TRADES (sizeof(trades) / sizeof(*trades))

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *work(void *arg)
{
	struct trade *trade = arg;
	struct dice dice = { 42 };

	while (cpu_seconds() < trade->seconds) {
		trade->sum += trade->work(&dice);
		trade->pieces++;
	}
	return NULL;
}

static void *watch(void *arg)
{
	size_t i;

	for (i = 0; i < TRADES; i++)
		pthread_join(trades[i].thread, NULL);
	return arg;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 8;
	pthread_t watcher;
	size_t i;

	for (i = 0; i < TRADES; i++) {
		trades[i].seconds = seconds * trades[i].share;
		if (pthread_create(&trades[i].thread, NULL, work, &trades[i]))
			return 1;
		pthread_setname_np(trades[i].thread, trades[i].name);
	}
	if (pthread_create(&watcher, NULL, watch, NULL))
		return 1;
	pthread_setname_np(watcher, "watcher");
	pthread_join(watcher, NULL);
	for (i = 0; i < TRADES; i++)
		printf("%s: %lu pieces of work\n", trades[i].name, trades[i].pieces);
	return 0;
}
