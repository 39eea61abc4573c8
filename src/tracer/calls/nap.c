/* SPDX-License-Identifier: MIT
 *
 * Calls with a time limit that are interrupted, more than once.
 */
#include "tracer/calls/nap.h"

#include <sys/syscall.h>

#define RESTART_BLOCK (-516) /* the kernel's code: by restart_syscall, for what is left */

void nap_note(struct thread *t, const struct cp_syscall_state *s)
{
	if (s->result == RESTART_BLOCK && s->nr >= 0 && s->nr != SYS_restart_syscall)
		t->nap = (struct nap){ s->nr, s->pc, s->sp };
}

void nap_anew(const struct thread *t, void *regs)
{
	struct cp_syscall_state s;

	cp_arch_syscall_state(regs, &s);
	if (s.result == RESTART_BLOCK && s.nr == SYS_restart_syscall && s.pc == t->nap.pc &&
	    s.sp == t->nap.sp)
		cp_arch_syscall_rewind(regs, t->nap.nr);
}
