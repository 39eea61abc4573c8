/* SPDX-License-Identifier: MIT
 *
 * A recording of calls alone is a profile, too: the time that a call spent in
 * itself, less what tracing added, counts for the stack of traced calls that
 * it stands on. So flame graphs and all else that is made of stacks show it.
 */
#include "report/profile/callstacks.h"

#include "base/cleanup.h"
#include "report/profile/profile.h"
#include "report/profile/spans.h"

/* What was last asked for at a node, which is mostly asked for next. */
struct near {
	uint32_t frame; /* of the child */
	uint32_t child; /* its node, + 1; 0: there was none */
	uint32_t hit; /* + 1, likewise */
};

struct adder {
	struct cp_profile *p;
	struct cp_map nodes; /* parent, frame: node */
	struct cp_map hits; /* thread, node: hit */
	CP_VEC(struct near) near; /* by node + 1; the first is of none */
	const struct cp_span_visitor *beside; /* NULL: nobody */
};

/* The node of a frame that `parent` (+ 1) calls, + 1; 0 without memory. */
static uint32_t child_of(struct adder *a, uint32_t parent, uint32_t frame)
{
	uint64_t key = (uint64_t)parent << 32 | frame, *found;
	struct cp_profile *p = a->p;
	struct near *near = &a->near.items[parent];
	struct cp_call_node node = { .frame = frame, .parent = parent, .depth = 1 };

	if (near->child && near->frame == frame)
		return near->child;
	found = cp_map_get(&a->nodes, key);
	near->frame = frame;
	near->child = found ? (uint32_t)*found : (uint32_t)p->call_nodes.count + 1;
	if (found)
		return near->child;
	if (parent)
		node.depth = p->call_nodes.items[parent - 1].depth + 1;
	if (!cp_vec_push(&a->near, (struct near){ 0 }) || !cp_vec_push(&p->call_nodes, node) ||
	    !cp_map_put(&a->nodes, key, p->call_nodes.count))
		return 0;
	return (uint32_t)p->call_nodes.count;
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct adder *a = ctx;
	const struct cp_span *outer = cp_span_shown_outer(span);
	/* A call that the filter leaves out has no node. */
	uint32_t node =
		child_of(a, outer ? outer->node : 0, a->p->location_frames[span->location + 1] - 1);

	span->node = node; /* + 1 */
	span->data = a;
	if (!node)
		return cp_error_nomem();
	return a->beside ? a->beside->enter(a->p->beside, span, call) : NULL;
}

/* NULL without memory. */
static struct cp_hit *hit_of(struct adder *a, uint32_t thread, uint32_t node)
{
	struct cp_profile *p = a->p;
	struct cp_hit hit = {
		.thread = thread,
		.stack = (uint32_t)cp_record_stack_count(p->record) + node - 1,
	};
	uint64_t key = (uint64_t)thread << 32 | hit.stack, *found;
	uint32_t *near = &a->near.items[node].hit;

	if (*near && p->hits.items[*near - 1].thread == thread)
		return &p->hits.items[*near - 1];
	found = cp_map_get(&a->hits, key);
	if (!found && (!cp_map_put(&a->hits, key, p->hits.count) || !cp_vec_push(&p->hits, hit)))
		return NULL;
	*near = (uint32_t)(found ? *found + 1 : p->hits.count);
	return &p->hits.items[*near - 1];
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct adder *a = ctx;
	struct cp_hit *to = hit_of(a, span->thread, span->node);

	if (!to)
		return cp_error_nomem();
	to->cost.ticks += !span->inherited;
	cp_span_add_self(&to->cost.sum, span);
	cp_span_add_whole(&to->whole, span);
	return a->beside ? a->beside->leave(a->p->beside, span, call) : NULL;
}

static struct cp_error *disarmed(void *ctx, uint32_t thread, uint32_t function,
				 const struct cp_record_call *call)
{
	struct adder *a = ctx;

	return a->beside ? a->beside->disarmed(a->p->beside, thread, function, call) : NULL;
}

/* Costs have to add up: none is less than nothing. */
static void settle(struct cp_profile *p)
{
	struct cp_hit *hit;

	cp_vec_for_each(&p->hits, hit) {
		int64_t likely = hit->cost.sum.likely_ns;
		size_t node = hit->stack - cp_record_stack_count(p->record);

		hit->cost.weight = likely > 0 ? (uint64_t)likely : 0;
		cp_cost_add_total(&p->total, hit, true, p->call_nodes.items[node].depth == 1);
	}
}

static struct cp_error *begin(struct adder *a)
{
	struct cp_profile *p = a->p;

	if (!cp_vec_push(&a->near, (struct near){ 0 }))
		return cp_error_nomem();
	if (!p->filter.beside || cp_record_stack_count(p->record))
		return NULL;
	CP_TRY(p->filter.beside->begin(p, &p->beside));
	a->beside = p->filter.beside->visitor;
	return NULL;
}

CP_ERROR cp_profile_add_calls(struct cp_profile *p)
{
	static const struct cp_span_visitor visitor = {
		.enter = enter, .leave = leave, .disarmed = disarmed, .bare = true
	};
	struct adder a = { .p = p };
	struct cp_error *err = begin(&a);

	if (!err)
		err = cp_spans_walk(p, &visitor, &a);
	p->by_calls = true;
	settle(p);
	cp_map_free(&a.nodes);
	cp_map_free(&a.hits);
	cp_vec_free(&a.near);
	return err;
}
