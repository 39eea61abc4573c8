/* SPDX-License-Identifier: MIT */
#include <cprof/tally.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/spread.h"
#include "base/vec.h"

struct cprof_tally {
	size_t key_size; /* 0: strings */
	bool spread;
	struct cp_interner keys;
	CP_VEC(cprof_tally_row) rows; /* by number of the key */
	CP_VEC(struct cp_spread) spreads; /* likewise; empty unless asked for */
	CP_VEC(uint32_t) order; /* numbers of rows */
};

cprof_tally *cprof_tally_create(size_t key_size, unsigned flags)
{
	cprof_tally *t = calloc(1, sizeof(*t));

	if (t) {
		t->key_size = key_size;
		t->spread = flags & CPROF_TALLY_SPREAD;
	}
	return t;
}

void cprof_tally_clear(cprof_tally *t)
{
	size_t i;

	for (i = 0; i < t->spreads.count; i++)
		cp_spread_free(&t->spreads.items[i]);
	cp_interner_free(&t->keys);
	t->rows.count = t->spreads.count = t->order.count = 0;
}

void cprof_tally_free(cprof_tally *t)
{
	if (!t)
		return;
	cprof_tally_clear(t);
	cp_vec_free(&t->rows);
	cp_vec_free(&t->spreads);
	cp_vec_free(&t->order);
	free(t);
}

static size_t size_of(const cprof_tally *t, const void *key)
{
	return t->key_size ? t->key_size : strlen(key);
}

/* A row for a key that is new, which has the next number; it is there, or it is not known. */
static bool add_row(cprof_tally *t, const void *key, uint32_t *number_ret)
{
	const struct cp_spread none = { 0 };
	size_t size = size_of(t, key);
	bool fresh;

	if (!cp_vec_reserve(&t->rows, t->rows.count + 1) ||
	    !cp_vec_reserve(&t->order, t->order.count + 1) ||
	    (t->spread && !cp_vec_reserve(&t->spreads, t->spreads.count + 1)) ||
	    !cp_intern(&t->keys, key, size, number_ret, &fresh))
		return false;
	if (!fresh)
		return true;
	t->rows.items[t->rows.count++] =
		(cprof_tally_row){ .key = t->keys.items[*number_ret].bytes, .key_size = size };
	t->order.items[t->order.count++] = *number_ret;
	if (t->spread)
		t->spreads.items[t->spreads.count++] = none;
	return true;
}

bool cprof_tally_add(cprof_tally *t, const void *key, uint64_t count, uint64_t sum)
{
	uint64_t each = count ? sum / count : 0;
	cprof_tally_row *row;
	uint32_t number;

	if (!add_row(t, key, &number))
		return false;
	row = &t->rows.items[number];
	if (!count) {
		row->sum += sum;
		return true;
	}
	if (t->spread && !cp_spread_add(&t->spreads.items[number], cp_spread_bucket(each), count))
		return false;
	if (!row->count || each < row->least)
		row->least = each;
	if (each > row->most)
		row->most = each;
	row->count += count;
	row->sum += sum;
	return true;
}

size_t cprof_tally_count(const cprof_tally *t)
{
	return t->order.count;
}

const cprof_tally_row *cprof_tally_row_at(const cprof_tally *t, size_t number)
{
	return number < t->order.count ? &t->rows.items[t->order.items[number]] : NULL;
}

const cprof_tally_row *cprof_tally_find(const cprof_tally *t, const void *key)
{
	uint32_t number;

	return cp_interned(&t->keys, key, size_of(t, key), &number) ? &t->rows.items[number] : NULL;
}

struct ordering {
	const cprof_tally *tally;
	cprof_tally_order by;
};

static uint64_t rank_of(const struct ordering *o, uint32_t number)
{
	const cprof_tally_row *row = &o->tally->rows.items[number];

	switch (o->by) {
	case CPROF_TALLY_BY_COUNT:
		return row->count;
	case CPROF_TALLY_BY_SUM:
		return row->sum;
	case CPROF_TALLY_BY_MOST:
		return row->most;
	}
	return 0;
}

static int compare(const void *a, const void *b, void *ordering)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint64_t x = rank_of(ordering, left), y = rank_of(ordering, right);

	if (x != y)
		return x > y ? -1 : 1;
	return left < right ? -1 : left > right;
}

void cprof_tally_sort(cprof_tally *t, cprof_tally_order by)
{
	struct ordering o = { t, by };

	if (t->order.count)
		qsort_r(t->order.items, t->order.count, sizeof(*t->order.items), compare, &o);
}

uint64_t cprof_tally_quantile(const cprof_tally *t, const cprof_tally_row *row, double part)
{
	const struct cp_spread *spread;
	uint64_t rank, seen = 0;
	uint32_t bucket;

	if (!t->spread || !row || !row->count)
		return 0;
	spread = &t->spreads.items[row - t->rows.items];
	part = part < 0 ? 0 : part > 1 ? 1 : part;
	rank = (uint64_t)((double)(row->count - 1) * part);
	for (bucket = 0; rank && rank + 1 < row->count && bucket < CP_SPREAD_BUCKETS; bucket++) {
		seen += cp_spread_count(spread, bucket);
		if (seen > rank)
			return cp_spread_low(bucket) > row->least ? cp_spread_low(bucket)
								  : row->least;
	}
	return rank ? row->most : row->least;
}
