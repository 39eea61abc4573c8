/* SPDX-License-Identifier: MIT
 *
 * A stop ends: how the thread goes on, and what the stop took.
 */
#ifndef CP_TRACER_GO_H
#define CP_TRACER_GO_H

#include <stdint.h>

struct cp_event_sample;
struct thread;
struct tracer;

/* Lets a stopped thread run, with a signal that nobody looks at any more; 0: none. */
void go_on(struct thread *t, int signal);
/* From a stop of job control, in which it stays. */
void go_listen(struct thread *t);
/* With a signal of the program's own, which is about to be delivered. */
void go_with(struct tracer *tr, struct thread *t, int signal);
/* From a stop at which it may have been held with a signal. */
void go_resume(struct tracer *tr, struct thread *t);

/* Time that a thread was kept stopped, beside the stop itself: adds it up, and says how
 * much it is. */
uint64_t go_count_kept(struct tracer *tr, struct thread *t, uint64_t now);
/* A stop that took `ns`. */
void go_count(struct tracer *tr, struct thread *t, uint64_t ns);
/* What was asked for (WANT_*) at a stop that was seen at `seen_ns` is done: accounts for
 * it, and publishes the sample, if there is one. */
void go_finish(struct tracer *tr, struct thread *t, struct cp_event_sample *sample, unsigned want,
	       uint64_t seen_ns);

#endif
