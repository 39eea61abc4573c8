/* SPDX-License-Identifier: MIT
 *
 * Functions that measure how long each of their calls takes, by the wall's clock,
 * in --threads at once; a line for each call, in the order of its thread:
 * "FUNCTION TID NS". --size: µs that a call computes at least; --ms: that naps()
 * sleeps; --rounds: calls of each function and thread.
 */
#include "tracee.h"

enum { COMPUTES, SHORT, CALLS, NAPS, FUNCTIONS };

static const char *const names[FUNCTIONS] = { "computes", "is_short", "calls", "naps" };

struct timed {
	pid_t tid;
	uint32_t sink;
	size_t count;
	struct {
		uint64_t ns;
		int which;
	} * calls;
};

static pthread_barrier_t all;

static uint64_t wall(void)
{
	return tracee_clock(CLOCK_MONOTONIC);
}

static inline __attribute__((always_inline)) uint64_t spin(struct timed *t, uint64_t ns)
{
	uint64_t start = wall(), now;

	do
		t->sink = tracee_mix(t->sink, 64);
	while ((now = wall()) - start < ns);
	return now - start;
}

static NOIPA uint64_t computes(struct timed *t)
{
	return spin(t, (uint64_t)opt.size * 1000);
}

static NOIPA uint64_t is_short(struct timed *t)
{
	return spin(t, 100);
}

/* Its own time is that of what it does itself, and what is called says of itself. */
static NOIPA uint64_t calls(struct timed *t)
{
	uint64_t ns = spin(t, (uint64_t)opt.size * 500);

	ns += is_short(t);
	ns += spin(t, (uint64_t)opt.size * 500);
	ns += is_short(t);
	return ns;
}

static NOIPA uint64_t naps(struct timed *t)
{
	const struct timespec nap = { 0, opt.ms * 1000000 };
	uint64_t start = wall();

	t->sink++;
	nanosleep(&nap, NULL);
	return wall() - start;
}

static void keep(struct timed *t, int which, uint64_t ns)
{
	t->calls[t->count].which = which;
	t->calls[t->count++].ns = ns;
}

static void *run(void *arg)
{
	struct timed *t = arg;

	t->tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&all);
	for (long i = 0; i < opt.rounds; i++) {
		keep(t, COMPUTES, computes(t));
		keep(t, SHORT, is_short(t));
		keep(t, CALLS, calls(t));
		if (opt.ms)
			keep(t, NAPS, naps(t));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct timed timed[TRACEE_THREADS] = { 0 };
	pthread_t threads[TRACEE_THREADS];
	long n;

	tracee_begin("self_timed", argc, argv,
		     (struct tracee_options){ .rounds = 10, .threads = 2, .size = 32 });
	n = opt.threads;
	pthread_barrier_init(&all, NULL, (unsigned)n);
	for (long i = 0; i < n; i++) {
		timed[i].calls = calloc((size_t)opt.rounds * FUNCTIONS, sizeof(*timed[i].calls));
		CHECK(timed[i].calls && !pthread_create(&threads[i], NULL, run, &timed[i]),
		      "no thread");
	}
	for (long i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		for (size_t k = 0; k < timed[i].count; k++)
			printf("%s %d %llu\n", names[timed[i].calls[k].which], (int)timed[i].tid,
			       (unsigned long long)timed[i].calls[k].ns);
		free(timed[i].calls);
	}
	fflush(stdout);
	return tracee_ok("%ld threads", n);
}
