/* SPDX-License-Identifier: MIT
 *
 * Captures, and who takes them: the clock's ticks and snapshots. Private to
 * src/tracer.
 */
#ifndef CP_TRACER_SAMPLING_H
#define CP_TRACER_SAMPLING_H

#include "tracer/known/state.h"

struct cp_event_hit;
struct site;

/* capture.c */
/* Of a stopped thread; capture_finish() publishes it, after it was let go. */
struct cp_event_sample *capture_stopped(struct tracer *tr, struct thread *t);
/* Is there room in the ring for a sample? */
bool capture_has_room(const struct tracer *tr);
/* Its registers; NULL without. */
const void *capture_regs(const struct cp_event_sample *s);
void capture_finish(struct tracer *tr, struct thread *t, struct cp_event_sample *s, unsigned want);
/* A new thread starts at the end of its stack: remembers where that is. */
void capture_birth(struct tracer *tr, struct thread *t);
/* The stack pointer of a forked process at its first stop; 0: it was given a stack of
 * its own, or is not its parent's child. */
uint64_t capture_fork(pid_t pid);
/* Of a blocked thread, without stopping it; false when it began to run. */
bool capture_blocked(struct tracer *tr, struct thread *t, unsigned want);
/* A walk has found it on an alternate signal stack since its last capture. */
bool capture_has_new_link(const struct tracer *tr, const struct thread *t);
bool capture_has_link(const struct tracer *tr, const struct thread *t);
/* Copies a piece of a stopped thread's stack from below its red zone on, up to
 * tr->stack_max bytes; returns how many, *base_ret where they begin. */
uint32_t capture_stack(struct tracer *tr, struct thread *t, uint64_t sp, void *to,
		       uint64_t *base_ret);

/* opens.c */
/* Keeps account of the calls that are open on the thread's own stack. True: it takes a
 * walk to tell on which stack the hit is. */
bool opens_see(const struct tracer *tr, struct space *space, struct thread *t,
	       const struct site *site, const struct cp_event_hit *e);

/* sample.c */
void sample_start(struct tracer *tr, const struct cp_request *rq);
/* Puts weight and ticks on a sample of `t` that was just taken. False: the
 * sample does not count, because the thread was not on a CPU at the tick. */
bool sample_weigh(struct tracer *tr, struct thread *t, struct cp_event_sample *s);
/* Writes the repeats of a thread that has not run (wall clock). */
void sample_flush_thread(struct tracer *tr, struct thread *t, uint64_t now);
void sample_flush(struct tracer *tr, uint64_t now);
void sample_thread_exit(struct tracer *tr, struct thread *t, uint64_t cpu_ns);
void sample_totals(struct tracer *tr);

/* tick.c */
void tick_plan(struct tracer *tr, uint64_t after_ns);
void tick(struct tracer *tr, uint64_t now);
/* Has the thread looked at for at least that many ticks. */
void tick_activate(struct thread *t, unsigned looks);
void tick_deactivate(struct thread *t);

/* snapshot.c */
/* An errno, or 0. */
int snapshot_start(struct tracer *tr, const struct cp_request *rq);
void snapshot_check(struct tracer *tr, uint64_t now);
/* True: a thread that stopped for it stays so (HELD) until it is captured. */
bool snapshot_park(struct tracer *tr, const struct thread *t, unsigned want, uint64_t seen_ns);
/* True while it has more to do than to wait for a few threads. */
bool snapshot_waits(const struct tracer *tr);
/* Captures the parked threads and lets them go, as far as there is room. */
void snapshot_unpark(struct tracer *tr);

#endif
