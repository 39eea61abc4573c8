/* SPDX-License-Identifier: MIT
 *
 * Interrupts that are under way, and what stops a thread shall have.
 */
#ifndef CP_TRACER_INTERRUPT_H
#define CP_TRACER_INTERRUPT_H

#include <stdbool.h>

struct thread;
struct tracer;

/* PTRACE_O_* for a thread; a group's leader has one more. */
long interrupt_options(const struct tracer *tr, bool leader);
/* Interrupts a thread so that it is captured at its next stop. */
void interrupt_thread(struct tracer *tr, struct thread *t, unsigned want);
/* Forgets interrupts that were served or whose threads are gone. */
void interrupt_forget(struct tracer *tr);

#endif
