/* SPDX-License-Identifier: MIT
 *
 * Calls of who is woken by an ignored signal that another thread takes.
 */
#ifndef CP_TRACER_WATCH_H
#define CP_TRACER_WATCH_H

#include "tracer/known/state.h"

/* `signal` is about to be delivered to `t`. */
void watch_signal(struct tracer *tr, struct thread *t, int signal);
/* `t` was woken by `signal`, which the program ignores: its next calls are watched. */
void watch_calls(struct thread *t, int signal);
void watch_end(struct thread *t);
/* At a stop at the border of a system call of a thread that is watched. True: it is about to
 * get a signal, if no other thread goes on first. */
bool watch_border(struct tracer *tr, struct thread *t);

#endif
