/* SPDX-License-Identifier: MIT
 *
 * Open calls, stack by stack.
 *
 *   thread ──► its own stack ─► calls, outermost first, sp falling
 *     └──────► the one it was on last
 *   sp ──────► the stack that has a call there (only one can: the return
 *              address at sp belongs to one frame; or two, of a stub and
 *              what it leads to)
 *
 * An event on a thread's own stack needs nothing but that stack's innermost
 * calls; where those are told in bulk (shadow_plain.c), sp leads to them from
 * the next other event on. One elsewhere finds its stack by its own sp, or by that of a caller;
 * when neither is known, a new stack begins, which goes with its last call.
 * Where memory was given to another stack, the first call at an address that
 * an open one of the old stack has proves that the old stack is no more.
 *
 * A stack that lies within a frame of a thread's own one is known as such by the
 * first event that says so. What was taken for calls of the thread's own stack
 * until then, and is in that event's chain, goes there.
 */
#include "probe/shadow.h"

#include <stdlib.h>

#include "probe/shadow_state.h"

/* More coroutines than that with open calls: the oldest one is given up. */
#define MAX_FOREIGN 65536

struct cp_shadow *cp_shadow_create(cp_call_end_fn end, void *ctx, uint32_t first)
{
	struct cp_shadow *s = calloc(1, sizeof(*s));

	if (s) {
		s->end = end;
		s->ctx = ctx;
		s->last_number = first;
	}
	return s;
}

static void stack_free(struct cp_shadow_stack *stack)
{
	cp_vec_free(&stack->calls);
	free(stack);
}

void cp_shadow_destroy(struct cp_shadow *s)
{
	uint64_t key, value;
	size_t cursor = 0, i;

	if (!s)
		return;
	while (cp_map_next(&s->threads, &cursor, &key, &value)) {
		struct cp_shadow_thread *t = (struct cp_shadow_thread *)(uintptr_t)value;

		cp_vec_free(&t->own.calls);
		free(t);
	}
	for (i = 0; i < s->foreign.count; i++)
		stack_free(s->foreign.items[i]);
	for (i = 0; i < s->spare.count; i++)
		stack_free(s->spare.items[i]);
	cp_vec_free(&s->foreign);
	cp_vec_free(&s->spare);
	cp_vec_free(&s->behind);
	cp_map_free(&s->threads);
	cp_map_free(&s->by_sp);
	cp_map_free(&s->by_root);
	free(s);
}

struct cp_shadow_thread *cp_shadow_thread_find(const struct cp_shadow *s, int32_t tid)
{
	uint64_t *p;

	if (s->last && s->last->own.tid == tid)
		return s->last;
	p = cp_map_get(&s->threads, (uint64_t)(uint32_t)tid);
	return p ? (struct cp_shadow_thread *)(uintptr_t)*p : NULL;
}

struct cp_shadow_thread *cp_shadow_thread_of(struct cp_shadow *s, int32_t tid)
{
	struct cp_shadow_thread *t = cp_shadow_thread_find(s, tid);

	s->last = t;
	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t || !cp_map_put(&s->threads, (uint64_t)(uint32_t)tid, (uintptr_t)t)) {
		free(t);
		return NULL;
	}
	t->own.own = true;
	t->own.tid = tid;
	return t;
}

struct cp_call *cp_shadow_top_of(const struct cp_shadow_stack *stack)
{
	return stack->calls.count ? &stack->calls.items[stack->calls.count - 1] : NULL;
}

static struct cp_shadow_stack *stack_at(const struct cp_shadow *s, uint64_t sp)
{
	uint64_t *p = cp_map_get(&s->by_sp, sp);

	return p ? (struct cp_shadow_stack *)(uintptr_t)*p : NULL;
}

/* Puts calls into the index that shadow_plain.c left out. */
static void catch_up(struct cp_shadow *s)
{
	struct cp_shadow_stack *stack;

	while (s->behind.count) {
		struct cp_shadow_thread *t = s->behind.items[--s->behind.count];

		t->behind = false;
		for (stack = &t->own; stack->indexed < stack->calls.count; stack->indexed++)
			cp_map_put(&s->by_sp, stack->calls.items[stack->indexed].sp,
				   (uintptr_t)stack);
	}
}

