/* SPDX-License-Identifier: MIT */
#include "record/spans.h"

#include "base/cleanup.h"

#define BLOCK 256 /* spans allocated at once */
#define SEARCH_MAX 4096 /* open calls among which one that ends is looked for */

/* A thread, on its own stack; or another stack. */
struct cp_spans_thread {
	uint32_t on_stack; /* number of the stack: of a thread, on which it was last; 0: its own */
	bool is_stack;
	CP_VEC(struct cp_span *) open; /* in the order of their enters */
	CP_VEC(uint32_t *)
	again; /* by function, in pieces: how many are open; NULL: none ever was */
};

#define PIECE 64u /* functions */

const char *cp_span_end_name(enum cp_span_end end)
{
	static const char *const names[] = {
		[CP_SPAN_RETURNED] = "returned", [CP_SPAN_TAIL_CALLED] = "tail_called",
		[CP_SPAN_UNWOUND] = "unwound",	 [CP_SPAN_ENDED] = "thread_ended",
		[CP_SPAN_LOST] = "lost",	 [CP_SPAN_OPEN] = "open",
	};

	return names[end];
}

/* None is left; NULL without memory. */
static struct cp_span *new_spans(struct cp_spans *s)
{
	struct cp_span *block = calloc(BLOCK, sizeof(*block));
	size_t i;

	if (!block || !cp_vec_push(&s->blocks, block) ||
	    !cp_vec_reserve(&s->spare, s->blocks.count * BLOCK))
		return NULL;
	for (i = 0; i < BLOCK; i++)
		s->spare.items[s->spare.count++] = &block[i];
	return s->spare.items[--s->spare.count];
}

static inline struct cp_span *take_span(struct cp_spans *s)
{
	return s->spare.count ? s->spare.items[--s->spare.count] : new_spans(s);
}

/* NULL without memory. */
static struct cp_spans_thread *new_thread(struct cp_spans *s, uint32_t number)
{
	if (!cp_vec_reserve(&s->threads, (size_t)number + 1))
		return NULL;
	while (s->threads.count <= number)
		s->threads.items[s->threads.count++] = NULL;
	if (!s->threads.items[number])
		s->threads.items[number] = calloc(1, sizeof(struct cp_spans_thread));
	return s->threads.items[number];
}

static inline struct cp_spans_thread *thread_of(struct cp_spans *s, uint32_t number)
{
	if (number < s->threads.count && s->threads.items[number])
		return s->threads.items[number];
	return new_thread(s, number);
}

/* ---- other stacks ---- */

static struct cp_spans_thread *stack_at(const struct cp_spans *s, uint32_t number)
{
	const uint64_t *at = number && s->stacks.count ? cp_map_get(&s->stacks, number) : NULL;

	return at ? (struct cp_spans_thread *)(uintptr_t)*at : NULL;
}

/* NULL without memory. */
static struct cp_spans_thread *stack_of(struct cp_spans *s, uint32_t number)
{
	struct cp_spans_thread *stack = stack_at(s, number);

	if (stack)
		return stack;
	stack = calloc(1, sizeof(*stack));
	if (!stack || !cp_map_put(&s->stacks, number, (uintptr_t)stack)) {
		free(stack);
		return NULL;
	}
	stack->is_stack = true;
	stack->on_stack = number;
	return stack;
}

static void drop_stack(struct cp_spans *s, struct cp_spans_thread *stack)
{
	cp_map_remove(&s->stacks, stack->on_stack);
	cp_vec_free(&stack->open);
	free(stack);
}

/* What an end says of its enter. */
static uint64_t entered_as(uint32_t location, uint32_t depth, uint64_t start_ns)
{
	return cp_hash_u64(start_ns ^ (uint64_t)location << 40 ^ (uint64_t)depth << 24);
}

/* Other threads, on other stacks, may have entered the same just then. False without memory. */
static bool remember_entered(struct cp_spans *s, struct cp_span *span)
{
	uint64_t key = entered_as(span->location, span->depth, span->start_ns);
	const uint64_t *at = cp_map_get(&s->entered, key);

	span->alike = at ? (struct cp_span *)(uintptr_t)*at : NULL;
	return cp_map_put(&s->entered, key, (uintptr_t)span);
}

