/* SPDX-License-Identifier: MIT
 *
 * Calls with a time limit that are interrupted. The kernel goes on with what is left of the
 * time by restart_syscall, and registers no longer say which call that stands for.
 */
#ifndef CP_TRACER_NAP_H
#define CP_TRACER_NAP_H

#include "arch/arch.h"
#include "tracer/known/state.h"

/* At a stop, whatever the thread was doing. */
void nap_note(struct thread *t, const struct cp_syscall_state *s);
/* Registers that a signal frame is to lead the thread back to: where it was interrupted twice
 * in such a call, they make that call anew. A return from a signal has the kernel forget how
 * much was left, and restart_syscall would be EINTR. */
void nap_anew(const struct thread *t, void *regs);

#endif
