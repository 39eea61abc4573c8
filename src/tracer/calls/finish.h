/* SPDX-License-Identifier: MIT
 *
 * Transfers that were cut short are finished by the program itself.
 */
#ifndef CP_TRACER_FINISH_H
#define CP_TRACER_FINISH_H

#include "tracer/known/state.h"

struct cp_syscall_state;
struct space;

/* A stop has ended a system call of `t`, or a signal that the program ignores:
 * if the call is to go on until all is done, the thread does the rest when it is
 * let go. `prstatus` are its registers. What can't be finished is counted. */
void finish_call(struct tracer *tr, struct thread *t, uint64_t *prstatus);
/* Would finish_call() look any further? `s` is what its registers say. */
bool finish_is_due(const struct thread *t, const struct cp_syscall_state *s);
/* A call that returned -EINTR is made again by our code, for what is left of its time
 * limit, if it is one that waits. `signal`, ignored, ended it; 0: something else. False:
 * it is not made so. */
bool finish_wait(struct tracer *tr, struct thread *t, int signal, uint64_t *prstatus);
/* Has the thread sent itself the signal, because a call in our code came to -EINTR? */
bool finish_told(const struct thread *t, int signal);
/* Is the thread in our code? */
bool finish_is_in(const struct thread *t, uint64_t pc);
/* A signal that the program gets comes to a thread that may be in our code: the
 * call ends, with what was done by now, as it would have without us. */
void finish_leave(struct thread *t);
/* For others to see: a thread in our code is behind its call. */
void finish_hide(const struct thread *t, void *prstatus);
uint64_t finish_hide_pc(const struct thread *t, uint64_t pc);

/* Looks for code that an earlier cprof left in a space that is attached. */
void finish_adopt(struct space *space);
/* A child has its parent's; false without memory. */
bool finish_copy(struct space *to, const struct space *from);

#endif
