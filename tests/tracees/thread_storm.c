/* SPDX-License-Identifier: MIT
 *
 * Threads that begin and end all the time: joined ones with a result, detached
 * ones, threads that make threads, threads that end by pthread_exit in a
 * deep frame. Every result and every count is checked.
 */
#include <stdatomic.h>

#include "tracee.h"

static atomic_long detached, nested;

static void *joined(void *arg)
{
	return (void *)(uintptr_t)tracee_mix((uint32_t)(uintptr_t)arg, 500);
}

static void *alone(void *arg)
{
	tracee_mix(1, (long)(uintptr_t)arg);
	atomic_fetch_add(&detached, 1);
	return NULL;
}

/* Not pthread_detach(): glibc looks at the thread once more when that may have ended and
 * its stack been unmapped. */
static void begin_alone(void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attr, alone, arg);
	CHECK(!err, "pthread_create: %s", strerror(err));
	pthread_attr_destroy(&attr);
}

static NOIPA void leave(void)
{
	pthread_exit((void *)(uintptr_t)7);
}

static NOIPA void leave_deep(int depth)
{
	char frame[64];

	memset(frame, depth, sizeof(frame));
	if (depth == 0)
		leave();
	else
		leave_deep(depth - 1);
	CHECK(frame[0] == depth, "a frame was overwritten");
}

static void *parent(void *arg)
{
	void *result;
	pthread_t child = tracee_thread(joined, arg);

	pthread_join(child, &result);
	CHECK(result == joined(arg), "a nested thread's result is wrong");
	atomic_fetch_add(&nested, 1);
	leave_deep(20);
	tracee_fail("pthread_exit returned");
}

static void wave(long n)
{
	pthread_t joins[TRACEE_THREADS], parents[TRACEE_THREADS];
	void *result;

	for (long i = 0; i < n; i++) {
		joins[i] = tracee_thread(joined, (void *)i);
		parents[i] = tracee_thread(parent, (void *)i);
		begin_alone((void *)(i * 50));
	}
	for (long i = 0; i < n; i++) {
		CHECK(!pthread_join(joins[i], &result), "pthread_join");
		CHECK(result == joined((void *)i), "thread %ld: wrong result", i);
		CHECK(!pthread_join(parents[i], &result), "pthread_join");
		CHECK(result == (void *)(uintptr_t)7, "thread %ld: wrong pthread_exit value", i);
	}
}

int main(int argc, char **argv)
{
	long waves = 0;

	tracee_begin("thread_storm", argc, argv,
		     (struct tracee_options){ .rounds = 20, .threads = 16 });
	while (tracee_more()) {
		wave(opt.threads);
		waves++;
	}
	CHECK(nested == waves * opt.threads, "%ld nested threads of %ld", (long)nested,
	      waves * opt.threads);
	while (detached < waves * opt.threads)
		sched_yield();
	return tracee_ok("every result, every thread");
}
