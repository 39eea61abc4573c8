/* SPDX-License-Identifier: MIT
 *
 * Hits that come again: what was told already was not done yet when a signal's handler was
 * led in between, and is come to once more when that has returned, with all registers as
 * they were. A handler that does not return leaves a note that says nothing any more:
 * another call has other registers, and once the thread is as far up its stack again, it
 * does not come.
 */
#ifndef CP_TRACER_AGAIN_H
#define CP_TRACER_AGAIN_H

#include "tracer/known/state.h"

struct cp_regs;

/* The thread goes to a handler from where it has these registers. */
void again_expect(struct thread *t, const struct cp_regs *regs);
/* The same, if that changes them. */
void again_expect_changed(struct thread *t, const struct cp_regs *regs);
/* It has come to a hit, with these: was that told before? */
bool again_came(struct thread *t, uint64_t pc, const struct cp_regs *regs);

#endif
