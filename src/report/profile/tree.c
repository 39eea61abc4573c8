/* SPDX-License-Identifier: MIT */
#include "report/profile/tree.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "report/profile/profile.h"

void cp_thread_name(const struct cp_profile *p, uint32_t thread, struct cp_buf *out)
{
	const struct cp_record_thread *t = NULL;

	if (thread < cp_record_thread_count(p->record))
		t = cp_record_get_thread(p->record, thread);
	if (t)
		cp_buf_printf(out, "%s (%d)", t->name && *t->name ? t->name : "thread", t->tid);
	else
		cp_buf_str(out, "[unknown thread]");
}

void cp_process_name(const struct cp_profile *p, uint32_t process, struct cp_buf *out)
{
	const struct cp_record_process *q = NULL;

	if (process < cp_record_process_count(p->record))
		q = cp_record_get_process(p->record, process);
	if (q)
		cp_buf_printf(out, "%s (%d)", q->name && *q->name ? q->name : "process", q->pid);
	else
		cp_buf_str(out, "[unknown process]");
}

void cp_tree_name(const struct cp_tree *tree, uint32_t node, struct cp_buf *out)
{
	const struct cp_node *n = &tree->nodes.items[node];

	switch (n->kind) {
	case CP_NODE_ALL:
		cp_buf_str(out, "all");
		break;
	case CP_NODE_PROCESS:
		cp_process_name(tree->profile, n->ref, out);
		break;
	case CP_NODE_THREAD:
		cp_thread_name(tree->profile, n->ref, out);
		break;
	case CP_NODE_TRUNCATED:
		cp_buf_str(out, CP_TRUNCATED_NAME);
		break;
	case CP_NODE_FUNCTION:
		cp_buf_str(out, tree->profile->functions.items[n->ref].name);
		break;
	}
}

enum cp_tree_roots cp_tree_roots_for(const struct cp_profile *p, enum cp_tree_roots roots)
{
	size_t seen;

	if (roots != CP_ROOTS_AUTO)
		return roots;
	seen = cp_cost_used(p->processes, cp_record_process_count(p->record));
	return seen > 1 ? CP_ROOTS_PROCESS : CP_ROOTS_NONE;
}

/* ---- building ---- */

/* A frame of a stack, and how many times what begins there stands on itself. */
struct level {
	uint32_t frame, deep;
};

struct builder {
	struct cp_tree tree;
	enum cp_tree_roots roots;
	bool folds;
	CP_VEC(struct level) levels; /* of the hit being added */
	struct cp_interner children; /* (parent, kind, inlined, ref): node - 1 */
};

static CP_ERROR child_of(struct builder *b, uint32_t parent, const struct cp_node *like,
			 uint32_t *ret)
{
	uint32_t key[4] = { parent, (uint32_t)like->kind, like->inlined, like->ref };
	struct cp_node node = *like;
	uint32_t n;
	bool fresh;

	if (!cp_intern(&b->children, key, sizeof(key), &n, &fresh))
		return cp_error_nomem();
	*ret = ++n;
	if (!fresh)
		return NULL;
	node.parent = parent;
	node.first = CP_NO_NODE;
	node.next = b->tree.nodes.items[parent].first;
	if (!cp_vec_push(&b->tree.nodes, node))
		return cp_error_nomem();
	b->tree.nodes.items[parent].first = n;
	return NULL;
}

/* Steps from *at down to its child like `like`, and adds the hit there; `begins`: the
 * calls of that hit are of this child, or have none around them. */
static CP_ERROR step(struct builder *b, uint32_t *at, const struct cp_node *like,
		     const struct cp_hit *hit, bool begins)
{
	CP_TRY(child_of(b, *at, like, at));
	cp_cost_add_total(&b->tree.nodes.items[*at].total, hit, b->tree.profile->by_calls, begins);
	return NULL;
}

