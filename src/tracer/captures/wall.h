/* SPDX-License-Identifier: MIT
 *
 * What samples of the wall clock weigh.
 */
#ifndef CP_TRACER_WALL_H
#define CP_TRACER_WALL_H

#include <stdbool.h>
#include <stdint.h>

#include "link/link.h"
#include "tracer/known/own.h"

struct thread;
struct tracer;

/* The time of `t` counts from now on, when it had had `use`. */
void wall_begin(struct thread *t, const struct cpu_use *use);
/* `t` has stopped, and a sample of it is about to be taken. */
void wall_stopped(struct tracer *tr, struct thread *t);
/* The same of one that sleeps, as it has since it had `use`. */
void wall_asleep(struct tracer *tr, struct thread *t, const struct cpu_use *use);
/* Ticks and, unless `running`, the weight of such a sample; of what runs, that is its CPU
 * time, which others know (sample.c). */
void wall_weigh(struct thread *t, struct cp_event_sample *s, bool running);
/* It was published. */
void wall_published(struct tracer *tr, struct thread *t);
/* What is known of a thread that sleeps becomes a repeat of its last sample. */
void wall_flush(struct tracer *tr, struct thread *t, uint64_t now);
/* The same of any thread, of which no samples follow. */
void wall_end(struct tracer *tr, struct thread *t, const struct cpu_use *use);

#endif
