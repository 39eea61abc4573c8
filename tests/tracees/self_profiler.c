/* SPDX-License-Identifier: MIT
 *
 * A program that samples itself with ITIMER_PROF: each pc its handler is given
 * must lie in executable memory that was there from the start (its own text,
 * a library's, the vdso's), and the ticks must be about as many as its CPU time
 * says: not more, since a stolen or doubled tick would show.
 */
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>

#include "tracee.h"

struct range {
	unsigned long from, to;
};

static struct range ranges[64];
static size_t count;
static volatile long ticks, outside;
static volatile unsigned long stray;

static unsigned long pc_of(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (unsigned long)context->uc_mcontext.gregs[REG_RIP];
#else
	return context->uc_mcontext.pc;
#endif
}

static void on_prof(int sig, siginfo_t *info, void *context)
{
	unsigned long pc = pc_of(context);

	(void)sig;
	(void)info;
	ticks++;
	for (size_t i = 0; i < count; i++)
		if (pc >= ranges[i].from && pc < ranges[i].to)
			return;
	outside++;
	stray = pc;
}

static void read_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512], flags[8];
	struct range r;

	CHECK(f, "maps: %s", strerror(errno));
	while (count < 64 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &r.from, &r.to, flags) == 3 && flags[2] == 'x')
			ranges[count++] = r;
	fclose(f);
}

static void *work(void *arg)
{
	uint32_t x = (uint32_t)(uintptr_t)arg;

	for (int i = 0; i < 100; i++) {
		x = tracee_mix(x, 20000);
		x += (uint32_t)tracee_clock(CLOCK_MONOTONIC) & 1;
		getppid();
	}
	return (void *)(uintptr_t)x;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval timer = { { 0, 1000 }, { 0, 1000 } }, off = { 0 };
	double cpu_ms;

	tracee_begin("self_profiler", argc, argv, (struct tracee_options){ .rounds = 20 });
	read_maps();
	action.sa_sigaction = on_prof;
	sigaction(SIGPROF, &action, NULL);
	TRY(setitimer(ITIMER_PROF, &timer, NULL));
	while (tracee_more()) {
		pthread_t other = tracee_thread(work, NULL);

		work(NULL);
		pthread_join(other, NULL);
	}
	/* The kernel may see none of it where a busy machine leaves it only slices of a tick. */
	while (!ticks && tracee_clock(CLOCK_PROCESS_CPUTIME_ID) < UINT64_C(30000000000))
		work(NULL);
	setitimer(ITIMER_PROF, &off, NULL);
	cpu_ms = (double)tracee_clock(CLOCK_PROCESS_CPUTIME_ID) / 1e6;
	CHECK(!outside, "%ld of %ld ticks at a strange pc, the last 0x%lx", outside, ticks, stray);
	CHECK(ticks > 0, "no tick in %.0f ms", cpu_ms);
	CHECK((double)ticks <= cpu_ms + 10, "%ld ticks in %.0f ms of CPU time", ticks, cpu_ms);
	return tracee_ok("every tick in its own text");
}
