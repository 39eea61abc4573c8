/* SPDX-License-Identifier: MIT */
#include "report/events/annotationsums.h"

#include <string.h>

#include "report/events/annotations.h"
#include "report/profile/places.h"

struct adding {
	const struct cp_annotations *a;
	struct cp_annotation_sums *s;
	struct cp_interner names; /* of kind, process, name, category */
	struct cp_buf key;
};

static struct cp_annotated *entry(struct adding *add, unsigned kind, uint32_t process,
				  const char *name, const char *category)
{
	struct cp_annotated fresh_one = { .kind = kind,
					  .process = process,
					  .name = name ? name : "",
					  .category = category ? category : "",
					  .least = INT64_MAX,
					  .most = INT64_MIN };
	uint32_t number;
	bool fresh;

	cp_buf_clear(&add->key);
	cp_buf_printf(&add->key, "%u %u %s%c%s", kind, process, fresh_one.name, '\0',
		      fresh_one.category);
	if (add->key.failed ||
	    !cp_intern(&add->names, add->key.bytes, add->key.size, &number, &fresh) ||
	    (fresh && !cp_vec_push(&add->s->items, fresh_one)))
		return NULL;
	return &add->s->items.items[number];
}

static bool add_span(struct adding *add, const struct cp_noted_span *span)
{
	unsigned kind = span->async ? CP_RECORD_ASYNC_START : CP_RECORD_SPAN_BEGIN;
	struct cp_annotated *it = entry(add, kind, 0, span->name, span->category);
	uint64_t ns = span->end_ns - span->start_ns;

	if (!it)
		return false;
	it->count++;
	it->total_ns += span->again ? 0 : ns;
	it->self_ns += cp_noted_self(span);
	if (span->end != CP_RECORD_NONE)
		return cp_vec_push(&it->durations, ns);
	it->open++;
	return true;
}

static bool add_event(struct adding *add, uint32_t number)
{
	const struct cp_record *r = add->a->profile->record;
	struct cp_record_annotation it = cp_record_get_annotation(r, number);
	uint32_t process = 0;
	struct cp_annotated *to;

	if ((it.kind != CP_RECORD_INSTANT && it.kind != CP_RECORD_COUNTER) ||
	    !cp_annotation_shown(add->a, &it))
		return true;
	if (it.kind == CP_RECORD_COUNTER)
		process = cp_record_get_thread(r, it.thread)->process;
	to = entry(add, it.kind, process, it.name, it.category);
	if (!to)
		return false;
	to->count++;
	to->least = it.value < to->least ? it.value : to->least;
	to->most = it.value > to->most ? it.value : to->most;
	to->last = it.value;
	return true;
}

static int by_number(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare(const void *pa, const void *pb, void *arg)
{
	const struct cp_annotated *a = pa, *b = pb;
	const enum cp_profile_order *by = arg;
	int c = order(a->kind, b->kind);

	if (!c && *by == CP_ORDER_CALLS)
		c = order(b->count, a->count);
	if (!c && *by == CP_ORDER_SELF)
		c = order(b->self_ns, a->self_ns);
	if (!c && *by != CP_ORDER_NAME)
		c = order(b->total_ns, a->total_ns);
	if (!c && *by != CP_ORDER_NAME)
		c = order(b->count, a->count);
	c = c ? c : strcmp(a->name, b->name);
	c = c ? c : strcmp(a->category, b->category);
	return c ? c : order(a->process, b->process);
}

static bool add_all(struct adding *add)
{
	const struct cp_noted_span *span;
	size_t i;

	cp_vec_for_each(&add->a->spans, span) {
		if (cp_noted_shown(add->a, span) && !add_span(add, span))
			return false;
	}
	for (i = 0; i < add->a->count; i++) {
		if (!add_event(add, add->a->order[i]))
			return false;
	}
	return true;
}

CP_ERROR cp_annotation_sums_build(const struct cp_annotations *a, enum cp_profile_order by,
				  struct cp_annotation_sums *ret)
{
	struct adding add = { .a = a, .s = ret };
	struct cp_annotated *it;
	bool ok;

	*ret = (struct cp_annotation_sums){ 0 };
	ok = add_all(&add);
	cp_interner_free(&add.names);
	cp_buf_free(&add.key);
	if (!ok) {
		cp_annotation_sums_deinit(ret);
		return cp_error_nomem();
	}
	cp_vec_for_each(&ret->items, it) {
		if (it->durations.count)
			qsort(it->durations.items, it->durations.count,
			      sizeof(*it->durations.items), by_number);
	}
	if (ret->items.count)
		qsort_r(ret->items.items, ret->items.count, sizeof(*ret->items.items), compare,
			&by);
	return NULL;
}

void cp_annotation_sums_deinit(struct cp_annotation_sums *s)
{
	struct cp_annotated *it;

	cp_vec_for_each(&s->items, it)
		cp_vec_free(&it->durations);
	cp_vec_free(&s->items);
}

uint64_t cp_annotated_quantile(const struct cp_annotated *it, double share)
{
	size_t n = it->durations.count, rank = (size_t)(share * (double)n);

	if (!n)
		return 0;
	if ((double)rank < share * (double)n)
		rank++; /* the nearest rank, as with calls */
	return it->durations.items[rank ? rank - 1 : 0];
}