/* That, or of a stub whose target would have its call at `sp`. */
static struct cp_shadow_stack *stack_of(const struct cp_shadow *s, uint64_t sp)
{
	struct cp_shadow_stack *stack = stack_at(s, sp);

	return stack ? stack : stack_at(s, sp | CP_SHADOW_STUB);
}

static uint64_t without_stub(uint64_t sp)
{
	return sp & ~(uint64_t)CP_SHADOW_STUB;
}

/* The call at `sp` of a stack that has one there. */
static struct cp_call *call_at(const struct cp_shadow_stack *stack, uint64_t sp)
{
	size_t lo = 0, hi = stack->calls.count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (stack->calls.items[mid].sp == sp)
			return &stack->calls.items[mid];
		if (stack->calls.items[mid].sp > sp)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* The innermost call of a stack ends. */
static void end_top(struct cp_shadow *s, struct cp_shadow_stack *stack, enum cp_call_end how)
{
	struct cp_call call = stack->calls.items[--stack->calls.count];

	s->open--;
	if (stack->calls.count < stack->indexed) {
		cp_map_remove(&s->by_sp, call.sp);
		stack->indexed = stack->calls.count;
	}
	s->end(s->ctx, &call, how);
}

static void end_all(struct cp_shadow *s, struct cp_shadow_stack *stack, enum cp_call_end how)
{
	while (stack->calls.count)
		end_top(s, stack, how);
}

/* ---- foreign stacks ---- */

void cp_shadow_set_host(const struct cp_shadow *s, struct cp_shadow_stack *stack, int32_t tid)
{
	struct cp_shadow_thread *was = stack->host ? cp_shadow_thread_find(s, stack->host) : NULL;
	struct cp_shadow_thread *host = tid ? cp_shadow_thread_find(s, tid) : NULL;

	if (was && was->within)
		was->within--;
	if (host)
		host->within++;
	stack->host = host ? tid : 0;
}

static struct cp_shadow_stack *rooted(const struct cp_shadow *s, uint64_t root)
{
	uint64_t *p = root ? cp_map_get(&s->by_root, root) : NULL;

	return p ? (struct cp_shadow_stack *)(uintptr_t)*p : NULL;
}

void cp_shadow_set_root(struct cp_shadow *s, struct cp_shadow_stack *stack, uint64_t root)
{
	struct cp_shadow_stack *other = rooted(s, root);

	if (stack->root == root)
		return;
	if (other)
		other->root = 0;
	if (stack->root)
		cp_map_remove(&s->by_root, stack->root);
	stack->root = root && cp_map_put(&s->by_root, root, (uintptr_t)stack) ? root : 0;
}

static void stack_drop(struct cp_shadow *s, struct cp_shadow_stack *stack)
{
	s->foreign.items[stack->index] = s->foreign.items[--s->foreign.count];
	s->foreign.items[stack->index]->index = stack->index;
	stack->tid = 0;
	cp_shadow_set_host(s, stack, 0);
	cp_shadow_set_root(s, stack, 0);
	stack->interrupted = NULL;
	/* Room was made when it was new. */
	s->spare.items[s->spare.count++] = stack;
}

void cp_shadow_drop_if_empty(struct cp_shadow *s, struct cp_shadow_stack *stack)
{
	if (stack && !stack->own && !stack->calls.count)
		stack_drop(s, stack);
}

struct cp_shadow_stack *cp_shadow_stack_new(struct cp_shadow *s)
{
	struct cp_shadow_stack *stack, *oldest = NULL;
	size_t i;

