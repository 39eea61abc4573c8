/* SPDX-License-Identifier: MIT
 *
 * On which CPU a thread is, and on which one we are.
 */
#ifndef CP_TRACER_CAPTURES_PLACE_H
#define CP_TRACER_CAPTURES_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/known/own.h"

struct thread;
struct tracer;

/* A tick begins: who is looked at, and whether an interrupt would do. */
void place_tick(struct tracer *tr);
/* `t` was given a CPU since it was last looked up on which one it is, if `use` says so. */
void place_look(struct tracer *tr, struct thread *t, const struct cpu_use *use);
/* False: it certainly was on no CPU when the clock ticked. */
bool place_may_run(const struct tracer *tr, const struct thread *t);
/* It is about to be interrupted for this tick. */
void place_interrupts(const struct tracer *tr, struct thread *t);
/* A stop for a sample is over, by which it had had `now`; `in_vain`: it was on no CPU. */
void place_stopped(struct thread *t, const struct cpu_use *now, bool in_vain);
/* Can it be interrupted where it is? If not, we shall go there. */
bool place_is_near(struct tracer *tr, struct thread *t);
/* It has stopped, and had had `now`; `in_call`: at the end of a system call. False: it may
 * not have been there when it was interrupted. */
bool place_counts(struct tracer *tr, struct thread *t, const struct cpu_use *now, bool in_call);
/* The tick is over: where to wait for the next one. */
void place_choose(struct tracer *tr);
/* Any CPU will do. */
void place_anywhere(struct tracer *tr);
/* Ticks that are needed in the place of one, as we can't be on two CPUs at once. */
uint32_t place_rounds(const struct tracer *tr);

#endif