/* How many calls of a function are open; NULL without memory. */
static uint32_t *new_piece(struct cp_spans_thread *t, uint32_t function)
{
	size_t piece = function / PIECE;

	if (piece >= t->again.count) {
		if (!cp_vec_reserve(&t->again, piece + 1))
			return NULL;
		while (t->again.count <= piece)
			t->again.items[t->again.count++] = NULL;
	}
	if (!t->again.items[piece])
		t->again.items[piece] = calloc(PIECE, sizeof(**t->again.items));
	return t->again.items[piece] ? &t->again.items[piece][function % PIECE] : NULL;
}

static inline uint32_t *again(struct cp_spans_thread *t, uint32_t function)
{
	size_t piece = function / PIECE;

	if (piece < t->again.count && t->again.items[piece])
		return &t->again.items[piece][function % PIECE];
	return new_piece(t, function);
}

static inline uint64_t offset(const struct cp_spans *s, uint64_t ts_ns)
{
	return ts_ns > s->start_ns ? ts_ns - s->start_ns : 0;
}

static inline uint32_t function_at(const struct cp_spans *s, uint32_t location)
{
	return s->functions ? s->functions[location] : location;
}

/* The call around one that is `depth` deep: the last one that is one less. Where its
 * enter was lost, the one before; but coroutines rest that are less deep. */
static struct cp_span *search_outer(const struct cp_spans_thread *t, uint32_t depth)
{
	size_t i, least = t->open.count > SEARCH_MAX ? t->open.count - SEARCH_MAX : 0;
	struct cp_span *around = NULL;

	for (i = t->open.count; i-- > least;) {
		struct cp_span *span = t->open.items[i];

		if (span->depth < depth && (!around || span->depth > around->depth))
			around = span;
		if (around && around->depth + 1 == depth)
			break;
	}
	return around;
}

static inline struct cp_span *outer(const struct cp_spans_thread *t, uint32_t depth)
{
	size_t count = t->open.count;

	if (count && t->open.items[count - 1]->depth + 1 == depth)
		return t->open.items[count - 1];
	return search_outer(t, depth);
}

/* How many calls of `function` there are around one that is `depth` deep in `outer`; `open`
 * are in the thread. Those of other coroutines are not around it. */
static uint32_t again_in(const struct cp_spans_thread *t, uint32_t open, uint32_t function,
			 uint32_t depth, const struct cp_span *outer)
{
	if (!t->is_stack && (!open || t->open.count == depth))
		return open;
	while (outer && (outer->hidden || outer->function != function))
		outer = outer->outer;
	return outer ? outer->again + 1 : 0;
}

/* The open call around one that is `depth` deep on that stack: the outermost one there goes on
 * from where its thread was before. */
static struct cp_span *outer_of(const struct cp_spans *s, const struct cp_spans_thread *t,
				const struct cp_spans_thread *list, uint32_t depth)
{
	struct cp_span *around = outer(list, depth);
	const struct cp_spans_thread *before = stack_at(s, t->on_stack);

	if (around || list == t || !depth || before == list)
		return around;
	around = outer(before ? before : t, depth);
	if (around && around->depth + 1 != depth)
		return NULL;
	if (around)
		around->lent = true;
	return around;
}

/* ---- begin and end ---- */

static struct cp_error *begin(struct cp_spans *s, struct cp_spans_thread *t,
			      const struct cp_record_call *call, uint64_t start_ns)
{
	struct cp_spans_thread *list = call->on_stack ? stack_of(s, call->on_stack) : t;
	struct cp_span *span = take_span(s);
	uint32_t *count = NULL;

	if (!span || !list || !cp_vec_reserve(&list->open, list->open.count + 1))
		return cp_error_nomem();
	*span = (struct cp_span){
		.id = ++s->last_id,
		.thread = call->thread,
		.function = function_at(s, call->function),
		.location = call->function,
		.depth = call->depth,
		.on_stack = call->on_stack,
		.entered = call->kind == CP_RECORD_ENTER,
		.inherited = call->kind == CP_RECORD_INHERITED,
		.start_ns = start_ns,
		.target = CP_RECORD_NONE,
		.outer = outer_of(s, t, list, call->depth),
	};
	span->hidden = s->to->hides && s->to->hides(s->ctx, span);
	if (list == t)
		count = again(t, span->function);
	if (list == t ? !count : !remember_entered(s, span))
		return cp_error_nomem();
	span->again = again_in(list, count ? *count : 0, span->function, span->depth, span->outer);
	if (count)
		*count += !span->hidden;
	t->on_stack = call->on_stack;
	list->open.items[list->open.count++] = span;
	return s->to->begin ? s->to->begin(s->ctx, span, call) : NULL;
}

