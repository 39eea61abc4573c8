/* SPDX-License-Identifier: MIT
 *
 * Who blocks SIGTRAP.
 */
#ifndef CP_TRACER_SIGMASK_H
#define CP_TRACER_SIGMASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct injection;
struct thread;
struct tracer;

/* Before breakpoints come: nobody blocks SIGTRAP, but its stand-in, and whoever runs
 * is held, until the calls to block it go by way of our code. Then the same for
 * handlers. */
void sigmask_begin(struct tracer *tr, struct injection *in);
void sigmask_hold_others(struct tracer *tr, struct injection *in);
/* And who has woken up since. */
void sigmask_hold_woken(struct tracer *tr, struct injection *in);
void sigmask_let_others_run(struct tracer *tr, struct injection *in);
void sigmask_actions(struct tracer *tr, struct injection *in);
/* Calls to block SIGTRAP do not go by way of our code any more: who is held, but for the thread
 * at hand, blocks what it believes it does. */
void sigmask_change_back(struct tracer *tr, struct injection *in);
/* Handlers, and the thread at hand, block SIGTRAP again. */
void sigmask_end(struct injection *in);
/* Handlers, and all threads that may be stopped, block SIGTRAP again. */
void sigmask_end_all(struct tracer *tr, struct injection *in);
/* A stopped thread blocks the stand-in for SIGTRAP; the first only if there are
 * breakpoints. */
void sigmask_stand_in(struct thread *t);
void sigmask_change(struct thread *t);
/* Has the kernel unblocked SIGTRAP for the thread, at the first breakpoint that it came to? One
 * that was not held before blocks what it did, but for that. */
bool sigmask_was_taken(const struct thread *t, uint64_t mask);
/* Does it block something else than the program means? */
bool sigmask_is_to_give_back(const struct thread *t);
/* A stopped thread blocks SIGTRAP again, if it did; the other one: a process of which no more
 * is known than that its parent had a stand-in. */
void sigmask_give_back_to(struct thread *t);
void sigmask_give_back(pid_t tid);

#endif
