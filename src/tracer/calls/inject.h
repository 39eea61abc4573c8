/* SPDX-License-Identifier: MIT
 *
 * System calls by a thread of the program.
 */
#ifndef CP_TRACER_INJECT_H
#define CP_TRACER_INJECT_H

#include "tracer/memory/space.h"

struct tids {
	pid_t *items;
	size_t count, capacity;
};

struct injection {
	struct thread *thread;
	struct space *space;
	bool stays; /* stopped, after it too: it was held, or the caller lets it go */
	bool inside; /* still in the exit stop of its last call */
	bool filtered; /* a filter of system calls is suspended until it ends */
	uint64_t regs[PRSTATUS_MAX / 8];
	uint64_t mask;
	struct tids others; /* held still with it (signals/sigmask.c); items owned */
	unsigned running; /* others that could not be */
	unsigned unseen; /* of those, who never was */
	uint64_t guard; /* sp at which a signal frame leads back to `regs` (guard.c); 0: none */
	uint64_t guard_below; /* where the stack was, when that was written */
};

/* With a thread that is stopped, at a breakpoint or elsewhere; it stays stopped. */
bool inject_here(struct tracer *tr, struct thread *t, struct injection *ret);
/* Makes in->thread, which stands where signals are handled, ready for calls. */
bool inject_prepare(struct injection *in);
/* The thread has that mask afterwards, also if we are killed. */
void inject_set_mask(struct injection *in, uint64_t mask);
/* The result as the kernel returns it: -errno, or a value. */
int64_t inject_call(struct injection *in, int64_t nr, const uint64_t args[6]);
/* A filter of system calls that was suspended applies again: for who begins nothing after all. */
void inject_filter_again(struct tracer *tr, const struct injection *in);
/* The thread is as it was, and stays stopped. */
void inject_end(struct tracer *tr, struct injection *in);
/* The signal of a thread's stop becomes pending again; it has to be blocked in
 * `mask`, which the thread gets. It stays stopped. */
bool inject_requeue(struct thread *t, int signal, uint64_t mask);

#endif
