/* SPDX-License-Identifier: MIT
 *
 * Looking into a profile: functions in order, one function by name, its
 * callers and callees, its source lines.
 */
#include "report/profile/places.h"

#include <fnmatch.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/profile/profile.h"

/* ---- functions in order ---- */

struct ordering {
	const struct cp_profile *p;
	enum cp_profile_order order;
};

static int by_u64(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_cost(const struct cp_cost *a, const struct cp_cost *b)
{
	int d = by_u64(a->weight, b->weight);

	return d ? d : by_u64(a->ticks, b->ticks);
}

static int compare_functions(const void *va, const void *vb, void *ctx)
{
	const struct ordering *by = ctx;
	const struct cp_function *a = &by->p->functions.items[*(const uint32_t *)va];
	const struct cp_function *b = &by->p->functions.items[*(const uint32_t *)vb];
	int d = 0;

	if (by->order == CP_ORDER_SELF || by->order >= CP_ORDER_CALLS)
		d = by_cost(&a->self, &b->self);
	if (!d && by->order != CP_ORDER_NAME)
		d = by_cost(&a->total, &b->total);
	if (!d && by->order == CP_ORDER_TOTAL)
		d = by_cost(&a->self, &b->self);
	if (!d)
		d = strcmp(a->name, b->name);
	return d ? d : (a > b) - (a < b);
}

CP_ERROR cp_profile_sorted(const struct cp_profile *p, enum cp_profile_order order, uint32_t **ret,
			   size_t *count_ret)
{
	uint32_t *numbers = calloc(p->functions.count + 1, sizeof(*numbers));
	struct ordering by = { p, order };
	size_t n = 0, i;

	if (!numbers)
		return cp_error_nomem();
	for (i = 0; i < p->functions.count; i++) {
		const struct cp_cost *total = &p->functions.items[i].total;

		if (total->weight || total->ticks)
			numbers[n++] = (uint32_t)i;
	}
	qsort_r(numbers, n, sizeof(*numbers), compare_functions, &by);
	*ret = numbers;
	*count_ret = n;
	return NULL;
}

static int compare_costs(const void *va, const void *vb, void *ctx)
{
	const struct cp_cost *costs = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	int d = by_cost(&costs[a], &costs[b]);

	return d ? d : (a > b) - (a < b);
}

CP_ERROR cp_cost_sorted(const struct cp_cost *costs, size_t count, uint32_t **ret,
			size_t *count_ret)
{
	uint32_t *numbers = calloc(count + 1, sizeof(*numbers));
	size_t n = 0, i;

	if (!numbers)
		return cp_error_nomem();
	for (i = 0; i < count; i++) {
		if (costs[i].weight || costs[i].ticks)
			numbers[n++] = (uint32_t)i;
	}
	qsort_r(numbers, n, sizeof(*numbers), compare_costs, (void *)(uintptr_t)costs);
	*ret = numbers;
	*count_ret = n;
	return NULL;
}

struct cp_cost *cp_profile_image_costs(const struct cp_profile *p)
{
	struct cp_cost *costs = calloc(p->images.count + 1, sizeof(*costs));
	size_t i;

	for (i = 0; costs && i < p->images.count; i++)
		costs[i] = p->images.items[i].self;
	return costs;
}

/* ---- one function by name ---- */

static bool same_without_parameters(const char *want, const struct cp_function *f)
{
	size_t n = strlen(want);

	return !strncmp(f->name, want, n) && (f->name[n] == '(' || f->name[n] == '<');
}

static bool name_matches(unsigned way, const char *want, const struct cp_function *f)
{
	switch (way) {
	case 0:
		return !strcmp(f->name, want);
	case 1:
		return same_without_parameters(want, f);
	case 2:
		return f->linkage && !strcmp(f->linkage, want);
	case 3:
		return strpbrk(want, "*?[") && !fnmatch(want, f->name, 0);
	default:
		return strstr(f->name, want) != NULL;
	}
}

static CP_ERROR ambiguous(const struct cp_profile *p, const char *name, const uint32_t *order,
			  size_t count, unsigned way)
{
	struct cp_buf list CP_CLEANUP(cp_buf_free) = { 0 };
	size_t shown = 0, i;

	for (i = 0; i < count && shown < 8; i++) {
		const struct cp_function *f = &p->functions.items[order[i]];

		if (!name_matches(way, name, f))
			continue;
		cp_buf_str(&list, shown++ ? "\n  " : "  ");
		cp_escape(&list, CP_ESCAPE_TERMINAL, f->name, strlen(f->name));
	}
	return cp_error_hint(cp_error_new(CP_ERR_USAGE, 0,
					  "more than one function is meant by '%s'", name),
			     "name one of them in full:\n%s", list.bytes ? list.bytes : "");
}

CP_ERROR cp_profile_find_among(const struct cp_profile *p, const uint32_t *order, size_t count,
			       const char *name, uint32_t *function_ret)
{
	size_t found, i;
	uint32_t first = 0;
	unsigned way;

	for (way = 0; way <= 4; way++) {
		for (found = 0, i = 0; i < count; i++) {
			if (!name_matches(way, name, &p->functions.items[order[i]]))
				continue;
			if (!found++)
				first = order[i];
		}
		/* Of equal names in several images the first one counts. */
		if (found > 1 && way)
			return ambiguous(p, name, order, count, way);
		if (found) {
			*function_ret = first;
			return NULL;
		}
	}
	return cp_error_hint(cp_error_new(CP_ERR_NOT_FOUND, 0, "no %s has a function named '%s'",
					  cp_record_sample_count(p->record) ? "sample" : "call",
					  name),
			     "cprof report --sort=name --limit=0 lists the names");
}

CP_ERROR cp_profile_find(const struct cp_profile *p, const char *name, uint32_t *function_ret)
{
	uint32_t *order CP_FREE = NULL;
	size_t count;

	CP_TRY(cp_profile_sorted(p, CP_ORDER_TOTAL, &order, &count));
	return cp_profile_find_among(p, order, count, name, function_ret);
}

/* ---- callers and callees ---- */

/* Costs by neighbour; the last element is for CP_RECORD_NONE. */
struct neighbours {
	struct cp_cost *callers, *callees;
	size_t none;
};

static void add_neighbours(const struct cp_profile *p, const struct cp_hit *hit,
			   struct cp_butterfly *b, const struct neighbours *n)
{
	const struct cp_frame *frames = p->frames.items;
	size_t count, first = 0, last = 0, times = 0, i;
	const uint32_t *at = cp_profile_walk(p, hit->stack, &count);

	for (i = 0; i < count; i++) {
		if (frames[at[i]].function != b->function)
			continue;
		if (!times++)
			first = i;
		last = i;
	}
	if (!times)
		return;
	cp_cost_add(&n->callers[first ? frames[at[first - 1]].function : n->none], &hit->cost);
	cp_cost_add(&n->callees[last + 1 < count ? frames[at[last + 1]].function : n->none],
		    &hit->cost);
	if (times > 1)
		cp_cost_add(&b->recursive, &hit->cost);
	if (times > b->deepest)
		b->deepest = times;
}

static bool add_edges(const struct cp_cost *costs, size_t none, struct cp_edges *to)
{
	size_t i;

	for (i = 0; i <= none; i++) {
		uint32_t function = i == none ? CP_RECORD_NONE : (uint32_t)i;

		if ((costs[i].weight || costs[i].ticks) &&
		    !cp_vec_push(to, (struct cp_edge){ function, costs[i] }))
			return false;
	}
	return true;
}

static int compare_edges(const void *va, const void *vb)
{
	const struct cp_edge *a = va, *b = vb;
	int d = by_cost(&a->cost, &b->cost);

	return d ? d : (a->function > b->function) - (a->function < b->function);
}

static void sort_edges(struct cp_edges *edges)
{
	if (edges->count)
		qsort(edges->items, edges->count, sizeof(*edges->items), compare_edges);
}

CP_ERROR cp_butterfly_build(const struct cp_profile *p, uint32_t function, struct cp_butterfly *ret)
{
	struct cp_cost *callers CP_FREE = calloc(p->functions.count + 1, sizeof(*callers));
	struct cp_cost *callees CP_FREE = calloc(p->functions.count + 1, sizeof(*callees));
	struct neighbours n = { callers, callees, p->functions.count };
	struct cp_butterfly b = { .function = function };
	size_t i;

	if (!callers || !callees)
		return cp_error_nomem();
	for (i = 0; i < p->hits.count; i++)
		add_neighbours(p, &p->hits.items[i], &b, &n);
	if (!add_edges(callers, n.none, &b.callers) || !add_edges(callees, n.none, &b.callees)) {
		cp_butterfly_deinit(&b);
		return cp_error_nomem();
	}
	sort_edges(&b.callers);
	sort_edges(&b.callees);
	*ret = b;
	return NULL;
}

void cp_butterfly_deinit(struct cp_butterfly *b)
{
	cp_vec_free(&b->callers);
	cp_vec_free(&b->callees);
}

/* ---- source lines ---- */

struct line_builder {
	const struct cp_profile *p;
	uint32_t function;
	struct cp_interner keys; /* line and file, and where it takes that, function */
	struct cp_lines lines;
	/* By line: the number (from 1) of the last hit added, and the most self that one had. */
	CP_VEC(size_t) seen;
	CP_VEC(uint64_t) most;
};

/* A line is one place, however many functions have it: instances of a template, callers that
 * it is inlined into. Lines of a function asked for are its own, and where no line is known
 * there is the function. */
static bool is_of_function(const struct line_builder *b, const struct cp_frame *frame)
{
	return b->function != CP_RECORD_NONE || !frame->file || !frame->line;
}

static CP_ERROR line_for(struct line_builder *b, const struct cp_frame *frame, uint32_t *ret)
{
	struct cp_line line = { .file = frame->file,
				.line = frame->line,
				.function = frame->function };
	struct cp_buf key CP_CLEANUP(cp_buf_free) = { 0 };
	bool fresh;

	cp_buf_u32(&key, is_of_function(b, frame) ? frame->function : CP_RECORD_NONE);
	cp_buf_u32(&key, frame->line);
	cp_buf_str(&key, frame->file ? frame->file : "");
	if (key.failed || !cp_intern(&b->keys, key.bytes, key.size, ret, &fresh))
		return cp_error_nomem();
	if (fresh && (!cp_vec_push(&b->lines.items, line) || !cp_vec_push(&b->seen, 0) ||
		      !cp_vec_push(&b->most, 0)))
		return cp_error_nomem();
	return NULL;
}

/* The line is shown as that of the function that has most of it at once. */
static void add_self(struct line_builder *b, uint32_t n, uint32_t function,
		     const struct cp_cost *cost)
{
	struct cp_line *line = &b->lines.items.items[n];

	cp_cost_add(&line->self, cost);
	if (cost->weight <= b->most.items[n])
		return;
	b->most.items[n] = cost->weight;
	line->function = function;
}

static CP_ERROR add_lines(struct line_builder *b, size_t number)
{
	const struct cp_hit *hit = &b->p->hits.items[number];
	const uint32_t *at;
	size_t count, i;
	uint32_t n;

	at = cp_profile_walk(b->p, hit->stack, &count);
	for (i = 0; i < count; i++) {
		const struct cp_frame *frame = &b->p->frames.items[at[i]];

		if (b->function != CP_RECORD_NONE && frame->function != b->function)
			continue;
		CP_TRY(line_for(b, frame, &n));
		if (b->seen.items[n] != number + 1)
			cp_cost_add_total(&b->lines.items.items[n].total, hit, b->p->by_calls,
					  i + 1 == count);
		b->seen.items[n] = number + 1;
		if (i + 1 == count)
			add_self(b, n, frame->function, &hit->cost);
	}
	return NULL;
}

static int compare_lines(const void *va, const void *vb)
{
	const struct cp_line *a = va, *b = vb;
	int d = by_cost(&a->self, &b->self);

	d = d ? d : by_cost(&a->total, &b->total);
	if (!d && a->file && b->file)
		d = strcmp(a->file, b->file);
	return d ? d : (a->line > b->line) - (a->line < b->line);
}

CP_ERROR cp_lines_build(const struct cp_profile *p, uint32_t function, struct cp_lines *ret)
{
	struct line_builder b = { .p = p, .function = function };
	struct cp_error *err = NULL;
	size_t i;

	for (i = 0; i < p->hits.count && !err; i++)
		err = add_lines(&b, i);
	cp_interner_free(&b.keys);
	cp_vec_free(&b.seen);
	cp_vec_free(&b.most);
	if (err) {
		cp_lines_deinit(&b.lines);
		return err;
	}
	if (b.lines.items.count)
		qsort(b.lines.items.items, b.lines.items.count, sizeof(struct cp_line),
		      compare_lines);
	*ret = b.lines;
	return NULL;
}

void cp_lines_deinit(struct cp_lines *lines)
{
	cp_vec_free(&lines->items);
}
