/* SPDX-License-Identifier: MIT
 *
 * Captures: registers and a piece of the stack, straight into the ring.
 */
#ifndef CP_TRACER_CAPTURE_H
#define CP_TRACER_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "link/link.h"

struct thread;
struct tracer;

/* Captures a stopped thread, for what is wanted; capture_finish() publishes it, after it was let go. */
struct cp_event_sample *capture_stopped(struct tracer *tr, struct thread *t, unsigned want);
/* What was copied of a thread that was not stopped for it: borrowed. */
struct capture_copy {
	uint64_t ts_ns, weight_ns;
	const void *prstatus;
	uint64_t sp;
	const void *stack; /* from sp on */
	size_t stack_size; /* of which no more is told than the last walk had use for */
};
/* False: there is no room for it, which is counted. */
bool capture_copied(struct tracer *tr, struct thread *t, const struct capture_copy *copy);
/* Did the last walk find that the thread's stack is longer than the `size` bytes that were
 * copied from `sp` on, where `most` are, or that it is a signal handler's and leads from
 * there to another one? */
bool capture_is_cut(const struct tracer *tr, const struct thread *t, uint64_t sp, size_t size,
		    size_t most);
/* Is there room in the ring for a sample? */
bool capture_has_room(const struct tracer *tr);
/* Its registers as they really are; NULL without, and where slots are hidden in it. */
const void *capture_regs(const struct thread *t, const struct cp_event_sample *s);
void capture_finish(struct tracer *tr, struct thread *t, struct cp_event_sample *s, unsigned want);
/* The stack pointer of a new thread; 0: it is gone. One that shares its process with
 * others starts at the end of its stack: what is captured of it goes up to there. */
uint64_t capture_birth(struct tracer *tr, const struct thread *t);
/* The stack pointer of a forked process at its first stop; 0: it was given a stack of
 * its own, or is not its parent's child. */
uint64_t capture_fork(pid_t pid);
/* Captures a blocked thread without stopping it; false when it began to run. */
bool capture_blocked(struct tracer *tr, struct thread *t, unsigned want);
/* A walk has found the thread on an alternate signal stack since its last capture. */
bool capture_has_new_link(const struct tracer *tr, const struct thread *t);
bool capture_has_link(const struct tracer *tr, const struct thread *t);
/* Copies a piece of a stopped thread's stack from below its red zone on, up to
 * tr->stack_max bytes; returns how many, *base_ret where they begin. */
uint32_t capture_stack(struct tracer *tr, struct thread *t, uint64_t sp, void *to,
		       uint64_t *base_ret);

#endif
