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

struct adder {
	struct cp_profile *p;
	struct cp_map nodes; /* parent, frame: node */
	struct cp_map hits; /* thread, node: hit */
};

static uint32_t node_of(const struct cp_span *span)
{
	return (uint32_t)(uintptr_t)span->data; /* + 1 */
}

static struct cp_error *enter(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct adder *a = ctx;
	struct cp_profile *p = a->p;
	const struct cp_span *outer = cp_span_shown_outer(span);
	struct cp_call_node node = { .frame = p->location_frames[span->location + 1] - 1 };
	uint64_t key, *found;

	(void)call;
	/* A call that the filter leaves out has no node. */
	node.parent = outer ? node_of(outer) : 0;
	node.depth = node.parent ? p->call_nodes.items[node.parent - 1].depth + 1 : 1;
	key = (uint64_t)node.parent << 32 | node.frame;
	found = cp_map_get(&a->nodes, key);
	if (!found && (!cp_vec_push(&p->call_nodes, node) ||
		       !cp_map_put(&a->nodes, key, p->call_nodes.count)))
		return cp_error_nomem();
	span->data = (void *)(uintptr_t)(found ? *found : p->call_nodes.count);
	return NULL;
}

static struct cp_error *leave(void *ctx, struct cp_span *span, const struct cp_record_call *call)
{
	struct adder *a = ctx;
	struct cp_profile *p = a->p;
	struct cp_hit hit = {
		.thread = span->thread,
		.stack = (uint32_t)cp_record_stack_count(p->record) + node_of(span) - 1,
	};
	uint64_t key = (uint64_t)hit.thread << 32 | hit.stack;
	uint64_t *found = cp_map_get(&a->hits, key);
	struct cp_hit *to;

	(void)call;
	if (!found && (!cp_map_put(&a->hits, key, p->hits.count) || !cp_vec_push(&p->hits, hit)))
		return cp_error_nomem();
	to = &p->hits.items[found ? *found : p->hits.count - 1];
	to->cost.ticks += !span->inherited;
	cp_span_add_self(&to->cost.sum, span);
	cp_span_add_whole(&to->whole, span);
	return NULL;
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

CP_ERROR cp_profile_add_calls(struct cp_profile *p)
{
	static const struct cp_span_visitor visitor = { .enter = enter, .leave = leave };
	struct adder a = { .p = p };
	struct cp_error *err = cp_spans_walk(p, &visitor, &a);

	p->by_calls = true;
	settle(p);
	cp_map_free(&a.nodes);
	cp_map_free(&a.hits);
	return err;
}