static CP_ERROR step_roots(struct builder *b, const struct cp_hit *hit, bool outermost,
			   uint32_t *at)
{
	struct cp_node like = { .kind = CP_NODE_PROCESS, .frame = CP_RECORD_NONE };

	if (b->roots == CP_ROOTS_PROCESS) {
		like.ref = cp_profile_process(b->tree.profile, hit->thread);
		CP_TRY(step(b, at, &like, hit, outermost));
	} else if (b->roots == CP_ROOTS_THREAD) {
		like.kind = CP_NODE_THREAD;
		like.ref = hit->thread;
		CP_TRY(step(b, at, &like, hit, outermost));
	}
	if (cp_profile_truncated(b->tree.profile, hit->stack)) {
		like.kind = CP_NODE_TRUNCATED;
		like.ref = 0;
		CP_TRY(step(b, at, &like, hit, outermost));
	}
	return NULL;
}

/* Functions that call each other in a circle, so many at most, are folded. */
#define CIRCLE 8u

static bool is_same(const struct cp_profile *p, const struct level *a, const struct level *b)
{
	const struct cp_frame *x = &p->frames.items[a->frame], *y = &p->frames.items[b->frame];

	return x->function == y->function &&
	       (x->flags & CP_FRAME_INLINED) == (y->flags & CP_FRAME_INLINED);
}

/* Do the innermost `n` repeat the `n` around them? */
static bool repeats(const struct builder *b, size_t n)
{
	size_t end = b->levels.count, i;

	if (end < 2 * n)
		return false;
	for (i = end - n; i < end; i++)
		if (!is_same(b->tree.profile, &b->levels.items[i], &b->levels.items[i - n]))
			return false;
	return true;
}

/* Folds recursion: a function that is called again, by itself or in a circle, is the node that
 * it already has. */
static void fold(struct builder *b)
{
	size_t n = 1, i;

	while (n <= CIRCLE && !repeats(b, n))
		n++;
	if (n > CIRCLE)
		return;
	b->levels.count -= n;
	for (i = b->levels.count; i < b->levels.count + n; i++)
		b->levels.items[i - n].deep += b->levels.items[i].deep;
}

static CP_ERROR find_levels(struct builder *b, const uint32_t *frames, size_t count)
{
	size_t i;

	b->levels.count = 0;
	for (i = 0; i < count; i++) {
		if (!cp_vec_push(&b->levels, ((struct level){ frames[i], 1 })))
			return cp_error_nomem();
		if (b->folds)
			fold(b);
	}
	return NULL;
}

static CP_ERROR add_level(struct builder *b, const struct level *level, const struct cp_hit *hit,
			  bool last, uint32_t *at)
{
	const struct cp_frame *f = &b->tree.profile->frames.items[level->frame];
	struct cp_node like = { .kind = CP_NODE_FUNCTION,
				.inlined = f->flags & CP_FRAME_INLINED,
				.ref = f->function,
				.frame = level->frame };
	struct cp_node *node;

	CP_TRY(step(b, at, &like, hit, last && level->deep == 1));
	node = &b->tree.nodes.items[*at];
	if (level->deep > 1 && level->deep > node->deepest)
		node->deepest = level->deep;
	if (f->flags & CP_FRAME_GUESSED)
		node->guessed += hit->cost.weight;
	return NULL;
}

static CP_ERROR add_hit(struct builder *b, const struct cp_hit *hit)
{
	const struct cp_profile *p = b->tree.profile;
	const uint32_t *frames;
	uint32_t at = 0;
	size_t count, i;

	frames = cp_profile_walk(p, hit->stack, &count);
	cp_cost_add_total(&b->tree.nodes.items[0].total, hit, p->by_calls, count == 1);
	CP_TRY(step_roots(b, hit, count == 1, &at));
	CP_TRY(find_levels(b, frames, count));
	for (i = 0; i < b->levels.count; i++)
		CP_TRY(add_level(b, &b->levels.items[i], hit, i + 1 == b->levels.count, &at));
	cp_cost_add(&b->tree.nodes.items[at].self, &hit->cost);
	return NULL;
}

