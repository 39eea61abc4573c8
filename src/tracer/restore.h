/* SPDX-License-Identifier: MIT
 *
 * Taking out the breakpoints of a tracer that was killed. Nothing needs to be
 * traced or stopped for it; until it is done, the handler in the program sends
 * threads to their slots. Areas and handler stay: threads may be in them.
 */
#ifndef CP_TRACER_RESTORE_H
#define CP_TRACER_RESTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Puts the original bytes back wherever an area of `pid` names a site and the
 * breakpoint still stands there. *restored_ret (NULL allowed): how many. Jumps
 * stay with the handler that they keep, if it is there. */
CP_ERROR cp_restore_text(pid_t pid, size_t *restored_ret);

/* Puts the original bytes back through a descriptor of the memory, open for reading and
 * writing: of breakpoints; and of jumps, too, when the handler is not needed any more, or
 * while nobody runs (`still`), when no breakpoint takes their place in between. */
size_t cp_restore_traps(pid_t pid, int mem);
size_t cp_restore_memory(pid_t pid, int mem, bool still);

/* The jumps of detours, all of them: while nobody runs, or stands at one. Those that do no
 * harm go with the breakpoints. */
size_t cp_restore_windows(pid_t pid, int mem);

/* The slot of a site in an area that was left, or only of a place for a jump (`window`);
 * 0: it is none. */
uint64_t cp_restore_slot(pid_t pid, int mem, uint64_t site, bool window);

/* Is `pc` in code of detours that was left? Who is may come to a breakpoint there. */
bool cp_restore_inside(pid_t pid, int mem, uint64_t pc);

/* Nobody reads the rings that were left: no code of detours stops for that. */
void cp_restore_rings(pid_t pid, int mem);

/* All that was left by now is taken out, and nobody is in the code of its detours. What
 * another one leaves in the same places is not taken for it. */
void cp_restore_end(pid_t pid, int mem);

/* The area whose handler the kernel of `pid` has, left by a tracer that was killed;
 * 0: none. */
uint64_t cp_restore_handler(pid_t pid, int mem);

/* Switches off the annotations whose root is at `root`, if one is there. */
void cp_restore_annotations(pid_t pid, uint64_t root);

/* Is `now` the jump, or the breakpoint that it begins and ends as? */
bool cp_sigcall_jumps(const uint8_t *jump, const uint8_t *now);
/* The jump at a site becomes the first byte of the breakpoint that it was, and the
 * bytes behind it what they were; or, while nobody runs, all of the instruction; `now` is
 * what stands there. False: it is none. */
bool cp_sigcall_unjump(int mem, uint64_t site, const uint8_t *jump, const uint8_t *now,
		       const uint8_t *original, bool still);

#endif