/* What is known when all else of it is, or of so many alike. */
static inline void settle(struct cp_span *span, uint64_t times)
{
	uint64_t inner_ns;

	cp_span_set_net(span);
	if (!span->outer)
		return;
	inner_ns = (uint64_t)(span->hidden ? span->inner_ns : cp_span_likely(span));
	span->outer->inner_ns = (int64_t)((uint64_t)span->outer->inner_ns + times * inner_ns);
	span->outer->inner_overhead_ns += times * span->overhead_ns;
	span->outer->inner_room_ns +=
		times * (span->hidden ? span->inner_room_ns : cp_span_room(span));
	span->outer->inner_uncertain_ns += times * span->uncertain_ns;
	span->outer->inner_calls += times * (span->inner_calls + 1);
}

/* It ends, and calls on other stacks that it is around have what is around it. */
static void take_back(const struct cp_spans *s, const struct cp_span *span)
{
	uint64_t key, value;
	size_t cursor = 0, i;

	while (span->lent && cp_map_next(&s->stacks, &cursor, &key, &value)) {
		const struct cp_spans_thread *stack =
			(const struct cp_spans_thread *)(uintptr_t)value;

		for (i = 0; i < stack->open.count; i++)
			if (stack->open.items[i]->outer == span)
				stack->open.items[i]->outer = span->outer;
	}
	if (span->lent && span->outer)
		span->outer->lent = true;
}

/* Its end needs not be found any more. */
static void forget_entered(struct cp_spans *s, const struct cp_span *span)
{
	uint64_t key = entered_as(span->location, span->depth, span->start_ns);
	uint64_t *at = cp_map_get(&s->entered, key);
	struct cp_span *last = at ? (struct cp_span *)(uintptr_t)*at : NULL, **to = &last;

	while (*to && *to != span)
		to = &(*to)->alike;
	if (*to)
		*to = span->alike;
	if (last)
		*at = (uintptr_t)last;
	else
		cp_map_remove(&s->entered, key);
}

/* Ends the call at `place` of its thread's open ones, which says how. */
static struct cp_error *finish(struct cp_spans *s, struct cp_spans_thread *t, size_t place,
			       const struct cp_record_call *call)
{
	struct cp_span *span = t->open.items[place];
	struct cp_error *err;
	uint32_t *count = t->is_stack ? NULL : again(t, span->function);
	size_t i;

	take_back(s, span);
	if (t->is_stack)
		forget_entered(s, span);
	for (i = place; i + 1 < t->open.count; i++) {
		t->open.items[i] = t->open.items[i + 1];
		if (t->open.items[i]->outer == span)
			t->open.items[i]->outer = span->outer;
	}
	t->open.count--;
	if (count && *count && !span->hidden)
		--*count;
	settle(span, 1);
	err = s->to->end(s->ctx, span, call);
	s->spare.items[s->spare.count++] = span; /* there is room for all */
	return err;
}

/* Nothing says how it ended. */
static void give_up(struct cp_span *span, enum cp_span_end how, uint64_t end_ns)
{
	span->end = how;
	span->end_ns = end_ns > span->start_ns ? end_ns : span->start_ns;
	span->duration_ns = span->end_ns - span->start_ns;
	span->overhead_ns = span->inner_overhead_ns;
	span->uncertain_ns = span->inner_uncertain_ns;
}

static struct cp_error *abandon(struct cp_spans *s, struct cp_spans_thread *t, size_t place,
				enum cp_span_end how, uint64_t end_ns)
{
	give_up(t->open.items[place], how, end_ns);
	return finish(s, t, place, NULL);
}

/* ---- events ---- */

/* The call that `call` leaves, + 1: the one entered just then; or else, or where that is
 * not said, the innermost of its function and depth. 0: none. */
static size_t find(const struct cp_spans *s, const struct cp_spans_thread *t,
		   const struct cp_record_call *call)
{
	uint64_t start = offset(s, call->ts_ns - call->duration_ns);
	size_t i, least = t->open.count > SEARCH_MAX ? t->open.count - SEARCH_MAX : 0, likely = 0;

	for (i = t->open.count; i-- > least;) {
		const struct cp_span *span = t->open.items[i];

		if (span->location != call->function || span->depth != call->depth)
			continue;
		if (span->start_ns == start || s->costs)
			return i + 1;
		likely = likely ? likely : i + 1;
	}
	return likely;
}

