/* SPDX-License-Identifier: MIT
 *
 * One sweep over the ranges by their start. A heap holds those that began and
 * may not have ended, the strongest on top; ended ones are dropped when they
 * come up. Between two points where the top can change, the top one covers.
 */
#include "image/spans.h"

#include <stdlib.h>

#include "base/vec.h"

struct sweep {
	CP_VEC(const struct cp_span *) heap;
	CP_VEC(struct cp_span) out;
};

static bool push(struct sweep *s, const struct cp_span *span)
{
	size_t i, up;

	if (!cp_vec_push(&s->heap, span))
		return false;
	for (i = s->heap.count - 1; i; i = up) {
		up = (i - 1) / 2;
		if (s->heap.items[up]->priority >= span->priority)
			break;
		s->heap.items[i] = s->heap.items[up];
		s->heap.items[up] = span;
	}
	return true;
}

static void pop(struct sweep *s)
{
	const struct cp_span *last = s->heap.items[--s->heap.count];
	size_t i = 0, down;

	while ((down = 2 * i + 1) < s->heap.count) {
		if (down + 1 < s->heap.count &&
		    s->heap.items[down + 1]->priority > s->heap.items[down]->priority)
			down++;
		if (last->priority >= s->heap.items[down]->priority)
			break;
		s->heap.items[i] = s->heap.items[down];
		i = down;
	}
	if (s->heap.count)
		s->heap.items[i] = last;
}

static bool emit(struct sweep *s, const struct cp_span *span, uint64_t start, uint64_t end)
{
	struct cp_span *last = s->out.count ? &s->out.items[s->out.count - 1] : NULL;

	if (start >= end)
		return true;
	if (last && last->end == start && last->value == span->value &&
	    last->priority == span->priority) {
		last->end = end;
		return true;
	}
	return cp_vec_push(&s->out, (struct cp_span){ start, end, span->priority, span->value });
}

/* Everything from `at` up to `until`, where another range begins. */
static bool drain(struct sweep *s, uint64_t at, uint64_t until)
{
	const struct cp_span *top;
	uint64_t end;

	while (s->heap.count && at < until) {
		top = s->heap.items[0];
		if (top->end <= at) {
			pop(s);
			continue;
		}
		end = top->end < until ? top->end : until;
		if (!emit(s, top, at, end))
			return false;
		at = end;
	}
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct cp_span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool sorted(const struct cp_span *given, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++) {
		if (given[i].start < given[i - 1].start)
			return false;
	}
	return true;
}

bool cp_spans_build(struct cp_span *given, size_t count, struct cp_spans *ret)
{
	struct sweep s = { 0 };
	bool ok = true;
	size_t i;

	if (!sorted(given, count))
		qsort(given, count, sizeof(*given), by_start);
	for (i = 0; ok && i < count; i++) {
		ok = push(&s, &given[i]) &&
		     drain(&s, given[i].start, i + 1 < count ? given[i + 1].start : UINT64_MAX);
	}
	cp_vec_free(&s.heap);
	if (!ok) {
		cp_vec_free(&s.out);
		return false;
	}
	ret->items = s.out.items;
	ret->count = s.out.count;
	return true;
}

const struct cp_span *cp_spans_find(const struct cp_spans *spans, uint64_t at)
{
	size_t low = 0, high = spans->count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (spans->items[mid].end <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == spans->count || spans->items[low].start > at)
		return NULL;
	return &spans->items[low];
}

void cp_spans_free(struct cp_spans *spans)
{
	free(spans->items);
	*spans = (struct cp_spans){ 0 };
}
