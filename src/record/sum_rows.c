/* SPDX-License-Identifier: MIT */
#include "record/sum_rows.h"

#include <math.h>
#include <string.h>

#include "record/decoder.h"
#include "record/reader.h"

/* ---- bytes ---- */

/* Times that may be bounds are made of fractions, which no one needs to sixteen digits: the
 * rest of each is rounded away from zero, and short with its low bytes first. */
#define ROUNDED ((UINT64_C(1) << 24) - 1)

static void put_fraction(struct cp_buf *out, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (isfinite(value))
		bits = (bits + ROUNDED) & ~ROUNDED;
	cp_buf_uleb(out, __builtin_bswap64(bits));
}

static double get_fraction(struct cp_cursor *c)
{
	uint64_t bits = __builtin_bswap64(cp_cursor_uleb(c));
	double value;

	memcpy(&value, &bits, sizeof(value));
	return isfinite(value) ? value : 0;
}

static void put_net(struct cp_buf *out, const struct cp_net_sum *sum)
{
	cp_buf_uleb(out, cp_record_zigzag((uint64_t)sum->likely_ns));
	put_fraction(out, 0); /* two that were part of it once */
	put_fraction(out, 0);
	put_fraction(out, sum->room);
}

static struct cp_net_sum get_net(struct cp_cursor *c)
{
	struct cp_net_sum sum = { .likely_ns = (int64_t)cp_record_unzigzag(cp_cursor_uleb(c)) };

	get_fraction(c);
	get_fraction(c);
	sum.room = get_fraction(c);
	return sum;
}

/* Pairs of the distance from the last bucket and the count there. */
static void put_spread(struct cp_buf *out, const struct cp_spread *s)
{
	uint32_t bucket, last = 0, filled = 0;

	for (bucket = 0; s->total && bucket < CP_SPREAD_BUCKETS; bucket++)
		filled += cp_spread_count(s, bucket) != 0;
	cp_buf_uleb(out, filled);
	for (bucket = 0; filled && bucket < CP_SPREAD_BUCKETS; bucket++) {
		uint64_t count = cp_spread_count(s, bucket);

		if (!count)
			continue;
		cp_buf_uleb(out, bucket - last);
		cp_buf_uleb(out, count);
		last = bucket;
	}
}

/* An octave takes more memory than bytes of the file, but none of them twice. */
static bool get_spread(struct cp_cursor *c, struct cp_spread *s, bool *no_memory_ret)
{
	uint64_t filled = cp_cursor_uleb(c), bucket = 0;

	while (!c->bad && filled--) {
		uint64_t step = cp_cursor_uleb(c), count = cp_cursor_uleb(c);

		if (c->bad || step >= CP_SPREAD_BUCKETS - bucket)
			return false;
		bucket += step;
		if (!cp_spread_add(s, (uint32_t)bucket, count)) {
			*no_memory_ret = true;
			return false;
		}
	}
	return !c->bad;
}

#define SUM_BOUNDS 1u
#define SUM_LEAST_AT_MOST 2u
#define SUM_MOST_AT_MOST 4u

static void put_sum(struct cp_buf *out, const struct cp_call_sum *s)
{
	cp_buf_uleb(out, s->calls);
	cp_buf_uleb(out, s->inherited);
	cp_buf_uleb(out, s->unwound);
	cp_buf_uleb(out, s->tail_calls);
	cp_buf_uleb(out, s->open);
	put_net(out, &s->whole);
	put_net(out, &s->self);
	cp_buf_uleb(out, s->overhead_ns);
	cp_buf_uleb(out, s->cpu_ns);
	cp_buf_u8(out, (uint8_t)((s->bounds ? SUM_BOUNDS : 0) |
				 (s->least.at_most ? SUM_LEAST_AT_MOST : 0) |
				 (s->most.at_most ? SUM_MOST_AT_MOST : 0)));
	cp_buf_uleb(out, s->least.ns);
	cp_buf_uleb(out, s->most.ns);
	put_spread(out, &s->known);
	put_spread(out, &s->bound);
}

