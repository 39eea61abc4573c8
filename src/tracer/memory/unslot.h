/* SPDX-License-Identifier: MIT
 *
 * Where a thread that is in a slot is as others see it.
 */
#ifndef CP_TRACER_UNSLOT_H
#define CP_TRACER_UNSLOT_H

#include <stdbool.h>
#include <stdint.h>

struct cp_regs;
struct space;
struct thread;

/* A signal is about to be delivered to a thread that may be in a slot: puts its
 * registers to where it really is. */
void unslot_thread(struct thread *t);
/* Puts a copy of its registers, or a pc, to where the thread really is, for others to
 * see. */
void unslot_regs(const struct thread *t, void *prstatus);
uint64_t unslot_pc(const struct thread *t, uint64_t pc);

/* A stopped thread that makes a system call by way of our code (memory/sigcall.h) is before it, at
 * the site, or behind it; nothing else of it changes. The other one: the same for registers that
 * are kept elsewhere; true: they changed. */
void unslot_sigcall(struct thread *t);
bool unslot_sigcall_regs(struct space *space, struct cp_regs *regs);

#endif
