/* SPDX-License-Identifier: MIT
 *
 * Who is asked for system calls: a thread of the program is stopped for them, and then
 * goes on as if nothing had happened.
 */
#ifndef CP_TRACER_ASK_H
#define CP_TRACER_ASK_H

#include <stdbool.h>
#include <sys/types.h>

struct injection;
struct space;
struct thread;
struct tracer;

/* Has a thread at a stop of an interrupt, which may be under way; NULL: not in time,
 * or gone. */
struct thread *ask_stop(struct tracer *tr, pid_t tid, bool interrupted);
void ask_let_run(struct tracer *tr, struct thread *t);
/* Would it do no harm to stop the thread? */
bool ask_may_stop(struct tracer *tr, struct thread *t);
/* Stops a thread of the space where it can do system calls for us; errno or 0. */
int ask_begin(struct tracer *tr, struct space *space, struct injection *ret);
void ask_end(struct tracer *tr, struct injection *in);

#endif