	if (s->foreign.count >= MAX_FOREIGN) {
		for (i = 0; i < s->foreign.count; i++)
			if (!oldest || s->foreign.items[i]->used < oldest->used)
				oldest = s->foreign.items[i];
		end_all(s, oldest, CP_CALL_ENDED);
		stack_drop(s, oldest);
	}
	if (s->spare.count) {
		stack = s->spare.items[--s->spare.count];
	} else {
		stack = calloc(1, sizeof(*stack));
		if (!stack || !cp_vec_reserve(&s->spare, s->foreign.count + 1)) {
			free(stack);
			return NULL;
		}
		stack->number = ++s->last_number;
	}
	if (!cp_vec_push(&s->foreign, stack)) {
		stack_free(stack);
		return NULL;
	}
	stack->index = s->foreign.count - 1;
	return stack;
}

static bool in_chain(const struct cp_shadow_at *at, uint64_t sp)
{
	size_t i;

	sp = without_stub(sp);
	if (sp == without_stub(at->sp))
		return true;
	for (i = 0; i < at->chain_count; i++)
		if (at->chain[i] == sp)
			return true;
	return false;
}

/* Ends the calls of `stack` that the chain shows to be gone: those below the
 * event, and those between it and the last caller found that are no callers.
 * The callers that remain are the outer part: what is inside of one that is
 * gone is gone, too. */
static void judge(struct cp_shadow *s, struct cp_shadow_stack *stack, const struct cp_shadow_at *at)
{
	size_t keep = stack->calls.count, i;
	uint64_t last = at->chain_count ? at->chain[at->chain_count - 1] : at->sp;

	for (i = 0; i < stack->calls.count && keep == stack->calls.count; i++) {
		uint64_t sp = stack->calls.items[i].sp;

		if (sp < at->sp || (sp > at->sp && sp <= last && !in_chain(at, sp)))
			keep = i;
	}
	while (stack->calls.count > keep)
		end_top(s, stack, CP_CALL_UNWOUND);
}

/* The open call at an address of the chain; not one that another stack left there, whose memory
 * that of the event is now. */
static struct cp_call *call_around(const struct cp_shadow *s, const struct cp_shadow_at *at,
				   uint64_t sp, struct cp_shadow_stack **stack_ret)
{
	struct cp_shadow_stack *stack = stack_at(s, sp);

	if (!stack ||
	    (at->root && stack->root && stack->root != at->root && sp > at->sp && sp <= at->root))
		return NULL;
	*stack_ret = stack;
	return call_at(stack, sp);
}

/* The innermost caller in the chain that is an open call; its stack too. */
static struct cp_call *caller_of(const struct cp_shadow *s, const struct cp_shadow_at *at,
				 struct cp_shadow_stack **stack_ret)
{
	size_t i;

	struct cp_call *call = call_around(s, at, at->sp | CP_SHADOW_STUB, stack_ret);

	if (call && !(at->sp & CP_SHADOW_STUB))
		return call;
	for (i = 0; i < at->chain_count; i++) {
		call = call_around(s, at, at->chain[i], stack_ret);
		if (!call)
			call = call_around(s, at, at->chain[i] | CP_SHADOW_STUB, stack_ret);
		if (call)
			return call;
	}
	return NULL;
}

/* The stack of an event that is not on the thread's own; NULL: not known. */
static struct cp_shadow_stack *foreign_stack(struct cp_shadow *s, const struct cp_shadow_at *at)
{
	struct cp_shadow_stack *stack = stack_of(s, at->sp), *of_caller = NULL;
	struct cp_call *caller;

