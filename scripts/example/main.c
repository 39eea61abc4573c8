/* SPDX-License-Identifier: MIT
 *
 * workshop [SECONDS]: threads with names do their trades for some seconds (5
 * unless told), one more watches them and mostly sleeps.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "example.h"

struct trade {
	const char *name;
	uint64_t (*work)(struct dice *dice);
	atomic_ulong pieces;
	pthread_t thread;
};

static struct trade trades[] = {
	{ .name = "calculator", .work = calculate },
	{ .name = "librarian", .work = count_words },
	{ .name = "packer", .work = pack_text },
	{ .name = "engineer", .work = solve_equations },
};
#define TRADES (sizeof(trades) / sizeof(*trades))

static atomic_bool closing;

static void *work_until_closing(void *arg)
{
	struct trade *trade = arg;
	struct dice dice = { 42 };
	static _Thread_local uint64_t sum;

	while (!atomic_load(&closing)) {
		sum += trade->work(&dice);
		atomic_fetch_add(&trade->pieces, 1);
	}
	return &sum;
}

static void *watch(void *arg)
{
	const struct timespec a_while = { 0, 100000000 };

	while (!atomic_load(&closing))
		nanosleep(&a_while, NULL);
	return arg;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 5;
	struct timespec length = { (time_t)seconds, (long)((seconds - (int)seconds) * 1e9) };
	pthread_t watcher;
	size_t i;

	for (i = 0; i < TRADES; i++) {
		if (pthread_create(&trades[i].thread, NULL, work_until_closing, &trades[i]))
			return 1;
		pthread_setname_np(trades[i].thread, trades[i].name);
	}
	if (pthread_create(&watcher, NULL, watch, NULL))
		return 1;
	pthread_setname_np(watcher, "watcher");
	nanosleep(&length, NULL);
	atomic_store(&closing, true);
	pthread_join(watcher, NULL);
	for (i = 0; i < TRADES; i++) {
		pthread_join(trades[i].thread, NULL);
		printf("%s: %lu pieces of work\n", trades[i].name, atomic_load(&trades[i].pieces));
	}
	return 0;
}
