/* SPDX-License-Identifier: MIT
 *
 * Cells are added as they come, and added up when they are many. At the end buckets are made
 * wider until a browser has few enough to read, and stacks that are nothing to speak of in any
 * series become one beside those that are kept.
 */
#include "report/export/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "report/export/timeline_events.h"
#include "report/profile/recorded.h"

#define BUCKETS 1024u
#define BUCKETS_LEAST 128u
#define CELLS_MOST 500000u /* of all series: 10 MB of text */
#define NODES_MOST 120000u
#define PENDING (1u << 20) /* cells that wait for being added up */
#define NEAR (1u << 14) /* of them that more is added to at once */

/* ---- labels and nodes ---- */

void cp_label_text(const struct cp_timeline *t, const struct cp_label *label, struct cp_buf *out)
{
	switch (label->kind) {
	case CP_LABEL_ALL:
		cp_buf_str(out, "all");
		break;
	case CP_LABEL_PROCESS:
		cp_process_name(t->p, label->ref, out);
		break;
	case CP_LABEL_THREAD:
		cp_thread_name(t->p, label->ref, out);
		break;
	case CP_LABEL_TRUNCATED:
		cp_buf_str(out, CP_TRUNCATED_NAME);
		break;
	case CP_LABEL_SMALL:
		cp_buf_str(out, "[too little to be kept apart]");
		break;
	case CP_LABEL_FUNCTION:
		cp_buf_str(out, t->p->functions.items[label->ref].name);
		break;
	case CP_LABEL_THING:
		cp_buf_str(out, label->text);
		break;
	}
}

static CP_ERROR find_label(struct cp_timeline *t, const struct cp_label *like, uint32_t *ret)
{
	struct cp_buf key CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_label label = *like;
	bool fresh;

	cp_buf_u32(&key, (uint32_t)like->kind);
	cp_buf_u32(&key, like->ref);
	cp_buf_str(&key, like->text ? like->text : "");
	if (key.failed || !cp_intern(&t->label_keys, key.bytes, key.size, ret, &fresh))
		return cp_error_nomem();
	if (!fresh)
		return NULL;
	label.text = (const char *)t->label_keys.items[*ret].bytes + 8;
	return cp_vec_push(&t->labels, label) ? NULL : cp_error_nomem();
}

CP_ERROR cp_timeline_label(struct cp_timeline *t, const struct cp_label *like, uint32_t *ret)
{
	uint32_t *known;

	if (like->kind != CP_LABEL_FUNCTION)
		return find_label(t, like, ret);
	known = &t->function_labels[like->ref];
	if (!*known) {
		CP_TRY(find_label(t, like, known));
		++*known;
	}
	*ret = *known - 1;
	return NULL;
}

/* The child that was asked for last, if it is that one. */
static uint32_t near_child(const struct cp_timeline *t, uint32_t parent, uint32_t label,
			   uint32_t inlined)
{
	uint32_t near = t->nodes.items[parent].near;
	const struct cp_timeline_node *n = &t->nodes.items[near];

	return near && n->label == label && (n->flags & CP_TIMELINE_INLINED) == inlined ? near : 0;
}

CP_ERROR cp_timeline_child(struct cp_timeline *t, uint32_t parent, const struct cp_label *label,
			   uint32_t flags, uint32_t *ret)
{
	struct cp_timeline_node node = { .parent = parent, .flags = flags };
	uint32_t key[3], n;
	bool fresh;

	CP_TRY(cp_timeline_label(t, label, &node.label));
	*ret = near_child(t, parent, node.label, flags & CP_TIMELINE_INLINED);
	t->nodes.items[*ret].flags |= *ret ? flags : 0;
	if (*ret)
		return NULL;
	key[0] = parent;
	key[1] = node.label;
	key[2] = flags & CP_TIMELINE_INLINED;
	if (!cp_intern(&t->node_keys, key, sizeof(key), &n, &fresh) ||
	    (fresh && !cp_vec_push(&t->nodes, node)))
		return cp_error_nomem();
	*ret = n + 1; /* the root has no key */
	t->nodes.items[*ret].flags |= flags;
	t->nodes.items[parent].near = *ret;
	return NULL;
}

