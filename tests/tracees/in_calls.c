/* SPDX-License-Identifier: MIT
 *
 * A sixth of the time in short system calls, one each microsecond or two, on another CPU
 * every --size milliseconds, where it may be on several. Who stops it from another CPU finds
 * it at the end of a call nearly always. The line tells its time in user code and in the
 * kernel in ms, as the kernel counts them.
 */
#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "tracee.h"

static char bytes[4096];

static NOIPA void compute(unsigned rounds)
{
	volatile double sum __attribute__((unused)) = 0;

	while (rounds)
		sum += 1.0 / rounds--;
}

static void move(const cpu_set_t *all)
{
	int cpu = sched_getcpu(), tries = CPU_SETSIZE;
	cpu_set_t one;

	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, all) && --tries);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static double ms_of(struct timeval time)
{
	return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

int main(int argc, char **argv)
{
	uint64_t now = 0, moved = 0;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	struct rusage use;
	cpu_set_t all;

	tracee_begin("in_calls", argc, argv, (struct tracee_options){ .size = 20, .ms = 300 });
	sched_getaffinity(0, sizeof(all), &all);
	tracee_ready();
	while (now < (uint64_t)opt.ms * 1000000) {
		for (int i = 0; i < 256; i++) {
			compute(400);
			syscall(SYS_read, fd, bytes, sizeof(bytes));
		}
		now = tracee_clock(CLOCK_PROCESS_CPUTIME_ID);
		if (now - moved < (uint64_t)opt.size * 1000000)
			continue;
		move(&all);
		moved = now;
	}
	getrusage(RUSAGE_SELF, &use);
	return tracee_ok("user %.1f kernel %.1f", ms_of(use.ru_utime), ms_of(use.ru_stime));
}
