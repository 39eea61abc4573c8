/* SPDX-License-Identifier: MIT
 *
 * Samples by the kernel's own interrupt: what is asked of the tracer, and why it can't
 * be had. With CP_REQUEST_PERF the tracer tries, in a child, what it is going to do, and
 * then does it for all that is traced; without a pid, it tries it with the child itself, and
 * that is all; sampling begins with CP_REQUEST_SAMPLE of the same `hz` and CPU clock, and
 * any other one goes by stops.
 *
 * An event in the place of time: `address` is its number in cp_perf_events + 1, `size` after
 * how many of it a sample comes, and `hz` means nothing. A rate that the kernel is to keep
 * would have it guess what a sample stands for: 12,000 where there were 5,000. Nobody is
 * stopped then, whatever is missing: a tick has nothing to do with it.
 */
#ifndef CP_LINK_PERF_H
#define CP_LINK_PERF_H

#include <stdbool.h>
#include <stdint.h>

/* What can be counted, as perf_event_open() has it. The last one has no name. */
extern const struct cp_perf_event {
	const char *name;
	uint32_t type;
	uint64_t config;
	uint64_t period; /* unless told: few enough for the kernel's rings */
	bool kernel; /* it happens there alone: who may not look there counts none */
} cp_perf_events[];

/* Request: where the kernel's time may not be looked at, answer EACCES; else threads
 * that spend more than a little time there are sampled by stops. */
#define CP_PERF_KERNEL 1u

/* Answer, in `threads`: where it failed, with `errnum`. */
enum cp_perf_step {
	CP_PERF_OPEN, /* perf_event_open() of the program's threads */
	CP_PERF_RING, /* memory for what it writes */
	CP_PERF_KILLED, /* whoever asks is killed: by a seccomp filter, as a rule */
};

/* Answer, in `address`. */
#define CP_PERF_USER_ONLY 1u /* the kernel's time may not be looked at */

#endif