CP_ERROR cp_timeline_root(struct cp_timeline *t, uint32_t thread, uint32_t *ret)
{
	struct cp_label label = { .kind = CP_LABEL_PROCESS };

	*ret = 0;
	if (t->roots == CP_ROOTS_PROCESS) {
		label.ref = cp_profile_process(t->p, thread);
		return cp_timeline_child(t, 0, &label, 0, ret);
	}
	label.kind = CP_LABEL_THREAD;
	label.ref = thread;
	return t->roots == CP_ROOTS_THREAD ? cp_timeline_child(t, 0, &label, 0, ret) : NULL;
}

CP_ERROR cp_timeline_frame(struct cp_timeline *t, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	const struct cp_frame *f = &t->p->frames.items[frame];
	struct cp_label label = { .kind = CP_LABEL_FUNCTION, .ref = f->function };

	return cp_timeline_child(t, parent, &label,
				 (f->flags & CP_FRAME_INLINED ? CP_TIMELINE_INLINED : 0) |
					 (f->flags & CP_FRAME_GUESSED ? CP_TIMELINE_GUESSED : 0),
				 ret);
}

CP_ERROR cp_timeline_stack(struct cp_timeline *t, uint32_t thread, uint32_t stack, uint32_t *ret)
{
	static const struct cp_label cut = { .kind = CP_LABEL_TRUNCATED };
	const uint32_t *frames;
	const uint64_t *known;
	size_t count, i;
	uint32_t at;
	uint64_t key;

	CP_TRY(cp_timeline_root(t, thread, &at));
	key = (uint64_t)at << 32 | stack;
	known = cp_map_get(&t->stacks, key);
	if (known) {
		*ret = (uint32_t)*known;
		return NULL;
	}
	if (cp_profile_truncated(t->p, stack))
		CP_TRY(cp_timeline_child(t, at, &cut, 0, &at));
	frames = cp_profile_walk(t->p, stack, &count);
	for (i = 0; i < count; i++)
		CP_TRY(cp_timeline_frame(t, at, frames[i], &at));
	*ret = at;
	return cp_map_put(&t->stacks, key, at) ? NULL : cp_error_nomem();
}

/* ---- cells ---- */

static int by_place(const void *va, const void *vb)
{
	const struct cp_timeline_cell *a = va, *b = vb;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->bucket != b->bucket)
		return a->bucket < b->bucket ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* Cells of one place become one; those that come to nothing are none. */
static void add_up(struct cp_timeline_series *s)
{
	struct cp_timeline_cell *cells = s->cells.items;
	size_t n = 0, i;

	cp_vec_sort(&s->cells, by_place);
	for (i = 0; i < s->cells.count; i++) {
		if (n && !by_place(&cells[n - 1], &cells[i])) {
			cells[n - 1].weight += cells[i].weight;
			cells[n - 1].ticks += cells[i].ticks;
			continue;
		}
		n -= n && !cells[n - 1].weight && !cells[n - 1].ticks;
		cells[n++] = cells[i];
	}
	n -= n && !cells[n - 1].weight && !cells[n - 1].ticks;
	s->cells.count = s->summed = n;
	if (s->near)
		memset(s->near, 0, NEAR * sizeof(*s->near));
}

uint32_t cp_timeline_bucket(const struct cp_timeline *t, uint64_t ns)
{
	uint64_t n = ns > t->from_ns ? (ns - t->from_ns) / t->bucket_ns : 0;

	return n < t->buckets ? (uint32_t)n : t->buckets - 1;
}

CP_ERROR cp_timeline_add(struct cp_timeline *t, enum cp_series series,
			 const struct cp_timeline_cell *cell)
{
	struct cp_timeline_series *s = &t->series[series];
	uint64_t hash = cell->node * UINT64_C(0x9e3779b97f4a7c15) +
			cell->bucket * UINT64_C(0xff51afd7ed558ccd) + cell->thread;
	struct cp_timeline_cell *to;
	uint32_t *near;

	if (!s->near)
		s->near = calloc(NEAR, sizeof(*s->near));
	if (!s->near)
		return cp_error_nomem();
	near = &s->near[hash >> 40 & (NEAR - 1)];
	to = *near ? &s->cells.items[*near - 1] : NULL;
	if (to && !by_place(to, cell)) {
		to->weight += cell->weight;
		to->ticks += cell->ticks;
		return NULL;
	}
	if (s->cells.count >= s->summed * 2 + PENDING)
		add_up(s);
	if (!cp_vec_push(&s->cells, *cell))
		return cp_error_nomem();
	*near = (uint32_t)s->cells.count;
	return NULL;
}

