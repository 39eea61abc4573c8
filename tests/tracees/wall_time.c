/* SPDX-License-Identifier: MIT
 *
 * Functions that sleep and others that compute, for longer and for less than a period of
 * a sampler. The line tells each one's time by the wall clock and its CPU time, in ms, and
 * before them those of all, and the CPU time that was used until main() began. Sleeps follow
 * on each other, and on what computes.
 */
#include "tracee.h"

#define MS UINT64_C(1000000)
#define SHORT 40

struct times {
	uint64_t wall, cpu;
};

static NOIPA void sleep_for(uint64_t ns)
{
	struct timespec t = { .tv_nsec = (long)ns };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static NOIPA void burn_for(uint64_t ns)
{
	uint64_t end = tracee_clock(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (tracee_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* noipa, and not the last thing that each does: so it stays on the stack. */
#define PART(name, how, ns) \
	static NOIPA int name(void) \
	{ \
		how(ns); \
		return __LINE__; \
	}
PART(sleep_long, sleep_for, 150 * MS)
PART(sleep_middle, sleep_for, 70 * MS)
PART(sleep_short, sleep_for, 2 * MS)
PART(burn_long, burn_for, 60 * MS)
PART(burn_short, burn_for, 1 * MS)

static struct times now(void)
{
	return (struct times){ tracee_clock(CLOCK_MONOTONIC),
			       tracee_clock(CLOCK_THREAD_CPUTIME_ID) };
}

static void timed(int (*part)(void), struct times *sum)
{
	struct times before = now(), after;

	part();
	after = now();
	sum->wall += after.wall - before.wall;
	sum->cpu += after.cpu - before.cpu;
}

#define SAID(t) (double)(t).wall / 1e6, (double)(t).cpu / 1e6

int main(int argc, char **argv)
{
	struct times begun = now(), all, sl = { 0 }, sm = { 0 }, ss = { 0 }, bl = { 0 }, bs = { 0 };

	tracee_begin("wall_time", argc, argv, (struct tracee_options){ .rounds = 5 });
	while (tracee_more()) {
		timed(sleep_long, &sl);
		timed(burn_long, &bl);
		timed(sleep_middle, &sm);
		timed(sleep_long, &sl);
		for (int i = 0; i < SHORT; i++) {
			timed(burn_short, &bs);
			timed(sleep_short, &ss);
		}
	}
	all = now();
	all.wall -= begun.wall;
	all.cpu -= begun.cpu;
	return tracee_ok("before %.1f all %.1f %.1f sleep_long %.1f %.1f sleep_middle %.1f %.1f "
			 "sleep_short %.1f %.1f burn_long %.1f %.1f burn_short %.1f %.1f",
			 (double)begun.cpu / 1e6, SAID(all), SAID(sl), SAID(sm), SAID(ss), SAID(bl),
			 SAID(bs));
}