static bool get_sum(struct cp_cursor *c, struct cp_call_sum *s, bool *no_memory_ret)
{
	uint8_t flags;

	s->calls = cp_cursor_uleb(c);
	s->inherited = cp_cursor_uleb(c);
	s->unwound = cp_cursor_uleb(c);
	s->tail_calls = cp_cursor_uleb(c);
	s->open = cp_cursor_uleb(c);
	s->whole = get_net(c);
	s->self = get_net(c);
	s->overhead_ns = cp_cursor_uleb(c);
	s->cpu_ns = cp_cursor_uleb(c);
	flags = cp_cursor_u8(c);
	s->bounds = flags & SUM_BOUNDS;
	s->least.at_most = flags & SUM_LEAST_AT_MOST;
	s->most.at_most = flags & SUM_MOST_AT_MOST;
	s->least.ns = cp_cursor_uleb(c);
	s->most.ns = cp_cursor_uleb(c);
	return get_spread(c, &s->known, no_memory_ret) && get_spread(c, &s->bound, no_memory_ret);
}

struct cp_record_sum_bytes cp_record_put_sum(struct cp_buf *body, const struct cp_record_sum *row)
{
	struct cp_record_sum_bytes refers = { row->kind, CP_RECORD_NONE, CP_RECORD_NONE,
					      CP_RECORD_NONE, CP_RECORD_NONE };

	cp_buf_clear(body);
	if (row->kind == CP_SUM_BEGIN) {
		cp_buf_uleb(body, row->beat);
		cp_buf_uleb(body, row->events);
	} else if (cp_record_sum_is_of_thread(row)) {
		refers.thread = row->thread;
		cp_buf_uleb(body, row->thread);
		cp_buf_uleb(body, row->beat);
		cp_buf_uleb(body, row->calls);
		put_net(body, &row->outermost);
	} else {
		refers.process = row->process;
		refers.caller = row->caller;
		refers.callee = row->callee;
		cp_buf_uleb(body, row->process);
		cp_buf_uleb(body, row->caller == CP_RECORD_NONE ? 0 : (uint64_t)row->caller + 1);
		cp_buf_uleb(body, row->callee);
		cp_buf_uleb(body, row->beat);
		put_sum(body, &row->sum);
	}
	return refers;
}

/* ---- reading ---- */

/* What is known of a part's sums. */
static struct cp_record_sum_part *part_of(struct cp_record *r, uint32_t part)
{
	while (r->sum_parts.count <= part)
		if (!cp_vec_push(&r->sum_parts, (struct cp_record_sum_part){ 0 }))
			return NULL;
	return &r->sum_parts.items[part];
}

/* From the file's number to the place; false: that row of a table is lost. */
static bool to_place(const struct cp_record_decoder *d, unsigned table, uint64_t number,
		     uint32_t *ret)
{
	uint64_t place = cp_record_place(&d->rows[table], number);

	*ret = (uint32_t)place;
	return place != CP_RECORD_MISSING;
}

/* In the place of an earlier row about the same. */
static bool keep(struct cp_record_decoder *d, uint32_t part, struct cp_record_sum *row)
{
	struct cp_record *r = d->record;
	const uint32_t key[] = { part,	       row->kind,   row->thread,
				 row->process, row->caller, row->callee };
	uint32_t place;
	bool fresh;

	if (!cp_vec_reserve(&r->sums, r->sums.count + 1) ||
	    !cp_vec_reserve(&r->sum_rows, r->sums.count + 1) ||
	    !cp_intern(&r->sum_keys, key, sizeof(key), &place, &fresh)) {
		d->no_memory = true;
		return false;
	}
	if (fresh) {
		r->sum_rows.items[r->sums.count] = part;
		r->sums.count = r->sum_rows.count = place + 1u;
	} else {
		cp_call_sum_deinit(&r->sums.items[place].sum);
	}
	r->sums.items[place] = *row;
	row->sum = (struct cp_call_sum){ 0 };
	return true;
}

