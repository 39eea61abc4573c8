/* SPDX-License-Identifier: MIT
 *
 * Two functions that take turns in lockstep with a sampling period (--size in
 * microseconds, 1000): phase_a the first half of each period, phase_b the
 * second, by the clock. Both use the same CPU time; a sampler whose ticks fall
 * into step sees only one of them. The line tells each one's CPU time in ms.
 */
#include "tracee.h"

static uint64_t period, begun;

static NOIPA void phase_a(uint64_t until)
{
	while (tracee_clock(CLOCK_MONOTONIC) < until)
		;
}

static NOIPA void phase_b(uint64_t until)
{
	while (tracee_clock(CLOCK_MONOTONIC) < until)
		;
}

int main(int argc, char **argv)
{
	uint64_t cpu[2] = { 0, 0 }, end, t;

	tracee_begin("alternating", argc, argv,
		     (struct tracee_options){ .size = 1000, .ms = 1000 });
	period = (uint64_t)opt.size * 1000;
	tracee_ready();
	begun = tracee_clock(CLOCK_MONOTONIC);
	end = begun + (uint64_t)opt.ms * 1000000;
	t = tracee_clock(CLOCK_THREAD_CPUTIME_ID);
	for (uint64_t now; (now = tracee_clock(CLOCK_MONOTONIC)) < end;) {
		uint64_t half = (now - begun) * 2 / period, then;

		(half % 2 ? phase_b : phase_a)(begun + (half + 1) * period / 2);
		then = tracee_clock(CLOCK_THREAD_CPUTIME_ID);
		cpu[half % 2] += then - t;
		t = then;
	}
	return tracee_ok("phase_a %.1f phase_b %.1f", (double)cpu[0] / 1e6, (double)cpu[1] / 1e6);
}