CP_ERROR cp_timeline_spread(struct cp_timeline *t, enum cp_series series,
			    struct cp_timeline_cell cell, uint64_t from_ns, uint64_t to_ns)
{
	const int64_t whole = cell.weight;
	int64_t given = 0;
	uint32_t first, last;

	from_ns = from_ns < t->from_ns ? t->from_ns : from_ns;
	last = cp_timeline_bucket(t, to_ns);
	first = to_ns > from_ns + t->bucket_ns ? cp_timeline_bucket(t, from_ns) : last;
	for (cell.bucket = first; cell.bucket < last; cell.bucket++) {
		uint64_t end = t->from_ns + (cell.bucket + 1) * t->bucket_ns;
		struct cp_timeline_cell piece = cell;
		double part = (double)(end - from_ns) / (double)(to_ns - from_ns);
		int64_t until = (int64_t)((double)whole * part);

		piece.weight = until - given;
		piece.ticks = 0;
		given = until;
		CP_TRY(cp_timeline_add(t, series, &piece));
	}
	cell.weight = whole - given;
	return cp_timeline_add(t, series, &cell);
}

bool cp_timeline_has_cells(const struct cp_timeline *t)
{
	size_t i;

	for (i = 0; i < CP_SERIES_COUNT; i++)
		if (t->series[i].cells.count)
			return true;
	return false;
}

/* ---- fewer of them ---- */

static size_t count_cells(const struct cp_timeline *t)
{
	size_t n = 0, i;

	for (i = 0; i < CP_SERIES_ALL; i++)
		n += t->series[i].cells.count;
	return n;
}

static void widen(struct cp_timeline *t)
{
	struct cp_timeline_cell *cell;
	size_t i;

	for (i = 0; i < CP_SERIES_ALL; i++) {
		cp_vec_for_each(&t->series[i].cells, cell)
			cell->bucket /= 2;
		add_up(&t->series[i]);
	}
	t->buckets = (t->buckets + 1) / 2;
	t->bucket_ns *= 2;
}

/* The greatest share that each node has of a series. */
static CP_ERROR find_shares(const struct cp_timeline *t, double *shares)
{
	CP_FREE double *sums = calloc(t->nodes.count, sizeof(*sums));
	const struct cp_timeline_cell *cell;
	size_t i, n;

	if (!sums)
		return cp_error_nomem();
	for (i = 0; i < CP_SERIES_COUNT; i++) {
		memset(sums, 0, t->nodes.count * sizeof(*sums));
		cp_vec_for_each(&t->series[i].cells, cell)
			sums[cell->node] += (double)(cell->weight + cell->ticks);
		for (n = t->nodes.count - 1; n; n--)
			sums[t->nodes.items[n].parent] += sums[n];
		for (n = 0; n < t->nodes.count && sums[0] > 0; n++)
			shares[n] = sums[n] / sums[0] > shares[n] ? sums[n] / sums[0] : shares[n];
	}
	return NULL;
}

/* A share below which there are enough nodes to leave out. */
static double threshold(const struct cp_timeline *t, const double *shares)
{
	double least = t->nodes.count > NODES_MOST ? 1e-7 : 1e-12;
	size_t kept = SIZE_MAX, n;

	while (kept > NODES_MOST && least < 1) {
		kept = 0;
		for (n = 0; n < t->nodes.count; n++)
			kept += shares[n] >= least;
		least *= kept > NODES_MOST ? 1.5 : 1;
	}
	return least;
}

/* Nodes that hold nothing go, and those of little become one of their caller's. `to`: by
 * number, the new one. The interners' numbers mean nothing from here on. */
static CP_ERROR renumber(struct cp_timeline *t, const double *shares, uint32_t *to)
{
	static const struct cp_label small = { .kind = CP_LABEL_SMALL };
	const double least = threshold(t, shares);
	CP_FREE uint32_t *smalls = calloc(t->nodes.count, sizeof(*smalls)); /* by new parent */
	struct cp_timeline_node node;
	size_t total = t->nodes.count, n, kept = 1;
	uint32_t label;

	if (!smalls)
		return cp_error_nomem();
	CP_TRY(cp_timeline_label(t, &small, &label));
	for (n = 1; n < total; n++) {
		node = t->nodes.items[n];
		to[n] = to[node.parent];
		node.parent = to[n];
		/* Within what is small already: */
		if (shares[n] <= 0 || t->nodes.items[node.parent].label == label)
			continue;
		if (shares[n] < least) {
			if (smalls[node.parent]) {
				to[n] = smalls[node.parent];
				continue;
			}
			smalls[node.parent] = (uint32_t)kept;
			node.label = label;
			node.flags = 0;
		}
		to[n] = (uint32_t)kept;
		t->nodes.items[kept++] = node;
	}
	t->nodes.count = kept;
	return NULL;
}

