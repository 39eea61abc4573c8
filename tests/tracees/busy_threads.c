/* SPDX-License-Identifier: MIT
 *
 * --threads=N busy threads (8) for --ms; the line tells the CPU time that each
 * used, by its own clock, and the sum, in ms. Thread i computes in busy_i % 4.
 */
#include <stdatomic.h>

#include "tracee.h"

static atomic_bool stop;
static uint64_t cpu[TRACEE_THREADS];

#define BUSY(i) \
	static NOIPA uint32_t busy_##i(uint32_t x) \
	{ \
		while (!stop) \
			x = tracee_mix(x + i, 1000); \
		return x; \
	}
BUSY(0)
BUSY(1)
BUSY(2)
BUSY(3)

static void *run(void *arg)
{
	static uint32_t (*const busy[])(uint32_t) = { busy_0, busy_1, busy_2, busy_3 };
	size_t i = (size_t)(uintptr_t)arg;
	uint32_t x = busy[i % 4](1);

	cpu[i] = tracee_clock(CLOCK_THREAD_CPUTIME_ID);
	return (void *)(uintptr_t)x;
}

int main(int argc, char **argv)
{
	pthread_t threads[TRACEE_THREADS];
	char text[900];
	size_t len = 0;
	double sum = 0;

	tracee_begin("busy_threads", argc, argv,
		     (struct tracee_options){ .threads = 8, .ms = 500 });
	for (long i = 0; i < opt.threads; i++)
		threads[i] = tracee_thread(run, (void *)i);
	tracee_wait();
	stop = true;
	for (long i = 0; i < opt.threads; i++) {
		pthread_join(threads[i], NULL);
		sum += (double)cpu[i] / 1e6;
		len += (size_t)snprintf(text + len, sizeof(text) - len, " %.2f",
					(double)cpu[i] / 1e6);
	}
	return tracee_ok("cpu_ms %.2f threads%s", sum, text);
}
