/* SPDX-License-Identifier: MIT
 *
 * System calls that were interrupted are made again.
 */
#ifndef CP_TRACER_RESTART_H
#define CP_TRACER_RESTART_H

#include <stdbool.h>
#include <stdint.h>

struct thread;
struct tracer;

/* At a stop that we caused: makes an interrupted system call start again.
 * `captured`: the thread's registers if they are at hand, or NULL. */
void restart_repair(struct tracer *tr, struct thread *t, const void *captured);
/* At the delivery of `signal`, which may be the program's own. */
void restart_signal(struct tracer *tr, struct thread *t, int signal);
/* At the signal by which the thread tells that a call was ended by one that another
 * thread took (finish_told()). */
void restart_told(struct tracer *tr, struct thread *t);
/* A call is over, for a signal that the program ignores and that another thread took: it is
 * made again, or a transfer finished. */
void restart_woken(struct tracer *tr, struct thread *t);
/* May it be interrupted where more depends on it than a time limit? One of that begins anew:
 * at most of some seconds. */
bool restart_is_bearable(int64_t nr, const unsigned long long args[6]);
/* The harm that it would do to interrupt a thread in system call `nr`: the less, the
 * better; 2: nothing, it starts again as if nothing had been. */
int restart_harm(int64_t nr, const unsigned long long args[6]);

#endif
