/* SPDX-License-Identifier: MIT
 *
 * Samples by the kernel's own interrupt: what is asked of the tracer, and why it can't
 * be had. With CP_REQUEST_PERF the tracer tries, in a child, what it is going to do, and
 * then does it for all that is traced; without a pid, it tries it with the child itself, and
 * that is all; sampling begins with CP_REQUEST_SAMPLE of the same `hz` and CPU clock, and
 * any other one goes by stops.
 */
#ifndef CP_LINK_PERF_H
#define CP_LINK_PERF_H

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
