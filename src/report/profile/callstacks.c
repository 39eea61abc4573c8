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

/* What was asked for last, some thousand of them. */
#define NEAR_BITS 12
struct near {
	uint32_t parent, frame;
	uint32_t child; /* its node, + 1; 0: there was none */
};

struct adder {
	struct cp_profile *p;
	struct cp_map nodes; /* parent, frame: node */
	struct cp_map hits; /* thread, node: hit */
	struct near near[1u << NEAR_BITS]; /* by parent and frame */
	CP_VEC(uint32_t) near_hits; /* by node + 1, the first of none: the last hit, + 1 */
	const struct cp_span_visitor *beside; /* NULL: nobody */
};

/* The node of a frame that `parent` (+ 1) calls, + 1; 0 without memory. */
static uint32_t find_child(struct adder *a, uint32_t parent, uint32_t frame)
{
	uint64_t key = (uint64_t)parent << 32 | frame;
	const uint64_t *found = cp_map_get(&a->nodes, key);
	struct cp_profile *p = a->p;
	struct cp_call_node node = { .frame = frame, .parent = parent, .depth = 1 };

	if (found)
		return (uint32_t)*found;
	if (parent)
		node.depth = p->call_nodes.items[parent - 1].depth + 1;
	if (!cp_vec_push(&a->near_hits, 0) || !cp_vec_push(&p->call_nodes, node) ||
	    !cp_map_put(&a->nodes, key, p->call_nodes.count))
		return 0;
	return (uint32_t)p->call_nodes.count;
}

static inline uint32_t child_of(struct adder *a, uint32_t parent, uint32_t frame)
{
	struct near *near =
		&a->near[(parent * 0x9e3779b1u ^ frame * 0x85ebca6bu) >> (32 - NEAR_BITS)];

	if (!near->child || near->parent != parent || near->frame != frame)
		*near = (struct near){ parent, frame, find_child(a, parent, frame) };
	return near->child;
}

/* False without memory. A call that the filter leaves out has no node. */
static bool find_node(struct adder *a, struct cp_span *span)
{
	const struct cp_span *outer = cp_span_shown_outer(span);

	span->node = child_of(a, outer ? outer->node : 0,
			      a->p->location_frames[span->location + 1] - 1); /* + 1 */
	return span->node;
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct adder *a = ctx;

	span->data = a;
	if (!find_node(a, span))
		return cp_error_nomem();
	return a->beside ? a->beside->enter(a->p->beside, span, call) : NULL;
}

/* The place + 1; 0 without memory. */
static uint32_t find_hit(struct adder *a, uint32_t thread, uint32_t node)
{
	struct cp_profile *p = a->p;
	struct cp_hit hit = {
		.thread = thread,
		.stack = (uint32_t)cp_record_stack_count(p->record) + node - 1,
	};
	uint64_t key = (uint64_t)thread << 32 | hit.stack;
	const uint64_t *found = cp_map_get(&a->hits, key);

	if (found)
		return (uint32_t)*found + 1;
	if (!cp_map_put(&a->hits, key, p->hits.count) || !cp_vec_push(&p->hits, hit))
		return 0;
	return (uint32_t)p->hits.count;
}

/* NULL without memory. */
static inline struct cp_hit *hit_of(struct adder *a, uint32_t thread, uint32_t node)
{
	struct cp_profile *p = a->p;
	uint32_t *near = &a->near_hits.items[node];

	if (!*near || p->hits.items[*near - 1].thread != thread)
		*near = find_hit(a, thread, node);
	return *near ? &p->hits.items[*near - 1] : NULL;
}

/* Adds a call that is over, or so many alike. */
static bool add(struct adder *a, const struct cp_span *span, uint64_t times)
{
	struct cp_hit *to = hit_of(a, span->thread, span->node);

	if (!to)
		return false;
	if (!span->inherited)
		to->cost.ticks += times;
	cp_span_add_self(&to->cost.sum, span, times);
	cp_span_add_whole(&to->whole, span, times);
	return true;
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct adder *a = ctx;

	if (!add(a, span, 1))
		return cp_error_nomem();
	return a->beside ? a->beside->leave(a->p->beside, span, call) : NULL;
}

static struct cp_error *leaves(void *ctx, struct cp_span *span, uint64_t count)
{
	struct adder *a = ctx;

	if (!find_node(a, span) || !add(a, span, count))
		return cp_error_nomem();
	return a->beside ? a->beside->leaves(a->p->beside, span, count) : NULL;
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

	if (!cp_vec_push(&a->near_hits, 0))
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
		.enter = enter, .leave = leave, .leaves = leaves, .disarmed = disarmed, .bare = true
	};
	struct adder a = { .p = p };
	struct cp_error *err = begin(&a);

	if (!err)
		err = cp_spans_walk(p, &visitor, &a);
	p->by_calls = true;
	settle(p);
	cp_map_free(&a.nodes);
	cp_map_free(&a.hits);
	cp_vec_free(&a.near_hits);
	return err;
}
