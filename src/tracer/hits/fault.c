/* SPDX-License-Identifier: MIT
 *
 * An instruction failed in a program whose coverage is measured.
 *
 *     block   counted here           what follows was not reached,
 *       mov   (%rax),%edx  ◄─ SIGSEGV    this time
 *       add   $1,%ecx
 *
 * Blocks are counted where they begin. So the controller is told where one was left,
 * once for each instruction in a process, and the thread is held with its signal
 * until there is a site behind it. A program that lives on faults (of a collector's,
 * of code made at run time) pays for the first one of each instruction.
 */
#include "tracer/hits/fault.h"

#include <signal.h>
#include <sys/ptrace.h>

#include "link/coverage.h"
#include "tracer/known/again.h"
#include "tracer/known/emit.h"
#include "tracer/known/regs.h"
#include "tracer/memory/space.h"
#include "tracer/memory/unslot.h"

/* In a process: code that was made at run time may have any number. */
#define FAULTS_MAX 4096

/* The instruction at the pc failed, and nobody sent the signal. */
static bool is_fault(pid_t tid, int signal)
{
	siginfo_t si;

	return (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL) &&
	       !ptrace(PTRACE_GETSIGINFO, tid, 0, &si) && si.si_code > 0 &&
	       !(signal == SIGBUS && si.si_code == BUS_MCEERR_AO);
}

/* True the first time. */
static bool is_new(struct tracer *tr, struct space *space, uint64_t pc)
{
	if (cp_map_get(&space->faults, pc))
		return false;
	if (space->faults.count >= FAULTS_MAX) {
		tr->link->shared->stats.faults_untold++;
		return false;
	}
	return cp_map_put(&space->faults, pc, 1);
}

bool fault_tell(struct tracer *tr, struct thread *t, int signal, uint64_t seen_ns)
{
	struct cp_event_fault e = {
		.e = { .type = CP_EVENT_FAULT,
		       .ts_ns = seen_ns,
		       .pid = t->process->pid,
		       .tid = t->tid },
		.entered = t->entered,
	};
	uint64_t prstatus[PRSTATUS_MAX / 8];
	struct space *space = t->process->space;
	struct cp_syscall_state s;
	struct cp_regs regs;

	if (tr->ending || t->process->guest || !is_fault(t->tid, signal) ||
	    !regs_read(t->tid, prstatus))
		return false;
	unslot_regs(t, prstatus);
	cp_arch_syscall_state(prstatus, &s);
	e.pc = s.pc;
	if (!is_new(tr, space, e.pc))
		return false;
	/* A block may be counted on the way of a jump to it (detour/points.h): when its handler
	 * goes back there, a breakpoint stands in its place, as it does for detours that fail. */
	cp_arch_regs_from_prstatus(prstatus, &regs);
	if (space->code.count && !space_any_armed(space, space_site(space, e.pc)))
		again_expect_changed(t, &regs);
	emit_event(tr, &e.e, sizeof(e));
	return true;
}