	if (stack)
		return stack;
	caller = caller_of(s, at, &of_caller);
	if (caller && caller->sp > at->sp && caller->sp - at->sp < CP_SHADOW_SAME_STACK &&
	    !of_caller->own)
		return of_caller;
	return NULL;
}

bool cp_shadow_is_called_by_own(struct cp_shadow *s, const struct cp_shadow_at *at)
{
	const struct cp_shadow_thread *t = cp_shadow_thread_find(s, at->tid);
	const struct cp_call *call = NULL;
	struct cp_shadow_stack *stack = NULL;
	bool found = false;
	size_t i;

	catch_up(s);
	for (i = 0; t && i < at->chain_count && !found; i++) {
		call = call_around(s, at, at->chain[i], &stack);
		found = call && stack == &t->own && !call->unsure;
	}
	return found;
}

/* ---- stacks within the thread's own ---- */

/* The length of the chain on the stack of the event: there it rises. */
static size_t on_stack(const struct cp_shadow_at *at)
{
	uint64_t last = at->sp;
	size_t i = 0;

	while (i < at->chain_count && at->chain[i] > last)
		last = at->chain[i++];
	return i;
}

static bool has_call_of(const struct cp_shadow *s, const struct cp_shadow_at *at,
			const struct cp_shadow_stack *stack)
{
	bool found = stack_of(s, at->sp) == stack;
	size_t i;

	for (i = 0; i < at->chain_count && !found; i++)
		found = stack_of(s, at->chain[i]) == stack;
	return found;
}

/* Calls that were taken for those of the thread's own stack, and are on that of the
 * event, get it for their own. */
static void take_from_own(struct cp_shadow *s, struct cp_shadow_thread *t, struct cp_shadow_at at)
{
	struct cp_shadow_stack *stack;
	size_t i, kept = 0, count = t->own.calls.count;

	at.chain_count = on_stack(&at);
	if (at.unsure || !has_call_of(s, &at, &t->own))
		return;
	stack = cp_shadow_stack_new(s);
	if (!stack)
		return;
	stack->tid = at.tid;
	for (i = 0; i < count; i++) {
		struct cp_call call = t->own.calls.items[i];

		if (in_chain(&at, call.sp) && cp_vec_push(&stack->calls, call))
			cp_map_put(&s->by_sp, call.sp, (uintptr_t)stack);
		else
			t->own.calls.items[kept++] = call;
	}
	t->own.calls.count = t->own.indexed = kept;
	stack->indexed = stack->calls.count;
	cp_shadow_drop_if_empty(s, stack);
}

/* The thread is further up its own stack than all that was called on another one: the
 * frame which that one is in has been left. */
static void end_within(struct cp_shadow *s, const struct cp_shadow_thread *t, uint64_t sp,
		       enum cp_call_end how)
{
	size_t i;

	for (i = s->foreign.count; t->within && i--;) {
		struct cp_shadow_stack *stack = s->foreign.items[i];

		if (stack->host != t->own.tid || stack->calls.items[0].sp >= sp)
			continue;
		end_all(s, stack, how);
		stack_drop(s, stack);
	}
}

/* ---- events ---- */

static void use(struct cp_shadow *s, struct cp_shadow_thread *t, struct cp_shadow_stack *stack,
		int32_t tid)
{
	t->last = stack;
	if (!stack)
		return;
	stack->used = s->events;
	stack->tid = tid;
}

/* Ends what an event on the thread's own stack shows to be gone. `leaves`: a call. */
static struct cp_shadow_stack *arrive_at_own(struct cp_shadow *s, struct cp_shadow_thread *t,
					     const struct cp_shadow_at *at, bool leaves)
{
	struct cp_shadow_stack *stack = &t->own, *other;

	if (leaves && !at->placed && !stack_of(s, at->sp))
		return stack;
	while (stack->calls.count && cp_shadow_top_of(stack)->sp < at->sp + at->pushed)
		end_top(s, stack, at->unsure ? CP_CALL_UNSURE : CP_CALL_UNWOUND);
	end_within(s, t, at->sp, CP_CALL_UNWOUND);
	other = stack_of(s, at->sp);
	if (!other || other == stack)
		return stack;
	if (leaves && other->host == at->tid) /* as its entry could not be walked */
		return other;
	end_all(s, other, CP_CALL_UNWOUND); /* its memory is ours now */
	cp_shadow_drop_if_empty(s, other);
	return stack;
}

/* The same of another stack, by where that ends: as a thread's own, it has what lies above. */
static struct cp_shadow_stack *arrive_at_rooted(struct cp_shadow *s, const struct cp_shadow_at *at,
						bool leaves)
{
	struct cp_shadow_stack *stack = rooted(s, at->root), *other = stack_of(s, at->sp);

	if (other && (!stack || leaves)) /* its entry was told by a walk that ended elsewhere */
		stack = other;
	if (!stack || (leaves && !at->placed && !other))
		return stack;
	while (stack->calls.count && cp_shadow_top_of(stack)->sp < at->sp + at->pushed)
		end_top(s, stack, CP_CALL_UNWOUND);
	if (other && other != stack) {
		end_all(s, other, CP_CALL_UNWOUND);
		cp_shadow_drop_if_empty(s, other);
	}
	return stack;
}

/* The same by the chain of callers. Where another stack has a call, its memory is this one's. */
static struct cp_shadow_stack *chained_stack(struct cp_shadow *s, const struct cp_shadow_at *at)
{
	struct cp_shadow_stack *stack = foreign_stack(s, at), *by_root = rooted(s, at->root);

