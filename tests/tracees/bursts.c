/* SPDX-License-Identifier: MIT
 *
 * Short bursts of work between sleeps (--size microseconds of each, 2000 and as
 * many off), for --ms: a sampler that only counts the ticks at which a thread
 * happens to run weighs them wrongly. The line tells the CPU time in ms.
 */
#include "tracee.h"

static NOIPA void burst(uint64_t ns)
{
	uint64_t end = tracee_clock(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (tracee_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

int main(int argc, char **argv)
{
	uint64_t end;

	tracee_begin("bursts", argc, argv, (struct tracee_options){ .size = 2000, .ms = 1000 });
	tracee_ready();
	end = tracee_clock(CLOCK_MONOTONIC) + (uint64_t)opt.ms * 1000000;
	while (opt.until ? !tracee_told_to_stop() : tracee_clock(CLOCK_MONOTONIC) < end) {
		burst((uint64_t)opt.size * 1000);
		usleep((useconds_t)opt.size);
	}
	return tracee_ok("cpu_ms %.2f", (double)tracee_clock(CLOCK_PROCESS_CPUTIME_ID) / 1e6);
}