/* A row's references are places; false when it makes no sense. */
static bool get_row(struct cp_record_decoder *d, struct cp_cursor *c, struct cp_record_sum *row,
		    bool *there_ret)
{
	uint64_t process, caller, callee;

	if (row->kind == CP_SUM_BEGIN) {
		row->beat = (uint32_t)cp_cursor_uleb(c);
		row->events = cp_cursor_uleb(c);
		return !c->bad;
	}
	if (cp_record_sum_is_of_thread(row)) {
		*there_ret = to_place(d, CP_RECORD_THREADS, cp_cursor_uleb(c), &row->thread);
		row->beat = (uint32_t)cp_cursor_uleb(c);
		row->calls = cp_cursor_uleb(c);
		row->outermost = get_net(c);
		return !c->bad;
	}
	process = cp_cursor_uleb(c);
	caller = cp_cursor_uleb(c);
	callee = cp_cursor_uleb(c);
	row->beat = (uint32_t)cp_cursor_uleb(c);
	*there_ret = to_place(d, CP_RECORD_PROCESSES, process, &row->process) &&
		     (!caller || to_place(d, CP_RECORD_LOCATIONS, caller - 1, &row->caller)) &&
		     to_place(d, CP_RECORD_LOCATIONS, callee, &row->callee);
	return get_sum(c, &row->sum, &d->no_memory);
}

static bool take_row(struct cp_record_decoder *d, uint32_t part, enum cp_record_sum_kind kind,
		     struct cp_cursor *c)
{
	struct cp_record_sum row = { .kind = kind,
				     .thread = CP_RECORD_NONE,
				     .process = CP_RECORD_NONE,
				     .caller = CP_RECORD_NONE,
				     .callee = CP_RECORD_NONE };
	struct cp_record_sum_part *of = part_of(d->record, part);
	bool there = true, good;

	if (!cp_record_decode_ok(d, of != NULL))
		return false;
	good = get_row(d, c, &row, &there);
	if (good && row.beat > of->beat)
		of->beat = row.beat;
	if (good && kind == CP_SUM_BEGIN)
		of->events = row.events > of->events ? row.events : of->events;
	else if (good && there)
		good = keep(d, part, &row);
	d->record->own.dropped += !there;
	cp_call_sum_deinit(&row.sum);
	return good;
}

bool cp_record_decode_sums(struct cp_record_decoder *d, struct cp_cursor *c)
{
	uint64_t part = cp_cursor_uleb(c), size;
	struct cp_cursor body;
	uint8_t kind;

	if (c->bad || part >= CP_RECORD_PARTS_MAX)
		return false;
	while (cp_cursor_left(c)) {
		kind = cp_cursor_u8(c);
		size = cp_cursor_uleb(c);
		if (c->bad || size > cp_cursor_left(c))
			return false;
		body = cp_cursor(cp_cursor_bytes(c, (size_t)size), (size_t)size);
		/* Another kind is one of a later version. */
		if (kind < CP_SUM_KINDS &&
		    !take_row(d, (uint32_t)part, (enum cp_record_sum_kind)kind, &body))
			return false;
	}
	return true;
}

void cp_record_build_sums(struct cp_record *r)
{
	size_t kept = 0, i;

	for (i = 0; i < r->sums.count; i++) {
		struct cp_record_sum *row = &r->sums.items[i];
		uint32_t part = r->sum_rows.items[i];

		if ((row->kind == CP_SUM_OPEN || row->kind == CP_SUM_OPEN_THREAD) &&
		    row->beat != r->sum_parts.items[part].beat) {
			cp_call_sum_deinit(&row->sum);
			continue;
		}
		r->sum_rows.items[kept] = part;
		r->sums.items[kept++] = *row;
	}
	r->sums.count = r->sum_rows.count = kept;
	cp_interner_free(&r->sum_keys);
}

void cp_record_free_sums(struct cp_record *r)
{
	struct cp_record_sum *row;

	cp_vec_for_each(&r->sums, row)
		cp_call_sum_deinit(&row->sum);
	cp_vec_free(&r->sums);
	cp_vec_free(&r->sum_rows);
	cp_vec_free(&r->sum_parts);
	cp_interner_free(&r->sum_keys);
}

size_t cp_record_sum_count(const struct cp_record *r)
{
	return r->sums.count;
}

const struct cp_record_sum *cp_record_get_sum(const struct cp_record *r, size_t n)
{
	return &r->sums.items[n];
}

uint64_t cp_record_summed_count(const struct cp_record *r)
{
	const struct cp_record_sum_part *part;
	uint64_t events = 0;

	cp_vec_for_each(&r->sum_parts, part)
		events += part->events;
	return events;
}
