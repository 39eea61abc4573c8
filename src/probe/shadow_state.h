/* SPDX-License-Identifier: MIT
 *
 * What the shadow stack knows. Private to shadow*.c and shadow_plain.h.
 */
#ifndef CP_PROBE_SHADOW_STATE_H
#define CP_PROBE_SHADOW_STATE_H

#include "base/map.h"
#include "base/vec.h"
#include "probe/shadow.h"

struct cp_shadow_stack {
	CP_VEC(struct cp_call) calls;
	size_t indexed; /* so many of the outermost are in by_sp; of foreign stacks all */
	bool own; /* of a thread; else in shadow->foreign at `index` */
	size_t index;
	uint32_t number; /* see cp_shadow_create(); 0: own */
	uint64_t used; /* number of the last event on it */
	int32_t tid; /* whose event that was */
	int32_t host; /* within a frame of that thread's own stack; 0: of none */
	uint64_t root; /* where chains of callers on it end; 0: not known */
	/* Where its thread was when its outermost call was entered, if that goes on behind it;
	 * else NULL. It may have been given up since. */
	struct cp_shadow_stack *interrupted;
};

struct cp_shadow_thread {
	struct cp_shadow_stack own;
	bool behind; /* in shadow->behind */
	size_t within; /* stacks that are, in frames of it */
	struct cp_shadow_stack
		*last; /* where its last event was, unless it was given up; or NULL */
	bool tail; /* a call jumped away: the enter that follows at tail_sp is its target */
	uint64_t tail_sp;
};

struct cp_shadow {
	cp_call_end_fn end;
	void *ctx;
	struct cp_map threads; /* tid -> struct cp_shadow_thread * */
	struct cp_shadow_thread *last; /* of these, that was asked for last; or NULL */
	struct cp_map by_sp; /* sp -> struct cp_shadow_stack * */
	struct cp_map by_root; /* where chains end -> struct cp_shadow_stack * */
	CP_VEC(struct cp_shadow_thread *) behind; /* with calls that are not in by_sp yet */
	CP_VEC(struct cp_shadow_stack *) foreign, spare; /* a stack is freed at the end only */
	size_t open;
	uint64_t events;
	uint64_t gone; /* threads that were freed */
	uint32_t last_number; /* of a stack */
};

/* A caller on another stack, as that of a signal handler on a stack of its
 * own, is a caller, but no reason to put the call on that stack. */
#define CP_SHADOW_SAME_STACK (UINT64_C(1) << 20)

#endif