	if (stack)
		judge(s, stack, at);
	if (!by_root || by_root == stack)
		return stack;
	cp_shadow_drop_if_empty(s, stack);
	judge(s, by_root, at);
	return by_root;
}

/* Ends what an event shows to be gone and finds its stack (NULL: none yet). */
static struct cp_shadow_stack *arrive(struct cp_shadow *s, struct cp_shadow_thread *t,
				      const struct cp_shadow_at *at, bool leaves)
{
	struct cp_shadow_stack *stack;

	catch_up(s);
	s->events++;
	if (t->tail && !at->chain && without_stub(at->sp) > t->tail_sp)
		t->tail = false;
	if (at->chain) {
		if (at->within)
			take_from_own(s, t, *at);
		stack = chained_stack(s, at);
	} else if (at->root) {
		stack = arrive_at_rooted(s, at, leaves);
	} else {
		stack = arrive_at_own(s, t, at, leaves);
	}
	use(s, t, stack, at->tid);
	return stack;
}

/* The call that `at` is inside of, once what is gone has ended. */
static const struct cp_call *around(const struct cp_shadow *s, const struct cp_shadow_stack *stack,
				    const struct cp_shadow_at *at)
{
	const struct cp_shadow_thread *t = cp_shadow_thread_find(s, at->tid);
	uint64_t last = at->chain_count ? at->chain[at->chain_count - 1] : at->sp;
	const struct cp_call *call = NULL;
	struct cp_shadow_stack *of_caller;
	size_t i;

	if (!at->chain || (!at->chain_count && stack))
		return stack ? cp_shadow_top_of(stack) : NULL;
	if (at->chain_count)
		call = caller_of(s, at, &of_caller);
	/* The caller on the thread's own stack is the likely one where callers may
	 * be missing. */
	for (i = at->within && at->unsure && t ? t->own.calls.count : 0; i-- && !call;)
		if (t->own.calls.items[i].sp > last)
			call = &t->own.calls.items[i];
	return call;
}

/* The call that its thread goes on with when `stack` is left; NULL: none is known. */
static const struct cp_call *interrupted_by(const struct cp_shadow_stack *stack, int32_t tid)
{
	const struct cp_shadow_stack *by = stack->interrupted;

	return by && by->tid == tid ? cp_shadow_top_of(by) : NULL;
}

/* The stack's outermost call is about to be entered. */
static void begin_stack(struct cp_shadow *s, struct cp_shadow_stack *stack,
			const struct cp_shadow_at *at, struct cp_shadow_stack *was)
{
	if (at->root)
		cp_shadow_set_root(s, stack, at->root);
	if (!stack->calls.count)
		stack->interrupted =
			at->interrupts && was != stack && was && was->tid == at->tid ? was : NULL;
}

/* What is gone on with when the stack's last call has ended. */
static void end_stack(struct cp_shadow *s, struct cp_shadow_thread *t,
		      struct cp_shadow_stack *stack)
{
	if (stack && !stack->calls.count && t->last == stack && stack->interrupted)
		t->last = stack->interrupted;
	cp_shadow_drop_if_empty(s, stack);
}

/* Is what is entered jumped to by `open`, whose frame it takes? What the same
 * instruction calls a second time is not, nor what returns to somewhere else. */
static bool is_jumped_from(const struct cp_call *open, const struct cp_call *entered)
{
	return open->flags & CP_CALL_BY_RETURN && open->caller == entered->caller &&
	       (open->function != entered->function || !(open->sp & CP_SHADOW_STUB));
}

/* A function that is entered where a stub's call has its frame was not entered
 * through the stub when it returns to somewhere else: then that call is gone. */
static void end_stub(struct cp_shadow *s, struct cp_shadow_stack *stack,
		     const struct cp_call *entered)
{
	const struct cp_call *top = cp_shadow_top_of(stack);

	if (top && top->sp == (entered->sp | CP_SHADOW_STUB) && top->sp != entered->sp &&
	    top->caller != entered->caller)
		end_top(s, stack, CP_CALL_UNWOUND);
}

struct cp_call *cp_shadow_enter(struct cp_shadow *s, const struct cp_shadow_at *at,
				const struct cp_call *call)
{
	struct cp_shadow_thread *t = cp_shadow_thread_of(s, at->tid);
	struct cp_shadow_stack *was = t ? t->last : NULL;
	struct cp_shadow_stack *found = t ? arrive(s, t, at, false) : NULL, *stack = found;
	const struct cp_call *outer;
	struct cp_call fresh = *call, *same;

	if (!t)
		return NULL;
	fresh.sp = at->sp;
	fresh.tid = at->tid;
	fresh.tail = t->tail && t->tail_sp == without_stub(at->sp);
	t->tail = false;
	same = stack ? call_at(stack, at->sp) : NULL;
	if (same) { /* arrive() left it the innermost one */
		fresh.tail = is_jumped_from(same, &fresh);
		end_top(s, stack, fresh.tail ? CP_CALL_TAIL_CALLED : CP_CALL_UNWOUND);
	}
	if (stack)
		end_stub(s, stack, &fresh);
	if (!stack)
		stack = cp_shadow_stack_new(s);
	outer = around(s, found, at);
	if (stack && !stack->own)
		begin_stack(s, stack, at, was);
	if (stack && !outer && (!at->chain || at->cut))
		outer = interrupted_by(stack, at->tid);
	if (outer && outer->flags & (CP_CALL_MARKS | CP_CALL_MARKED))
		fresh.flags |= CP_CALL_MARKED;
	fresh.unsure = at->unsure || (!at->chain && outer && outer->unsure);
	fresh.depth = outer ? outer->depth + !(outer->flags & CP_CALL_HIDDEN) : 0;
	fresh.stack = stack ? stack->number : 0;
	if (!stack || !cp_vec_push(&stack->calls, fresh) ||
	    !cp_map_put(&s->by_sp, at->sp, (uintptr_t)stack)) {
		if (stack && cp_shadow_top_of(stack) && cp_shadow_top_of(stack)->sp == at->sp)
			stack->calls.count--;
		cp_shadow_drop_if_empty(s, stack);
		t->last = NULL;
		return NULL;
	}
	stack->indexed = stack->calls.count;
	if (at->within && !stack->own && !stack->host)
		cp_shadow_set_host(s, stack, at->tid);
	s->open++;
	use(s, t, stack, at->tid);
	return cp_shadow_top_of(stack);
}

bool cp_shadow_leave(struct cp_shadow *s, const struct cp_shadow_at *at, uint32_t function,
		     enum cp_call_end how)
{
	struct cp_shadow_thread *t = cp_shadow_thread_of(s, at->tid);
	struct cp_shadow_stack *stack = t ? arrive(s, t, at, true) : NULL;
	struct cp_call *call = stack ? call_at(stack, at->sp) : NULL;
	bool known = call && (function == CP_SHADOW_ANY || call->function == function);