/* The same on other stacks: rather what this thread entered than what another one did. */
static const struct cp_span *find_entered(const struct cp_spans *s,
					  const struct cp_record_call *call)
{
	uint64_t start = offset(s, call->ts_ns - call->duration_ns);
	const uint64_t *at =
		s->entered.count
			? cp_map_get(&s->entered, entered_as(call->function, call->depth, start))
			: NULL;
	const struct cp_span *span = at ? (const struct cp_span *)(uintptr_t)*at : NULL;
	const struct cp_span *found = NULL;

	for (; span; span = span->alike)
		if (span->location == call->function && span->depth == call->depth &&
		    span->start_ns == start && (!found || found->thread != call->thread))
			found = span->thread == call->thread || !found ? span : found;
	return found;
}

/* Its place there, + 1; the stack is filled in. */
static size_t find_elsewhere(const struct cp_spans *s, const struct cp_record_call *call,
			     struct cp_spans_thread **stack_ret)
{
	const struct cp_span *span = find_entered(s, call);
	size_t i;

	if (!span)
		return 0;
	*stack_ret = stack_at(s, span->on_stack);
	for (i = *stack_ret ? (*stack_ret)->open.count : 0;
	     i && (*stack_ret)->open.items[i - 1] != span;)
		i--;
	return i;
}

static struct cp_error *leave_at(struct cp_spans *s, struct cp_spans_thread *t, size_t place,
				 const struct cp_record_call *call)
{
	struct cp_span *span;
	size_t i;

	span = t->open.items[place - 1];
	/* An open call that is deeper was made by this one, and its end is missing. If no
	 * event is missing, it is in a coroutine that rests. */
	for (i = t->open.count; s->missing && i > place; i--) {
		if (t->open.items[i - 1]->depth > span->depth)
			CP_TRY(abandon(s, t, i - 1, CP_SPAN_LOST, offset(s, call->ts_ns)));
	}
	span->end = call->kind == CP_RECORD_LEAVE	 ? CP_SPAN_RETURNED
		    : call->kind == CP_RECORD_TAIL_CALL	 ? CP_SPAN_TAIL_CALLED
		    : call->flags & CP_RECORD_CALL_LOST	 ? CP_SPAN_LOST
		    : call->flags & CP_RECORD_CALL_ENDED ? CP_SPAN_ENDED
							 : CP_SPAN_UNWOUND;
	if (call->target != CP_RECORD_NONE)
		span->target = function_at(s, call->target);
	span->unsure = span->end == CP_SPAN_UNWOUND && call->flags & CP_RECORD_CALL_UNSURE;
	span->end_ns = offset(s, call->ts_ns);
	span->duration_ns = call->duration_ns;
	span->overhead_ns = call->overhead_ns;
	span->uncertain_ns = call->uncertain_ns;
	span->cpu_ns = call->cpu_ns;
	if (s->costs) {
		span->duration_ns = span->end_ns - span->start_ns;
		cp_call_settle(s->costs, span->inner_calls, span->duration_ns, &span->overhead_ns,
			       &span->uncertain_ns);
	}
	return finish(s, t, place - 1, call);
}

static struct cp_error *leave(struct cp_spans *s, struct cp_spans_thread *t,
			      const struct cp_record_call *call)
{
	struct cp_spans_thread *stack = NULL;
	size_t place = find_elsewhere(s, call, &stack);
	struct cp_error *err;

	if (place) {
		t->on_stack = stack->on_stack;
		err = leave_at(s, stack, place, call);
		if (!stack->open.count)
			drop_stack(s, stack);
		return err;
	}
	place = find(s, t, call);
	t->on_stack = 0;
	if (!place) {
		struct cp_record_call own = *call;

		own.on_stack = 0;
		CP_TRY(begin(s, t, &own, offset(s, call->ts_ns - call->duration_ns)));
		place = t->open.count;
	}
	return leave_at(s, t, place, call);
}

