/* SPDX-License-Identifier: MIT
 *
 * Filters of system calls.
 */
#ifndef CP_TRACER_SECCOMP_H
#define CP_TRACER_SECCOMP_H

#include <stdbool.h>

struct thread;
struct tracer;

/* May the thread make calls that it never makes itself? Where that is permitted, what
 * forbids it is suspended (*suspended_ret), until the thread gets other options. */
bool seccomp_pass(struct tracer *tr, const struct thread *t, bool *suspended_ret);

/* May it make harmless ones, with its filters in place? */
bool seccomp_lets(struct tracer *tr, const struct thread *t);

#endif
