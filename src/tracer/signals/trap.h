/* SPDX-License-Identifier: MIT
 *
 * SIGTRAP's action, which is the program's and ours at the same time.
 */
#ifndef CP_TRACER_TRAP_H
#define CP_TRACER_TRAP_H

#include <stdbool.h>
#include <stdint.h>

struct injection;
struct space;
struct thread;
struct tracer;

/* Puts our SIGTRAP handler into the program, before the first breakpoint;
 * errno or 0. The thread that did it, if it had to be done, stays stopped until
 * trap_installed(). */
int trap_install(struct tracer *tr, struct space *space, struct injection *ret);
void trap_installed(struct tracer *tr, struct injection *in);
/* Between the two, before calls about signals get their breakpoints: who runs is held, so
 * that jumps may take their place (memory/sigcall.h). `in` is a thread of the space's from then
 * on, if it was none. False: somebody runs. */
bool trap_hold(struct tracer *tr, struct space *space, struct injection *in);
/* Puts the handler into a copy of a space, whether it is there or not; errno or 0. */
int trap_renew(struct injection *in);
/* For a process that shares the memory of one where it is there. */
void trap_set(struct injection *in);
/* Takes out all breakpoints, and restores the program's own SIGTRAP action, if
 * ours is still there. False: it may be, no thread could be asked, or one that may be in
 * the code of detours does not stop. */
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
/* The thread may block SIGTRAP from now on. */
void trap_look(struct thread *t);
/* At a hit of a site with these CP_SITE_*: true when the registers are now
 * other ones. */
bool trap_watch(struct thread *t, unsigned site_flags, uint64_t *prstatus);
/* A SIGTRAP for a thread that has the stand-in blocked: one that somebody sent waits
 * from now on, another one will be the program's end. The thread stays stopped.
 * False: it does not block it. */
bool trap_is_blocked(struct tracer *tr, struct thread *t);
/* A thread was stopped once more at the end, and knows nothing of us any more. */
void trap_left(struct thread *t);
/* A SIGTRAP of the program's own is about to be delivered. */
void trap_delivered(struct thread *t);

#endif