/* Ends those of `location`, CP_RECORD_NONE: all. */
static struct cp_error *abandon_all(struct cp_spans *s, struct cp_spans_thread *t,
				    uint32_t location, enum cp_span_end how, uint64_t end_ns)
{
	size_t i;

	for (i = t ? t->open.count : 0; i--;)
		if (location == CP_RECORD_NONE || t->open.items[i]->location == location)
			CP_TRY(abandon(s, t, i, how, end_ns));
	return NULL;
}

/* Other stacks first: what is around their calls may be a thread's own. */
static struct cp_error *abandon_everywhere(struct cp_spans *s, uint32_t location,
					   enum cp_span_end how, uint64_t end_ns)
{
	uint64_t key, value;
	size_t cursor = 0, i;

	while (cp_map_next(&s->stacks, &cursor, &key, &value)) {
		struct cp_spans_thread *stack = (struct cp_spans_thread *)(uintptr_t)value;

		CP_TRY(abandon_all(s, stack, location, how, end_ns));
		if (!stack->open.count)
			drop_stack(s, stack);
	}
	for (i = 0; i < s->threads.count; i++)
		CP_TRY(abandon_all(s, s->threads.items[i], location, how, end_ns));
	return NULL;
}

/* Nothing takes longer than since the clock began, and of its time no more than all is
 * uncertain: what a file says otherwise, a little less than nothing as a rule, it does
 * not know. */
const struct cp_record_call *cp_span_make_right(const struct cp_record_call *said,
						struct cp_record_call *right)
{
	*right = *said;
	if (right->duration_ns > right->ts_ns)
		right->duration_ns = 0;
	if (right->uncertain_ns > right->duration_ns + CP_TIME_FINEST)
		right->uncertain_ns = right->duration_ns;
	return right;
}

CP_ERROR cp_spans_event(struct cp_spans *s, const struct cp_record_call *said)
{
	struct cp_spans_thread *t;
	struct cp_record_call right;

	if (said->kind == CP_RECORD_DISARMED)
		/* From here on nothing says how calls of it end, in no thread. */
		return abandon_everywhere(s, said->function, CP_SPAN_LOST, offset(s, said->ts_ns));
	t = thread_of(s, said->thread);
	if (!t)
		return cp_error_nomem();
	if (said->kind == CP_RECORD_ENTER || said->kind == CP_RECORD_INHERITED)
		return begin(s, t, said, offset(s, said->ts_ns));
	return leave(s, t, cp_span_put_right(said, &right));
}

CP_ERROR cp_spans_leaf(struct cp_spans *s, const struct cp_record_call *enter, uint64_t end_ns,
		       uint64_t times, struct cp_span *ret)
{
	struct cp_spans_thread *t = thread_of(s, enter->thread);
	const uint32_t *count = t ? again(t, enter->function) : NULL;

	*ret = (struct cp_span){
		.id = s->last_id + 1,
		.thread = enter->thread,
		.function = enter->function,
		.location = enter->function,
		.depth = enter->depth,
		.entered = true,
		.start_ns = offset(s, enter->ts_ns),
		.end_ns = offset(s, end_ns),
		.end = CP_SPAN_RETURNED,
		.target = CP_RECORD_NONE,
	};
	if (!count)
		return cp_error_nomem();
	s->last_id += times;
	t->on_stack = 0;
	ret->outer = outer(t, enter->depth);
	ret->again = again_in(t, *count, ret->function, ret->depth, ret->outer);
	ret->duration_ns = ret->end_ns - ret->start_ns;
	cp_call_settle(s->costs, 0, ret->duration_ns, &ret->overhead_ns, &ret->uncertain_ns);
	settle(ret, times);
	return NULL;
}

CP_ERROR cp_spans_pass(struct cp_spans *s, const struct cp_record_call *enter,
		       const struct cp_record_leaf *leaf, struct cp_span *span)
{
	struct cp_spans_thread *t = thread_of(s, enter->thread);
	const uint32_t *count;

	span->location = enter->function;
	span->function = function_at(s, enter->function);
	count = t ? again(t, span->function) : NULL;
	if (!count)
		return cp_error_nomem();
	span->id = ++s->last_id;
	t->on_stack = 0;
	span->thread = enter->thread;
	span->depth = enter->depth;
	span->outer = outer(t, enter->depth);
	span->again = again_in(t, *count, span->function, span->depth, span->outer);
	span->entered = true;
	span->target = CP_RECORD_NONE;
	span->start_ns = offset(s, enter->ts_ns);
	span->end_ns = offset(s, leaf->end_ns);
	span->duration_ns = leaf->duration_ns;
	span->overhead_ns = leaf->overhead_ns;
	span->uncertain_ns = leaf->uncertain_ns;
	settle(span, 1);
	return NULL;
}