/* ---- order ---- */

static int compare_nodes(const void *va, const void *vb, void *ctx)
{
	const struct cp_tree *tree = ctx;
	uint32_t na = *(const uint32_t *)va, nb = *(const uint32_t *)vb;
	const struct cp_node *a = &tree->nodes.items[na], *b = &tree->nodes.items[nb];

	if (a->total.weight != b->total.weight)
		return a->total.weight < b->total.weight ? 1 : -1;
	if (a->total.ticks != b->total.ticks)
		return a->total.ticks < b->total.ticks ? 1 : -1;
	return (na > nb) - (na < nb);
}

/* Orders the children of `parent`, using `scratch`. */
static void sort_children(struct cp_tree *tree, uint32_t parent, uint32_t *scratch)
{
	struct cp_node *nodes = tree->nodes.items;
	uint32_t n;
	size_t count = 0;

	for (n = nodes[parent].first; n != CP_NO_NODE; n = nodes[n].next)
		scratch[count++] = n;
	qsort_r(scratch, count, sizeof(*scratch), compare_nodes, tree);
	nodes[parent].first = CP_NO_NODE;
	while (count-- > 0) {
		nodes[scratch[count]].next = nodes[parent].first;
		nodes[parent].first = scratch[count];
	}
}

/* A node always comes after its parent, so one pass finds all depths. */
static CP_ERROR finish(struct cp_tree *tree)
{
	uint32_t *scratch CP_FREE = calloc(tree->nodes.count + 1, sizeof(*scratch));
	size_t i;

	if (!scratch)
		return cp_error_nomem();
	for (i = 0; i < tree->nodes.count; i++)
		sort_children(tree, (uint32_t)i, scratch);
	scratch[0] = tree->depth = 1;
	for (i = 1; i < tree->nodes.count; i++) {
		scratch[i] = scratch[tree->nodes.items[i].parent] + 1;
		if (scratch[i] > tree->depth)
			tree->depth = scratch[i];
	}
	return NULL;
}

static CP_ERROR build(const struct cp_profile *p, enum cp_tree_roots roots, bool folds,
		      struct cp_tree *ret)
{
	struct cp_node root = { .kind = CP_NODE_ALL,
				.frame = CP_RECORD_NONE,
				.parent = CP_NO_NODE,
				.first = CP_NO_NODE,
				.next = CP_NO_NODE };
	struct builder b = { .tree = { .profile = p },
			     .roots = cp_tree_roots_for(p, roots),
			     .folds = folds };
	struct cp_error *err = NULL;
	size_t i;

	if (!cp_vec_push(&b.tree.nodes, root))
		err = cp_error_nomem();
	for (i = 0; i < p->hits.count && !err; i++)
		err = add_hit(&b, &p->hits.items[i]);
	if (!err)
		err = finish(&b.tree);
	cp_interner_free(&b.children);
	cp_vec_free(&b.levels);
	if (err)
		cp_tree_deinit(&b.tree);
	else
		*ret = b.tree;
	return err;
}

CP_ERROR cp_tree_build(const struct cp_profile *p, enum cp_tree_roots roots, struct cp_tree *ret)
{
	return build(p, roots, false, ret);
}

CP_ERROR cp_tree_build_folded(const struct cp_profile *p, enum cp_tree_roots roots,
			      struct cp_tree *ret)
{
	return build(p, roots, true, ret);
}

uint32_t cp_tree_next(const struct cp_tree *tree, uint32_t node, uint32_t *depth)
{
	const struct cp_node *nodes = tree->nodes.items;

	if (nodes[node].first != CP_NO_NODE) {
		++*depth;
		return nodes[node].first;
	}
	while (node != CP_NO_NODE && nodes[node].next == CP_NO_NODE) {
		node = nodes[node].parent;
		--*depth;
	}
	return node == CP_NO_NODE ? node : nodes[node].next;
}

void cp_tree_deinit(struct cp_tree *tree)
{
	cp_vec_free(&tree->nodes);
}
