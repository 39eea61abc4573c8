/* SPDX-License-Identifier: MIT */
#include "probe/shadow_fork.h"

#include "probe/shadow_state.h"

/* Was another thread on it than the one that forked? */
static bool is_anothers(const struct cp_shadow *s, const struct cp_shadow_stack *stack, int32_t by)
{
	const struct cp_shadow_thread *t = cp_shadow_thread_find(s, stack->tid);

	return stack->tid != by && t && t->last == stack;
}

int32_t cp_shadow_who(const struct cp_shadow *s, uint64_t sp)
{
	const struct cp_call *top;
	int32_t tid = 0;
	size_t i;

	for (i = 0; i < s->foreign.count && !tid; i++) {
		top = cp_shadow_top_of(s->foreign.items[i]);
		if (top && top->sp >= sp && top->sp - sp < CP_SHADOW_SAME_STACK)
			tid = s->foreign.items[i]->tid;
	}
	return tid;
}

/* Copies a call with what it has. False: no memory. */
static bool copy_call(struct cp_shadow *s, struct cp_shadow_stack *to, const struct cp_call *call,
		      int32_t tid, cp_call_inherit_fn inherit)
{
	struct cp_call copy = *call;

	copy.tid = tid;
	copy.stack = to->number;
	if (!(copy.flags & CP_CALL_INHERITED)) {
		copy.entered_tid = call->tid;
		copy.entered_ns = call->enter_ns;
	}
	copy.flags |= CP_CALL_INHERITED;
	if (!inherit(s->ctx, &copy))
		return true;
	if (!cp_vec_reserve(&to->calls, to->calls.count + 1) ||
	    !cp_map_put(&s->by_sp, copy.sp, (uintptr_t)to)) {
		s->end(s->ctx, &copy, CP_CALL_ENDED);
		return false;
	}
	to->calls.items[to->calls.count++] = copy;
	to->indexed = to->calls.count;
	s->open++;
	return true;
}

static bool copy_foreign(struct cp_shadow *s, struct cp_shadow_thread *t,
			 const struct cp_shadow *from, const struct cp_shadow_stack *stack,
			 int32_t by, cp_call_inherit_fn inherit)
{
	const struct cp_shadow_thread *was = cp_shadow_thread_find(from, by);
	struct cp_shadow_stack *copy = cp_shadow_stack_new(s);
	bool ok = copy;
	size_t i;

	for (i = 0; ok && i < stack->calls.count; i++)
		ok = copy_call(s, copy, &stack->calls.items[i], t->own.tid, inherit);
	if (!copy)
		return false;
	copy->used = stack->used;
	copy->tid = t->own.tid;
	cp_shadow_set_root(s, copy, stack->root);
	if (stack->host && stack->host == by)
		cp_shadow_set_host(s, copy, t->own.tid);
	if (was && was->last == stack && copy->calls.count)
		t->last = copy;
	cp_shadow_drop_if_empty(s, copy);
	return ok;
}

bool cp_shadow_inherit(struct cp_shadow *s, int32_t tid, const struct cp_shadow *from, int32_t by,
		       uint64_t sp, cp_call_inherit_fn inherit)
{
	/* A function that forks may have taken its return address from the stack
	 * (vfork). */
	uint64_t least = by && sp > sizeof(sp) ? sp - sizeof(sp) : 0;
	const struct cp_shadow_thread *was;
	struct cp_shadow_thread *t;
	bool ok = true;
	size_t i;

	by = by ? by : cp_shadow_who(from, sp);
	was = by ? cp_shadow_thread_find(from, by) : NULL;
	t = was ? cp_shadow_thread_of(s, tid) : NULL;
	if (!t)
		return false;
	s->events = from->events;
	for (i = 0; ok && i < was->own.calls.count && was->own.calls.items[i].sp >= least; i++)
		ok = copy_call(s, &t->own, &was->own.calls.items[i], tid, inherit);
	if (was->last == &was->own)
		t->last = &t->own;
	for (i = 0; ok && i < from->foreign.count; i++)
		if (!is_anothers(from, from->foreign.items[i], by))
			ok = copy_foreign(s, t, from, from->foreign.items[i], by, inherit);
	return ok;
}

static void each_of(const struct cp_shadow_stack *stack,
		    void (*each)(void *ctx, const struct cp_call *), void *ctx)
{
	size_t i;

	for (i = 0; i < stack->calls.count; i++)
		each(ctx, &stack->calls.items[i]);
}

void cp_shadow_each(const struct cp_shadow *s, void (*each)(void *ctx, const struct cp_call *),
		    void *ctx)
{
	uint64_t key, value;
	size_t cursor = 0, i;

	while (cp_map_next(&s->threads, &cursor, &key, &value))
		each_of(&((struct cp_shadow_thread *)(uintptr_t)value)->own, each, ctx);
	for (i = 0; i < s->foreign.count; i++)
		each_of(s->foreign.items[i], each, ctx);
}
