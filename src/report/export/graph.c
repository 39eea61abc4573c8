/* SPDX-License-Identifier: MIT */
#include "report/export/graph.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "report/events/calls.h"
#include "report/look/table.h"
#include "report/profile/unit.h"

#define NAME_COLUMNS 48

/* What there is, before anything is left out: edges are between functions. */
struct builder {
	struct cp_graph g;
	struct cp_map edges; /* caller, callee: edge */
};

/* ---- of calls ---- */

static CP_ERROR add_calls(struct builder *b)
{
	struct cp_calls c CP_CLEANUP(cp_calls_deinit) = { 0 };
	const struct cp_called *f;
	const struct cp_call_edge *e;

	CP_TRY(cp_calls_build(b->g.profile, &c));
	b->g.whole = c.outermost.ns;
	cp_vec_for_each(&c.functions, f)
		if ((f->sum.calls || f->sum.inherited) &&
		    !cp_vec_push(&b->g.nodes, ((struct cp_graph_node){ f->function, f->total,
								       f->self, f->sum.calls })))
			return cp_error_nomem();
	cp_vec_for_each(&c.edges, e)
		if (e->caller != CP_RECORD_NONE &&
		    !cp_vec_push(&b->g.edges, ((struct cp_graph_edge){ e->caller, e->callee,
								       e->time, e->sum.calls })))
			return cp_error_nomem();
	return NULL;
}

/* ---- of stacks ---- */

static CP_ERROR add_edge(struct builder *b, uint32_t from, uint32_t to, const struct cp_hit *hit,
			 struct cp_map *seen)
{
	uint64_t key = (uint64_t)from << 32 | to, *found = cp_map_get(&b->edges, key);
	struct cp_graph_edge *e;

	if (cp_map_get(seen, key)) /* recursion counts once */
		return NULL;
	if (!cp_map_put(seen, key, 1) ||
	    (!found && (!cp_vec_push(&b->g.edges, ((struct cp_graph_edge){ from, to })) ||
			!cp_map_put(&b->edges, key, b->g.edges.count - 1))))
		return cp_error_nomem();
	e = &b->g.edges.items[found ? *found : b->g.edges.count - 1];
	e->time.ns += hit->cost.weight;
	e->count += hit->cost.ticks;
	return NULL;
}

static CP_ERROR add_hit(struct builder *b, const struct cp_hit *hit)
{
	const struct cp_profile *p = b->g.profile;
	struct cp_map seen = { 0 };
	struct cp_error *err = NULL;
	const uint32_t *frames;
	size_t count, i;

	frames = cp_profile_walk(p, hit->stack, &count);
	for (i = 1; i < count && !err; i++)
		err = add_edge(b, p->frames.items[frames[i - 1]].function,
			       p->frames.items[frames[i]].function, hit, &seen);
	cp_map_free(&seen);
	return err;
}

static CP_ERROR add_stacks(struct builder *b)
{
	const struct cp_profile *p = b->g.profile;
	const struct cp_hit *hit;
	uint32_t i;

	b->g.whole = p->total.weight;
	for (i = 0; i < p->functions.count; i++) {
		const struct cp_function *f = &p->functions.items[i];
		struct cp_graph_node node = {
			i, { f->total.weight, false }, { f->self.weight, false }, f->total.ticks
		};

		if (node.count && !cp_vec_push(&b->g.nodes, node))
			return cp_error_nomem();
	}
	cp_vec_for_each(&p->hits, hit)
		CP_TRY(add_hit(b, hit));
	return NULL;
}

/* ---- what is shown ---- */

