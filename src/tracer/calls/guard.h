/* SPDX-License-Identifier: MIT
 *
 * Should we be killed in the middle of a call, the thread finds back by itself.
 */
#ifndef CP_TRACER_GUARD_H
#define CP_TRACER_GUARD_H

#include <stdint.h>

struct injection;
struct space;
struct tracer;

/* Looks through the program's code for what injections need: a `syscall`, of
 * the vdso if there is one, and what leads back from it (0 where none is). */
void guard_find_code(struct tracer *tr, struct space *space);
/* A breakpoint comes to `site`: if there is such code, other is looked for. */
void guard_avoid(struct space *space, uint64_t site);
/* Writes the frame below the stack of in->thread, whose registers and mask are
 * in *in, and sets in->guard where that can be done without harm. */
void guard_place(struct injection *in);
/* Its registers or mask in *in are others now: the frame gets them, where it is. Whatever
 * the old ones lead to (code that is unmapped) stays there until then. */
void guard_renew(const struct injection *in);
/* The thread has its registers again: nothing of the frame stays where its next calls have
 * their own, for who looks for return addresses there. */
void guard_clear(const struct injection *in);

#endif
