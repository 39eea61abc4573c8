/* SPDX-License-Identifier: MIT
 *
 * Calls that millions a second are told of: entered below all others of their thread's own
 * stack, left as the innermost one. They end nothing but themselves, so neither is anything
 * looked for, nor are they put into the index by stack pointer: the next event that needs
 * it does that (shadow.c), and most calls are over by then.
 */
#include "probe/shadow_plain.h"

#include "probe/shadow_state.h"

bool cp_shadow_own(struct cp_shadow *s, int32_t tid, struct cp_shadow_own *own)
{
	if (own->shadow == s && own->tid == tid && own->gone == s->gone)
		return true;
	*own = (struct cp_shadow_own){ s, cp_shadow_thread_of(s, tid), tid, s->gone };
	if (!own->thread)
		own->shadow = NULL;
	return own->thread;
}

/* Has a stack that is no thread's own a call here? Its memory may be the thread's now. */
static bool is_anothers(const struct cp_shadow *s, const struct cp_shadow_stack *own, uint64_t sp)
{
	const uint64_t *at = cp_map_get(&s->by_sp, sp);

	if (!at)
		at = cp_map_get(&s->by_sp, sp | CP_SHADOW_STUB);
	return at && (const struct cp_shadow_stack *)(uintptr_t)*at != own;
}

static struct cp_call *innermost(const struct cp_shadow_stack *stack)
{
	return stack->calls.count ? &stack->calls.items[stack->calls.count - 1] : NULL;
}

const struct cp_call *cp_shadow_innermost(const struct cp_shadow_own *own)
{
	return innermost(&own->thread->own);
}

/* Member by member: that is faster than to clear all of it before. */
static void begin(struct cp_call *call, const struct cp_call *outer)
{
	const uint32_t marks = CP_CALL_MARKS | CP_CALL_MARKED;

	call->function = 0;
	call->depth = outer ? outer->depth + !(outer->flags & CP_CALL_HIDDEN) : 0;
	call->caller = 0;
	call->subject = NULL;
	call->enter_ns = 0;
	call->account = (struct cp_account){ 0 };
	call->flags = outer && outer->flags & marks ? CP_CALL_MARKED : 0;
	call->entered_tid = 0;
	call->entered_ns = 0;
	call->unsure = outer && outer->unsure;
	call->words[0] = call->words[1] = call->words[2] = 0;
	call->data = NULL;
}

struct cp_call *cp_shadow_enter_plain(const struct cp_shadow_own *own, uint64_t sp)
{
	struct cp_shadow *s = own->shadow;
	struct cp_shadow_thread *t = own->thread;
	struct cp_shadow_stack *stack = &t->own;
	const struct cp_call *outer = innermost(stack);
	struct cp_call *call;

	if (t->within || (outer && outer->sp <= (sp | CP_SHADOW_STUB)) ||
	    (s->foreign.count && is_anothers(s, stack, sp)) ||
	    !cp_vec_reserve(&stack->calls, stack->calls.count + 1))
		return NULL;
	if (!t->behind && !cp_vec_push(&s->behind, t))
		return NULL;
	t->behind = true;
	outer = innermost(stack);
	call = &stack->calls.items[stack->calls.count++];
	begin(call, outer);
	call->sp = sp;
	call->tid = own->tid;
	call->tail = t->tail && t->tail_sp == sp;
	t->tail = false;
	t->last = stack;
	s->open++;
	return call;
}

const struct cp_call *cp_shadow_leaves_plainly(const struct cp_shadow_own *own, uint64_t sp)
{
	const struct cp_shadow_thread *t = own->thread;
	const struct cp_call *call = innermost(&t->own);

	if (!call || call->sp != sp || t->within || call->data ||
	    (own->shadow->foreign.count && is_anothers(own->shadow, &t->own, sp)))
		return NULL;
	return call;
}

void cp_shadow_leave_plain(const struct cp_shadow_own *own, bool by_tail_call)
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