	if (!t)
		return false;
	t->tail = known && how == CP_CALL_TAIL_CALLED;
	t->tail_sp = without_stub(at->sp);
	/* Code that functions share has the exits of all of them: the open call
	 * is left by its own. If it is gone instead, the next event shows it. */
	if (known)
		end_top(s, stack, how);
	end_stack(s, t, stack);
	return known;
}

void cp_shadow_reach(struct cp_shadow *s, const struct cp_shadow_at *at, uint64_t sp)
{
	struct cp_shadow_thread *t = cp_shadow_thread_of(s, at->tid);
	struct cp_shadow_at there = *at;
	struct cp_shadow_stack *stack;

	if (!t)
		return;
	t->tail = false;
	there.sp = sp;
	there.placed = true;
	for (; there.chain_count && *there.chain < sp; there.chain++)
		there.chain_count--;
	/* On a foreign stack, who is left may be the only ones that tell which it is. */
	stack = at->chain ? arrive(s, t, at, true) : NULL;
	if (stack)
		judge(s, stack, &there);
	else
		stack = arrive(s, t, &there, true);
	cp_shadow_drop_if_empty(s, stack);
}

bool cp_shadow_goes_on(struct cp_shadow *s, const struct cp_shadow_at *at, uint32_t function,
		       uint64_t caller)
{
	struct cp_shadow_thread *t = cp_shadow_thread_of(s, at->tid);
	struct cp_shadow_stack *stack = t ? arrive(s, t, at, true) : NULL;
	const struct cp_call *call = stack ? call_at(stack, at->sp) : NULL;

	cp_shadow_drop_if_empty(s, stack);
	return call && call->function == function && call->caller == caller;
}

struct cp_call *cp_shadow_top(struct cp_shadow *s, int32_t tid)
{
	struct cp_shadow_thread *t = cp_shadow_thread_find(s, tid);