CP_ERROR cp_spans_rest(struct cp_spans *s, uint64_t end_ns)
{
	return abandon_everywhere(s, CP_RECORD_NONE, CP_SPAN_OPEN, end_ns);
}

/* All open calls, the outer ones of a stack first; threads' own stacks come first. */
static bool add_open(const struct cp_spans_thread *t, struct cp_span ***to, size_t *count,
		     size_t *room)
{
	size_t i;

	if (!t || !t->open.count)
		return true;
	if (!cp_vec_grow((void **)to, room, *count + t->open.count, sizeof(**to)))
		return false;
	for (i = 0; i < t->open.count; i++)
		(*to)[(*count)++] = t->open.items[i];
	return true;
}

static bool all_open(const struct cp_spans *s, struct cp_span ***ret, size_t *count)
{
	uint64_t key, value;
	size_t room = 0, cursor = 0, i;
	bool ok = true;

	for (i = 0; ok && i < s->threads.count; i++)
		ok = add_open(s->threads.items[i], ret, count, &room);
	while (ok && cp_map_next(&s->stacks, &cursor, &key, &value))
		ok = add_open((const struct cp_spans_thread *)(uintptr_t)value, ret, count, &room);
	return ok;
}

/* Calls that end count in those around them; afterwards all are as before. */
CP_ERROR cp_spans_peek(struct cp_spans *s, uint64_t end_ns,
		       struct cp_error *(*each)(void *ctx, struct cp_span *span), void *ctx)
{
	CP_FREE struct cp_span *before = NULL;
	CP_FREE struct cp_span **open = NULL;
	struct cp_error *err = NULL;
	size_t count = 0, i;

	if (!all_open(s, &open, &count))
		return cp_error_nomem();
	before = calloc(count + 1, sizeof(*before));
	if (!before)
		return cp_error_nomem();
	for (i = 0; i < count; i++)
		before[i] = *open[i];
	for (i = count; !err && i--;) {
		give_up(open[i], CP_SPAN_OPEN, end_ns);
		settle(open[i], 1);
		err = each(ctx, open[i]);
	}
	for (i = 0; i < count; i++)
		*open[i] = before[i];
	return err;
}

/* ---- the end ---- */

bool cp_spans_are_open(const struct cp_spans *s, uint32_t thread)
{
	return thread < s->threads.count && s->threads.items[thread] &&
	       s->threads.items[thread]->open.count;
}

const struct cp_span *cp_spans_around(const struct cp_spans *s, uint32_t thread, uint32_t depth)
{
	const struct cp_spans_thread *t =
		thread < s->threads.count ? s->threads.items[thread] : NULL;
	const struct cp_spans_thread *stack = t ? stack_at(s, t->on_stack) : NULL;
	const struct cp_span *around = stack ? outer(stack, depth) : NULL;

	return around || !t ? around : outer(t, depth);
}

void cp_spans_forget(struct cp_spans *s, uint32_t thread)
{
	struct cp_spans_thread *t = thread < s->threads.count ? s->threads.items[thread] : NULL;
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->open.count; i++)
		s->spare.items[s->spare.count++] = t->open.items[i];
	cp_vec_free(&t->open);
	while (t->again.count)
		free(t->again.items[--t->again.count]);
	cp_vec_free(&t->again);
	free(t);
	s->threads.items[thread] = NULL;
}

void cp_spans_deinit(struct cp_spans *s)
{
	uint64_t key, value;
	size_t cursor = 0, i;

	while (cp_map_next(&s->stacks, &cursor, &key, &value))
		drop_stack(s, (struct cp_spans_thread *)(uintptr_t)value);
	cp_map_free(&s->stacks);
	cp_map_free(&s->entered);
	for (i = 0; i < s->threads.count; i++)
		cp_spans_forget(s, (uint32_t)i);
	for (i = 0; i < s->blocks.count; i++)
		free(s->blocks.items[i]);
	cp_vec_free(&s->threads);
	cp_vec_free(&s->blocks);
	cp_vec_free(&s->spare);
}
