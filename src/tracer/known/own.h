/* SPDX-License-Identifier: MIT
 *
 * How much of a thread's time is its own.
 */
#ifndef CP_TRACER_OWN_H
#define CP_TRACER_OWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/doubt.h"

struct thread;
struct tracer;

/* The times of a thread since its birth, as schedstat tells them. */
struct cpu_use {
	uint64_t run_ns; /* on a CPU */
	uint64_t wait_ns; /* runnable, waiting for one */
	uint64_t slices; /* times it was put on one */
};

/* A thread at the last stop that was accounted for. */
struct own {
	uint64_t seen_ns; /* that one; 0: there was none */
	struct cpu_use use; /* 0 slices: not known */
	uint64_t stopped_ns; /* the thread's counts by then */
	uint32_t let_go;
	uint64_t lost_ns; /* since the first one, to stops, this one not yet */
	struct cp_doubt doubt; /* about that */
};

/* The clock of a program: it runs while the threads that stop do something of their own. A
 * limit of so many calls a second is one by this clock: by any other, a program that
 * is slowed down enough by being traced never meets it. */
struct own_clock {
	uint64_t seen_ns; /* the last stop that was accounted for; 0: there was none */
	double ns;
};

/* A stop of a thread was seen, that was as `before` until then. */
void own_clock_advance(struct own_clock *clock, const struct own *before, const struct own *now);

/* A stop of a thread was seen. `idle`: it did nothing since it was let go. */
void own_account(struct tracer *tr, struct thread *t, uint64_t seen_ns, bool idle);

#endif
