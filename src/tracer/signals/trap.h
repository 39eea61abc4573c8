/* SPDX-License-Identifier: MIT
 *
 * SIGTRAP, which is the program's and ours at the same time: its action (trap.c),
 * and who blocks it (sigmask.c). Private to src/tracer.
 */
#ifndef CP_TRACER_TRAP_H
#define CP_TRACER_TRAP_H

#include "tracer/memory/space.h"

/* trap.c */
/* Puts our SIGTRAP handler into the program, before the first breakpoint;
 * errno or 0. The thread that did it, if it had to be done, stays stopped until
 * trap_installed(). */
int trap_install(struct tracer *tr, struct space *space, struct injection *ret);
void trap_installed(struct tracer *tr, struct injection *in);
/* Before that, when calls that tell of SIGTRAP have got breakpoints: `in` is a thread
 * of the space's from then on, if it was none. */
void trap_watched(struct tracer *tr, struct space *space, struct injection *in);
/* The same in a copy of a space, whether it is there or not; errno or 0. */
int trap_renew(struct tracer *tr, struct injection *in);
/* For a process that shares the memory of one where it is there. */
void trap_set(struct tracer *tr, struct injection *in);
/* Takes out all breakpoints, and restores the program's own SIGTRAP action, if
 * ours is still there. False: it may be, no thread could be asked. */
bool trap_remove(struct tracer *tr, struct space *space);
/* Our handler, and what came with it, of a cprof that was killed: as trap_remove(), for
 * whatever a process is attached to. Its text was restored. */
void trap_take_out_left(struct tracer *tr, struct space *space);
/* A breakpoint of a killed cprof's that was hit before it was taken out: the thread
 * goes on in its slot, as that handler would have it. False: it is none. */
bool trap_of_left(struct thread *t);
/* Ignores SIGTRAP in a new program as the one before did; `t` is at its first
 * stop. */
void trap_ignore(struct tracer *tr, struct thread *t);
/* The kernel takes SIGTRAP's handler away when a breakpoint is hit while SIGTRAP
 * is blocked. Puts it back, and the mask, or puts what trap_watch() found that
 * it has to be; `t` is stopped at a hit and its registers are set. */
void trap_keep(struct tracer *tr, struct thread *t);
/* It may block SIGTRAP from now on. */
void trap_look(struct thread *t);
/* At a hit of a site with these CP_SITE_*: true when the registers are now
 * other ones. */
bool trap_watch(struct thread *t, unsigned site_flags, uint64_t *prstatus);
/* The program ignores SIGTRAP, though the kernel does not know. */
bool trap_ignored(const struct thread *t);
/* A SIGTRAP for a thread that has the stand-in blocked: one that somebody sent waits
 * from now on, another one will be the program's end. The thread stays stopped.
 * False: it does not block it. */
bool trap_is_blocked(struct tracer *tr, struct thread *t);
/* A thread was stopped once more at the end, and knows nothing of us any more. */
void trap_left(struct thread *t);
/* A SIGTRAP of the program's own is about to be delivered. */
void trap_delivered(struct thread *t);

/* sigmask.c */
/* Before breakpoints come: nobody blocks SIGTRAP, but its stand-in, and whoever runs
 * is held, until the calls to block it go by way of our code. Then the same for
 * handlers. */
void sigmask_begin(struct tracer *tr, struct injection *in);
void sigmask_hold_others(struct tracer *tr, struct injection *in);
void sigmask_let_others_run(struct tracer *tr, struct injection *in);
void sigmask_actions(struct tracer *tr, struct injection *in);
/* Handlers, and the thread at hand, block SIGTRAP again. */
void sigmask_end(struct tracer *tr, struct injection *in);
/* The same, and all other threads that may be stopped. */
void sigmask_end_all(struct tracer *tr, struct injection *in);
/* Of a stopped thread; the first one only where there are breakpoints. */
void sigmask_stand_in(const struct thread *t);
void sigmask_change(const struct thread *t);
void sigmask_give_back(pid_t tid);
/* Would it do no harm to stop the thread? */
bool sigmask_may_stop(struct tracer *tr, struct thread *t);
/* Writes the code for system calls about signals into an area. */
bool sigcall_place(const struct space *space, const struct area *area);
/* Jumps in the place of breakpoints, where that is safe; and breakpoints again. */
void sigcall_jump(const struct injection *in);
void sigcall_unjump(const struct space *space);
bool sigcall_jumps(const struct space *space, const struct site *site);
/* The site by way of which a thread came to that code; NULL: it is not there. Its
 * registers are put to before or behind the call, pc in *pc_ret. */
struct site *sigcall_site(const struct space *space, struct cp_regs *regs, uint64_t *pc_ret,
			  bool (*write)(void *ctx, uint64_t addr, const void *bytes, size_t size));

#endif
