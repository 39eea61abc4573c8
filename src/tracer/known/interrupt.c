/* SPDX-License-Identifier: MIT
 *
 * Interrupts that are under way, and what stops a thread shall have.
 */
#include "tracer/known/interrupt.h"

#include <sys/ptrace.h>

#include "base/log.h"
#include "tracer/known/lookup.h"
#include "tracer/known/state.h"

/* Exits are awaited at a thread group's leader: at its exit stop the memory of
 * the process can still be read. At others only where somebody asked. */
long interrupt_options(const struct tracer *tr, bool leader)
{
	long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;

	/* A child that is not followed has to be freed of breakpoints. */
	if (tr->trace_flags & (CP_TRACE_FOLLOW | CP_TRACE_PROBES))
		options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	if (leader || tr->trace_flags & CP_TRACE_EXITS)
		options |= PTRACE_O_TRACEEXIT;
	return options;
}

void interrupt_thread(struct tracer *tr, struct thread *t, unsigned want)
{
	bool waiting = t->want != 0;

	if (t->state == THREAD_HELD)
		return;
	if (!waiting) {
		if (ptrace(PTRACE_INTERRUPT, t->tid, 0, 0))
			return;
		if (!cp_vec_push(&tr->wanted, t->tid))
			cp_debug("no memory to remember an interrupt");
	}
	t->want |= want;
}

void interrupt_forget(struct tracer *tr)
{
	size_t i = 0;

	while (i < tr->wanted.count) {
		const struct thread *t = thread_find(tr, tr->wanted.items[i]);

		if (t && t->want)
			i++;
		else
			tr->wanted.items[i] = tr->wanted.items[--tr->wanted.count];
	}
}