static CP_ERROR move_own(struct cp_timeline_series *s, const uint32_t *to)
{
	struct cp_map moved = { 0 };
	uint64_t node, label;
	size_t cursor = 0;
	bool ok = true;

	while (ok && cp_map_next(&s->own, &cursor, &node, &label))
		ok = cp_map_put(&moved, to[node], label);
	cp_map_free(&s->own);
	s->own = moved;
	return ok ? NULL : cp_error_nomem();
}

static CP_ERROR leave_out(struct cp_timeline *t)
{
	CP_FREE double *shares = calloc(t->nodes.count, sizeof(*shares));
	CP_FREE uint32_t *to = calloc(t->nodes.count, sizeof(*to));
	struct cp_timeline_cell *cell;
	size_t i;

	if (!shares || !to)
		return cp_error_nomem();
	CP_TRY(find_shares(t, shares));
	CP_TRY(renumber(t, shares, to));
	for (i = 0; i < CP_SERIES_COUNT; i++) {
		cp_vec_for_each(&t->series[i].cells, cell)
			cell->node = to[cell->node];
		CP_TRY(move_own(&t->series[i], to));
		add_up(&t->series[i]);
	}
	return NULL;
}

/* ---- all of it ---- */

static uint64_t end_of(const struct cp_profile *p)
{
	const struct cp_record_sample *s = cp_record_samples(p->record);
	uint64_t end = cp_report_duration(p->record), at;
	size_t count = cp_record_sample_count(p->record), i;

	if (p->filter.to_ns)
		return p->filter.to_ns < end || !end ? p->filter.to_ns : end;
	for (i = 0; i < count; i++) {
		at = cp_profile_ns(p, s[i].ts_ns);
		end = at > end ? at : end;
	}
	return end;
}

static CP_ERROR build(struct cp_timeline *t)
{
	static const struct cp_label all = { .kind = CP_LABEL_ALL };
	struct cp_timeline_node root = { 0 };
	uint64_t end = end_of(t->p);
	size_t i;

	t->from_ns = t->p->filter.from_ns;
	t->buckets = BUCKETS;
	t->bucket_ns = end > t->from_ns ? (end - t->from_ns + BUCKETS - 1) / BUCKETS : 1;
	t->function_labels = calloc(t->p->functions.count + 1, sizeof(*t->function_labels));
	if (!t->function_labels)
		return cp_error_nomem();
	CP_TRY(cp_timeline_label(t, &all, &root.label));
	if (!cp_vec_push(&t->nodes, root))
		return cp_error_nomem();
	CP_TRY(cp_timeline_take(t));
	for (i = 0; i < CP_SERIES_ALL; i++)
		add_up(&t->series[i]);
	CP_TRY(leave_out(t));
	while (count_cells(t) > CELLS_MOST && t->buckets > BUCKETS_LEAST)
		widen(t);
	return NULL;
}

CP_ERROR cp_timeline_build(const struct cp_profile *p, enum cp_tree_roots roots,
			   const struct cp_spots *spots, struct cp_timeline *ret)
{
	struct cp_timeline t = { .p = p, .spots = spots, .roots = cp_tree_roots_for(p, roots) };
	struct cp_error *err = build(&t);

	if (err)
		cp_timeline_deinit(&t);
	else
		*ret = t;
	return err;
}

void cp_timeline_deinit(struct cp_timeline *t)
{
	size_t i;

	for (i = 0; i < CP_SERIES_ALL; i++) {
		cp_vec_free(&t->series[i].cells);
		cp_map_free(&t->series[i].own);
		free(t->series[i].near);
	}
	cp_vec_free(&t->labels);
	cp_vec_free(&t->nodes);
	cp_interner_free(&t->label_keys);
	cp_interner_free(&t->node_keys);
	cp_map_free(&t->stacks);
	free(t->function_labels);
}
