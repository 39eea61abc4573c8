/* SPDX-License-Identifier: MIT
 *
 * Open calls that a forked process has of its parent, and all of them for who looks. Pure.
 */
#ifndef CP_PROBE_SHADOW_FORK_H
#define CP_PROBE_SHADOW_FORK_H

#include "probe/shadow.h"

/* The thread whose last event was on the stack, not a thread's own, that `sp` lies on; 0:
 * there is no such stack. */
int32_t cp_shadow_who(const struct cp_shadow *shadow, uint64_t sp);
/* A process was forked by thread `by` of `from`, on its own stack (0: on another one),
 * where its stack pointer was `sp`. The calls that are open there, and on stacks that no
 * other thread was on, go on in thread `tid`, which has none so far: each is shown to
 * `inherit`, outermost first, which makes it this process's (false: leaves it out).
 * False: who forked has none, or there is no memory. */
typedef bool (*cp_call_inherit_fn)(void *ctx, struct cp_call *call);
bool cp_shadow_inherit(struct cp_shadow *shadow, int32_t tid, const struct cp_shadow *from,
		       int32_t by, uint64_t sp, cp_call_inherit_fn inherit);
/* Shows all open calls, stack by stack, outermost first. */
void cp_shadow_each(const struct cp_shadow *shadow, void (*each)(void *ctx, const struct cp_call *),
		    void *ctx);

#endif
