/* SPDX-License-Identifier: MIT
 *
 * What a sample weighs, and how often it counts.
 */
#ifndef CP_TRACER_SAMPLE_H
#define CP_TRACER_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "link/link.h"

struct process;
struct thread;
struct tracer;

/* Puts weight and ticks on a sample of `t` that was just taken. False: the
 * sample does not count, because the thread was not on a CPU at the tick. */
bool sample_weigh(struct tracer *tr, struct thread *t, struct cp_event_sample *s);
/* The CPU time that samples stand for which nobody stopped `t` for, and which have been due
 * each after some of `periods_ns`. It is what the thread used since its last one, but not
 * too little: schedstat may be as old as a scheduler tick. The periods themselves are more
 * than that on a virtual machine, and are taken only where samples can't be of all
 * the thread's time (`only`). */
uint64_t sample_give(struct tracer *tr, struct thread *t, uint64_t periods_ns, bool only);
/* What is known of the time of a thread is told (wall clock). */
void sample_close(struct tracer *tr, struct thread *t);
/* Samples are taken no more: the same of all threads. */
void sample_pause(struct tracer *tr);
/* They are again: what threads did meanwhile is in none of them. */
void sample_resume(struct tracer *tr);
/* The process ends, or becomes another program: what its threads left waits for others of the
 * same program. */
void sample_program_end(struct tracer *tr, struct process *p);
/* Before that, of a thread that goes on in another program: what it used so far is the old
 * one's. */
void sample_exec(struct tracer *tr, struct thread *t);
void sample_thread_exit(struct tracer *tr, struct thread *t, uint64_t cpu_ns);
void sample_totals(struct tracer *tr);

#endif
