/* SPDX-License-Identifier: MIT
 *
 * Open calls that are told by the million. Pure.
 */
#ifndef CP_PROBE_SHADOW_PLAIN_H
#define CP_PROBE_SHADOW_PLAIN_H

#include "probe/shadow.h"

/* A thread's own stack, in the caller's hands; begins as zeros. */
struct cp_shadow_own {
	struct cp_shadow *shadow;
	struct cp_shadow_thread *thread;
	int32_t tid;
	uint64_t gone;
};

/* Finds the thread's, unless `own` is it already: to be called again after anything else was
 * done in the shadow. False without memory. */
bool cp_shadow_own(struct cp_shadow *shadow, int32_t tid, struct cp_shadow_own *own);
/* The innermost open call there; NULL: none is known. */
const struct cp_call *cp_shadow_innermost(const struct cp_shadow_own *own);
/* As cp_shadow_enter() of a call on that stack that ends no other one. The caller fills in
 * what the shadow stack does not know, at once. NULL: it may end one, or there is no memory;
 * nothing was done. */
struct cp_call *cp_shadow_enter_plain(const struct cp_shadow_own *own, uint64_t sp);
/* The call that an event at `sp` there would end, without ending any other and without
 * `data`; NULL: it is not as plain as that. */
const struct cp_call *cp_shadow_leaves_plainly(const struct cp_shadow_own *own, uint64_t sp);
/* It ends, and `end` is not called. */
void cp_shadow_leave_plain(const struct cp_shadow_own *own, bool by_tail_call);

#endif
