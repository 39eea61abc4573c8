/* SPDX-License-Identifier: MIT
 *
 * --threads=N of them (500), idle in a futex or, with --mode=spin, computing.
 * At the end each must have been woken once, and have counted on. Those that
 * compute begin together, or the first would keep the others from being made.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>

#include "tracee.h"

static atomic_long begun, ended;
static atomic_bool stop;
static atomic_uint go;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void *idle(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&mutex);
	begun++;
	while (!stop)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	ended++;
	return NULL;
}

static void *spin(void *arg)
{
	volatile uint32_t *x = arg;

	begun++;
	while (!go)
		syscall(SYS_futex, &go, FUTEX_WAIT_PRIVATE, 0, NULL);
	do
		*x = tracee_mix(*x, 1000) | 1;
	while (!stop);
	ended++;
	return NULL;
}

int main(int argc, char **argv)
{
	uint32_t *numbers;
	pthread_t *threads;
	bool spinning;

	tracee_begin("many_threads", argc, argv,
		     (struct tracee_options){ .threads = 500, .ms = 100, .mode = "idle" });
	spinning = !strcmp(opt.mode, "spin");
	threads = calloc((size_t)opt.threads, sizeof(*threads));
	numbers = calloc((size_t)opt.threads, sizeof(*numbers));
	CHECK(threads && numbers, "no memory");
	for (long i = 0; i < opt.threads; i++)
		threads[i] = tracee_thread_of(16384, spinning ? spin : idle, &numbers[i]);
	while (begun < opt.threads)
		sched_yield();
	go = 1;
	TRY(syscall(SYS_futex, &go, FUTEX_WAKE_PRIVATE, INT_MAX));
	tracee_wait();
	pthread_mutex_lock(&mutex);
	stop = true;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	for (long i = 0; i < opt.threads; i++) {
		CHECK(!pthread_join(threads[i], NULL), "pthread_join");
		CHECK(!spinning || numbers[i], "thread %ld did nothing", i);
	}
	CHECK(ended == opt.threads, "%ld of %ld threads ended", (long)ended, opt.threads);
	return tracee_ok("%ld %s threads", opt.threads, opt.mode);
}
