/* SPDX-License-Identifier: MIT
 *
 * The tracer leaves.
 */
#ifndef CP_TRACER_LEAVE_H
#define CP_TRACER_LEAVE_H

struct tracer;

/* Serves the interrupts that are under way, so that nobody is left with one
 * that disturbs it, and takes out what is ours. */
void leave(struct tracer *tr);
/* Then it is gone. */
__attribute__((noreturn)) void leave_at_last(struct tracer *tr);

#endif
