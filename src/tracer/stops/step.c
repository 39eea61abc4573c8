/* SPDX-License-Identifier: MIT
 *
 * What stands in code of ours for an instruction of the program's (a slot, a detour with the
 * jumps that lead there, a call that is finished) is as many steps as it has instructions. A
 * signal is delivered to the program outside of that, and leads a thread that is not done
 * with it back to where it begins. A step's would do so each time, for ever. So the program
 * gets to know of the step that is the first one outside again, which is the one that it
 * would have seen without us.
 */
#include "tracer/stops/step.h"

#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>

#include "arch/arch.h"
#include "tracer/calls/finish.h"
#include "tracer/known/proc.h"
#include "tracer/known/regs.h"
#include "tracer/memory/unslot.h"

static bool is_ours(const struct thread *t, uint64_t *prstatus)
{
	struct cp_syscall_state is, seen;

	cp_arch_syscall_state(prstatus, &is);
	finish_hide(t, prstatus);
	unslot_regs(t, prstatus);
	cp_arch_syscall_state(prstatus, &seen);
	return seen.pc != is.pc;
}

bool step_goes_on(const struct thread *t, int signal)
{
	uint64_t prstatus[PRSTATUS_MAX / 8];
	siginfo_t si;

	return signal == SIGTRAP && !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) &&
	       si.si_code == TRAP_TRACE && regs_read(t->tid, prstatus) && is_ours(t, prstatus);
}
