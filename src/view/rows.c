/* SPDX-License-Identifier: MIT */
#include "view/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static const enum cp_live_what sums_of[] = {
	[CP_VIEW_FUNCTIONS] = CP_LIVE_FUNCTION, [CP_VIEW_THREADS] = CP_LIVE_THREAD,
	[CP_VIEW_CALLERS] = CP_LIVE_CALLER,	[CP_VIEW_CALLEES] = CP_LIVE_CALLER,
	[CP_VIEW_LINES] = CP_LIVE_LINE,
};

static bool matches(const struct cp_view_row *row, const char *filter)
{
	return !filter || !*filter || strcasestr(row->name, filter) ||
	       strcasestr(row->image, filter) || strcasestr(row->thread.name, filter) ||
	       strcasestr(row->thread.process, filter);
}

static void push(struct cp_view_rows *rows, const struct cp_view_choice *c,
		 const struct cp_view_row *row)
{
	if (matches(row, c->filter) && !cp_vec_push(&rows->rows, *row))
		rows->failed = true;
}

static struct cp_view_row row_of(const struct cp_live *l, const struct cp_live_sum *sum,
				 uint32_t number)
{
	struct cp_view_row row = { .number = number,
				   .name = "",
				   .image = "",
				   .last = cp_live_last(l, sum),
				   .all = sum->all };

	return row;
}

static void name_by_function(const struct cp_live *l, struct cp_view_row *row, uint32_t function)
{
	if (function >= l->functions.count)
		return;
	row->name = l->functions.items[function].name;
	row->image = l->functions.items[function].image;
}

/* False: the sum is of something else. */
static bool make_row(const struct cp_live *l, const struct cp_view_choice *c,
		     const struct cp_live_sum *sum, struct cp_view_row *row)
{
	switch (c->of) {
	case CP_VIEW_FUNCTIONS:
		*row = row_of(l, sum, sum->a);
		break;
	case CP_VIEW_CALLERS:
		*row = row_of(l, sum, sum->a);
		if (sum->b != c->function)
			return false;
		break;
	case CP_VIEW_CALLEES:
		*row = row_of(l, sum, sum->b);
		if (sum->a != c->function)
			return false;
		break;
	case CP_VIEW_LINES:
		*row = row_of(l, sum, sum->b);
		if (sum->a == c->function && c->function < l->functions.count &&
		    l->functions.items[c->function].file)
			row->name = l->functions.items[c->function].file;
		return sum->a == c->function;
	case CP_VIEW_THREADS:
		return false;
	}
	name_by_function(l, row, row->number);
	return true;
}

static void add_threads(struct cp_view_rows *rows, struct cp_live *l,
			const struct cp_view_choice *c)
{
	uint32_t i;

	for (i = 1; i < l->threads.count; i++) {
		const struct cp_live_sum *sum = cp_live_next(l, c->kind, CP_LIVE_THREAD, i, NULL);
		const struct cp_live_sum nothing = { 0 };
		struct cp_view_row row = row_of(l, sum ? sum : &nothing, i);

		row.thread = l->threads.items[i];
		/* Who is gone is of interest as long as what it did is. */
		if (!row.thread.ended || row.last.count)
			push(rows, c, &row);
	}
}

static void add_sums(struct cp_view_rows *rows, struct cp_live *l, const struct cp_view_choice *c)
{
	const struct cp_live_sum *sum = NULL;
	struct cp_view_row row;

	while ((sum = cp_live_next(l, c->kind, sums_of[c->of], c->thread, sum)))
		if (make_row(l, c, sum, &row))
			push(rows, c, &row);
}

/* ---- order ---- */

static uint64_t last_self(const struct cp_view_row *row)
{
	return row->last.self;
}

static uint64_t last_total(const struct cp_view_row *row)
{
	return row->last.total;
}

static uint64_t self(const struct cp_view_row *row)
{
	return row->all.self;
}

static uint64_t total(const struct cp_view_row *row)
{
	return row->all.total;
}

static uint64_t count(const struct cp_view_row *row)
{
	return row->last.count;
}

static int by_name(const struct cp_view_row *a, const struct cp_view_row *b)
{
	int order = strcmp(a->thread.name, b->thread.name);

	if (!order)
		order = strcmp(a->name, b->name);
	if (!order)
		order = strcmp(a->image, b->image);
	return order ? order : (a->number > b->number) - (a->number < b->number);
}

/* The most first; what is alike stays where it is, by what is next in importance. */
static int compare(const struct cp_view_row *a, const struct cp_view_row *b,
		   uint64_t (*first)(const struct cp_view_row *row))
{
	uint64_t (*const keys[])(const struct cp_view_row *) = { first, last_self, last_total, self,
								 total };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		uint64_t x = keys[i](a), y = keys[i](b);

		if (x != y)
			return x < y ? 1 : -1;
	}
	return by_name(a, b);
}

#define ORDER(key) \
	static int by_##key(const void *a, const void *b) \
	{ \
		return compare(a, b, key); \
	}
ORDER(last_self)
ORDER(last_total)
ORDER(self)
ORDER(total)
ORDER(count)
#undef ORDER

static int by_text(const void *a, const void *b)
{
	return by_name(a, b);
}

void cp_view_rows(struct cp_view_rows *rows, struct cp_live *l, const struct cp_view_choice *c)
{
	static int (*const orders[])(const void *, const void *) = {
		[CP_VIEW_BY_LAST_SELF] = by_last_self, [CP_VIEW_BY_LAST_TOTAL] = by_last_total,
		[CP_VIEW_BY_SELF] = by_self,	       [CP_VIEW_BY_TOTAL] = by_total,
		[CP_VIEW_BY_COUNT] = by_count,	       [CP_VIEW_BY_NAME] = by_text,
	};
	const struct cp_live_sum *whole;

	rows->rows.count = 0;
	rows->last = rows->all = (struct cp_live_amount){ 0 };
	cp_live_lock(l);
	whole = cp_live_next(l, c->kind, CP_LIVE_THREAD, c->thread, NULL);
	if (whole) {
		rows->last = cp_live_last(l, whole);
		rows->all = whole->all;
	}
	rows->last_ns = cp_live_last_ns(l);
	rows->all_ns = l->elapsed_ns;
	if (c->of == CP_VIEW_THREADS)
		add_threads(rows, l, c);
	else
		add_sums(rows, l, c);
	cp_live_unlock(l);
	if (rows->rows.count)
		qsort(rows->rows.items, rows->rows.count, sizeof(*rows->rows.items),
		      orders[c->order]);
}

void cp_view_rows_deinit(struct cp_view_rows *rows)
{
	cp_vec_free(&rows->rows);
}