static int by_total(const void *va, const void *vb)
{
	const struct cp_graph_node *a = va, *b = vb;

	if (a->total.ns != b->total.ns)
		return a->total.ns < b->total.ns ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

static int by_time(const void *va, const void *vb)
{
	const struct cp_graph_edge *a = va, *b = vb;

	if (a->time.ns != b->time.ns)
		return a->time.ns < b->time.ns ? 1 : -1;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static bool is_large(const struct cp_graph *g, struct cp_net_time time, double least)
{
	return (double)time.ns >= least * (double)g->whole;
}

/* Edges are between nodes from here on; `place`: node + 1 of a function. */
static void leave_out(struct cp_graph *g, double least, size_t most, uint32_t *place)
{
	size_t count = 0, i;

	for (i = 0; i < g->nodes.count; i++) {
		struct cp_graph_node node = g->nodes.items[i];

		if (!is_large(g, node.total, least) && !is_large(g, node.self, least))
			continue;
		g->most_self = node.self.ns > g->most_self ? node.self.ns : g->most_self;
		g->nodes.items[count++] = node;
		place[node.function] = (uint32_t)count;
	}
	g->left_nodes = g->nodes.count - count;
	g->nodes.count = count;
	for (count = 0, i = 0; i < g->edges.count; i++) {
		struct cp_graph_edge e = g->edges.items[i];

		if (!place[e.from] || !place[e.to] || !is_large(g, e.time, least) ||
		    (most && count >= most))
			continue;
		g->edges.items[count++] =
			(struct cp_graph_edge){ place[e.from] - 1, place[e.to] - 1, e.time,
						e.count };
	}
	g->left_edges = g->edges.count - count;
	g->edges.count = count;
}

static CP_ERROR finish(struct cp_graph *g, double least, size_t most)
{
	CP_FREE uint32_t *place = calloc(g->profile->functions.count + 1, sizeof(*place));
	CP_FREE const char **names = calloc(g->nodes.count + 1, sizeof(*names));
	size_t i;

	if (!place || !names)
		return cp_error_nomem();
	cp_sort(g->nodes.items, g->nodes.count, sizeof(*g->nodes.items), by_total);
	cp_sort(g->edges.items, g->edges.count, sizeof(*g->edges.items), by_time);
	leave_out(g, least, most, place);
	for (i = 0; i < g->nodes.count; i++)
		names[i] = g->profile->functions.items[g->nodes.items[i].function].name;
	cp_brief_init(&g->names, names, g->nodes.count, NAME_COLUMNS);
	return g->names.shown ? NULL : cp_error_nomem();
}

CP_ERROR cp_graph_build(const struct cp_profile *p, double least, size_t most, struct cp_graph *ret)
{
	struct builder b = { .g = { .profile = p } };
	struct cp_error *err = p->by_calls ? add_calls(&b) : add_stacks(&b);

	cp_map_free(&b.edges);
	if (!err)
		err = finish(&b.g, least, most);
	if (err)
		cp_graph_deinit(&b.g);
	else
		*ret = b.g;
	return err;
}

void cp_graph_deinit(struct cp_graph *g)
{
	cp_vec_free(&g->nodes);
	cp_vec_free(&g->edges);
	cp_brief_deinit(&g->names);
}

/* ---- words ---- */

void cp_graph_add_amount(const struct cp_graph *g, struct cp_net_time amount, struct cp_buf *out)
{
	cp_buf_str(out, amount.at_most ? "<= " : "");
	g->profile->unit->add(out, amount.ns);
}

void cp_graph_add_count(const struct cp_graph *g, uint64_t count, struct cp_buf *out)
{
	cp_add_plural(out, count, g->profile->unit->tick, g->profile->unit->ticks);
}

void cp_graph_add_left_out(const struct cp_graph *g, double least, struct cp_buf *out)
{
	if (!g->left_nodes && !g->left_edges)
		return;
	cp_add_plural(out, g->left_nodes, "function", "functions");
	cp_buf_str(out, " and ");
	cp_add_plural(out, g->left_edges, "edge", "edges");
	cp_buf_printf(out, " are not shown: --min=0 has those smaller than %.3g%%", least * 100);
}