	return t && t->last && t->last->tid == tid ? cp_shadow_top_of(t->last) : NULL;
}

const struct cp_call *cp_shadow_find(struct cp_shadow *s, uint64_t sp)
{
	const struct cp_shadow_stack *stack;

	catch_up(s);
	stack = stack_at(s, sp);
	return stack ? call_at(stack, sp) : NULL;
}

void cp_shadow_thread_exit(struct cp_shadow *s, int32_t tid, enum cp_call_end how)
{
	struct cp_shadow_thread *t;
	uint64_t key, value;
	size_t cursor = 0;

	if (!tid) {
		while (cp_map_next(&s->threads, &cursor, &key, &value))
			end_all(s, &((struct cp_shadow_thread *)(uintptr_t)value)->own, how);
		while (s->foreign.count) {
			end_all(s, s->foreign.items[s->foreign.count - 1], how);
			stack_drop(s, s->foreign.items[s->foreign.count - 1]);
		}
		return;
	}
	t = cp_shadow_thread_find(s, tid);
	if (!t)
		return;
	catch_up(s);
	s->gone++;
	end_within(s, t, UINT64_MAX, how);
	end_all(s, &t->own, how);
	s->last = NULL;
	cp_map_remove(&s->threads, (uint64_t)(uint32_t)tid);
	cp_vec_free(&t->own.calls);
	free(t);
}

static void forget_in(struct cp_shadow *s, struct cp_shadow_stack *stack, uint32_t function)
{
	size_t i, kept = 0, count = stack->calls.count;

	for (i = 0; i < count; i++) {
		struct cp_call call = stack->calls.items[i];

		if (call.function != function) {
			stack->calls.items[kept++] = call;
			continue;
		}
		s->open--;
		cp_map_remove(&s->by_sp, call.sp);
		s->end(s->ctx, &call, CP_CALL_ENDED);
	}
	stack->calls.count = stack->indexed = kept;
}

void cp_shadow_forget(struct cp_shadow *s, uint32_t function)
{
	uint64_t key, value;
	size_t cursor = 0, i = 0;

	catch_up(s);
	while (cp_map_next(&s->threads, &cursor, &key, &value))
		forget_in(s, &((struct cp_shadow_thread *)(uintptr_t)value)->own, function);
	while (i < s->foreign.count) {
		struct cp_shadow_stack *stack = s->foreign.items[i];

		forget_in(s, stack, function);
		if (stack->calls.count)
			i++;
		else
			stack_drop(s, stack);
	}
}

size_t cp_shadow_open(const struct cp_shadow *s)
{
	return s->open;
}
