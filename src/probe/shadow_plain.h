/* SPDX-License-Identifier: MIT
 *
 * Open calls that are told by the million. Pure.
 */
#ifndef CP_PROBE_SHADOW_PLAIN_H
#define CP_PROBE_SHADOW_PLAIN_H

#include "probe/shadow_state.h"

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

/* Shows the thread's open calls on its own stack that were entered after `since_ns`, innermost
 * first, to who wants to change what the shadow stack does not know of them. */
void cp_shadow_recent(struct cp_shadow *shadow, int32_t tid, uint64_t since_ns,
		      void (*each)(void *ctx, struct cp_call *call), void *ctx);

/* ---- in the header, for who does it twenty million times a second ---- */

/* Has a stack that is no thread's own a call here? Its memory may be the thread's now. */
bool cp_shadow_is_anothers(const struct cp_shadow_own *own, uint64_t sp);
/* For one more call. False without memory. */
bool cp_shadow_make_room(const struct cp_shadow_own *own);

/* The innermost open call there; NULL: none is known. */
static inline const struct cp_call *cp_shadow_innermost(const struct cp_shadow_own *own)
{
	const struct cp_shadow_stack *stack = &own->thread->own;

	return stack->calls.count ? &stack->calls.items[stack->calls.count - 1] : NULL;
}

static inline uint32_t cp_shadow_depth_within(const struct cp_call *outer)
{
	return outer ? outer->depth + !(outer->flags & CP_CALL_HIDDEN) : 0;
}

/* Member by member: that is faster than to clear all of it before. */
static inline void cp_shadow_begin_plain(struct cp_call *call, const struct cp_call *outer)
{
	const uint32_t marks = CP_CALL_MARKS | CP_CALL_MARKED;

	call->function = 0;
	call->depth = cp_shadow_depth_within(outer);
	call->caller = 0;
	call->subject = NULL;
	call->enter_ns = 0;
	call->account = (struct cp_account){ 0 };
	call->flags = outer && outer->flags & marks ? CP_CALL_MARKED : 0;
	call->stack = 0;
	call->entered_tid = 0;
	call->entered_ns = 0;
	call->unsure = outer && outer->unsure;
	call->words[0] = call->words[1] = call->words[2] = 0;
	call->data = NULL;
}

/* Does an entry at `sp` neither end nor meet another call? `pushed`: as in struct
 * cp_shadow_at, or more. */
static inline bool cp_shadow_enters_plainly(const struct cp_shadow_own *own,
					    const struct cp_call *outer, uint64_t sp,
					    uint32_t pushed)
{
	return !own->thread->within && (!outer || outer->sp > ((sp + pushed) | CP_SHADOW_STUB)) &&
	       (!own->shadow->foreign.count || !cp_shadow_is_anothers(own, sp));
}

/* A call that is entered plainly and left before anything else of its thread happens: it
 * need not be pushed. */
static inline void cp_shadow_pass_plain(const struct cp_shadow_own *own, uint64_t sp,
					bool by_tail_call)
{
	struct cp_shadow_thread *t = own->thread;

	t->tail = by_tail_call;
	t->tail_sp = sp & ~(uint64_t)CP_SHADOW_STUB;
	t->last = &t->own;
}

/* As cp_shadow_enter() of a call on that stack that ends no other one. The caller fills in
 * what the shadow stack does not know, at once. NULL: it may end one, or there is no memory;
 * nothing was done. */
static inline struct cp_call *cp_shadow_enter_plain(const struct cp_shadow_own *own, uint64_t sp,
						    uint32_t pushed)
{
	struct cp_shadow_thread *t = own->thread;
	struct cp_shadow_stack *stack = &t->own;
	const struct cp_call *outer = cp_shadow_innermost(own);
	struct cp_call *call;

	if (!cp_shadow_enters_plainly(own, outer, sp, pushed) ||
	    ((!t->behind || stack->calls.count == stack->calls.capacity) &&
	     !cp_shadow_make_room(own)))
		return NULL;
	call = &stack->calls.items[stack->calls.count];
	cp_shadow_begin_plain(call, cp_shadow_innermost(own));
	stack->calls.count++;
	call->sp = sp;
	call->tid = own->tid;
	call->tail = t->tail && t->tail_sp == sp;
	t->tail = false;
	t->last = stack;
	own->shadow->open++;
	return call;
}

/* The call that an event at `sp` there would end, without ending any other and without
 * `data`; NULL: it is not as plain as that. */
static inline const struct cp_call *cp_shadow_leaves_plainly(const struct cp_shadow_own *own,
							     uint64_t sp)
{
	const struct cp_call *call = cp_shadow_innermost(own);

	if (!call || call->sp != sp || own->thread->within || call->data ||
	    (own->shadow->foreign.count && cp_shadow_is_anothers(own, sp)))
		return NULL;
	return call;
}

/* It ends, and `end` is not called. */
static inline void cp_shadow_leave_plain(const struct cp_shadow_own *own, bool by_tail_call)
{
	struct cp_shadow_thread *t = own->thread;
	struct cp_shadow_stack *stack = &t->own;
	uint64_t sp = stack->calls.items[--stack->calls.count].sp;

	if (stack->calls.count < stack->indexed) {
		cp_map_remove(&own->shadow->by_sp, sp);
		stack->indexed = stack->calls.count;
	}
	t->tail = by_tail_call;
	t->tail_sp = sp & ~(uint64_t)CP_SHADOW_STUB;
	t->last = stack;
	own->shadow->open--;
}

#endif
