/* SPDX-License-Identifier: MIT */
#include "record/sample_decode.h"

#include "record/decode.h"
#include "record/kept.h"

#define COLUMNS 6
#define SUM_COLUMNS 5

/* Reads the columns of a section into d->column; *elapsed_ret: weights are without the time
 * since the thread's last sample. */
static bool get_columns(struct cp_record_decoder *d, struct cp_cursor *c, uint64_t count,
			bool *elapsed_ret)
{
	uint8_t how;

	if (!cp_record_decode_columns(d, c, count, COLUMNS - 1))
		return false;
	how = cp_cursor_u8(c);
	if (how > CP_RECORD_WEIGHT_ELAPSED ||
	    !cp_record_decode_ok(d, cp_vec_reserve(&d->column, (size_t)count * COLUMNS)))
		return false;
	cp_record_get_column(c, d->column.items + (COLUMNS - 1) * count, (size_t)count);
	*elapsed_ret = how == CP_RECORD_WEIGHT_ELAPSED;
	return !c->bad;
}

/* A thread's last sample, which the columns refer to within a chunk. */
struct last {
	uint64_t ts_ns, stack;
};

#define DIRECT 64 /* threads of low numbers, which most are, need no map */

struct lasts {
	struct last direct[DIRECT];
	uint64_t known; /* a bit for each of them */
	CP_VEC(struct last) list; /* of others */
	struct cp_map places;
};

/* NULL without memory. */
static struct last *last_of(struct lasts *l, uint64_t thread, uint64_t ts_ns)
{
	const uint64_t *place;

	if (thread < DIRECT) {
		if (!(l->known >> thread & 1))
			l->direct[thread] = (struct last){ ts_ns, 0 };
		l->known |= UINT64_C(1) << thread;
		return &l->direct[thread];
	}
	place = cp_map_get(&l->places, thread);
	if (place)
		return &l->list.items[*place];
	if (!cp_vec_push(&l->list, (struct last){ ts_ns, 0 }) ||
	    !cp_map_put(&l->places, thread, l->list.count - 1))
		return NULL;
	return &l->list.items[l->list.count - 1];
}

/* The samples of d->column, with numbers of the file, until `each` returns false. False
 * without memory. */
static bool each_of_columns(struct cp_record_decoder *d, size_t count, bool elapsed,
			    cp_record_sample_fn each, void *ctx)
{
	const uint64_t *columns = d->column.items;
	struct lasts lasts = { .known = 0 };
	struct cp_record_sample s;
	struct last *last;
	uint64_t thread;
	bool more = true;
	size_t i;

	for (i = 0; more && i < count; i++) {
		thread = columns[count + i];
		last = last_of(&lasts, thread, columns[i]);
		if (!last)
			break;
		if (columns[2 * count + i])
			last->stack = columns[2 * count + i];
		s = (struct cp_record_sample){
			.ts_ns = columns[i],
			.thread = thread < CP_RECORD_NONE ? (uint32_t)thread : CP_RECORD_NONE,
			.stack = last->stack && last->stack <= CP_RECORD_NONE
					 ? (uint32_t)(last->stack - 1)
					 : CP_RECORD_NONE,
			.count = (uint32_t)columns[3 * count + i],
			.weight_ns =
				columns[5 * count + i] + (elapsed ? columns[i] - last->ts_ns : 0),
			.flags = (uint32_t)columns[4 * count + i],
		};
		last->ts_ns = columns[i];
		more = each(ctx, &s);
	}
	cp_vec_free(&lasts.list);
	cp_map_free(&lasts.places);
	return cp_record_decode_ok(d, !more || i == count);
}

/* From numbers of the file to places; false when one is missing. */
static bool to_places(const struct cp_record *r, const struct cp_record_rows *rows,
		      struct cp_record_sample *s)
{
	uint64_t thread = cp_record_place(&rows[CP_RECORD_THREADS], s->thread);
	uint64_t stack = cp_record_place(&rows[CP_RECORD_STACKS], s->stack);

	if (thread == CP_RECORD_MISSING || stack == CP_RECORD_MISSING ||
	    (r->stacks && r->stacks[stack].missing))
		return false;
	s->thread = (uint32_t)thread;
	s->stack = (uint32_t)stack;
	return true;
}

/* ---- loading ---- */

static bool add_block(struct cp_record *r, uint32_t part, size_t first, size_t count)
{
	struct cp_record_block *last =
		r->blocks.count ? &r->blocks.items[r->blocks.count - 1] : NULL;

	if (last && last->part == part) {
		last->count += count;
		return true;
	}
	return cp_vec_push(&r->blocks, (struct cp_record_block){ part, first, count });
}

static bool add_sample(void *ctx, const struct cp_record_sample *s)
{
	struct cp_record *r = ctx;

	r->samples.items[r->samples.count++] = *s; /* there is room */
	return true;
}

static bool add_samples(struct cp_record_decoder *d, struct cp_record_sample_section section,
			struct cp_cursor *c)
{
	struct cp_record *r = d->record;
	bool elapsed;

	return get_columns(d, c, section.count, &elapsed) &&
	       cp_record_decode_ok(d,
				   cp_vec_reserve(&r->samples, r->samples.count + section.count)) &&
	       cp_record_decode_ok(d,
				   add_block(r, section.part, r->samples.count, section.count)) &&
	       each_of_columns(d, section.count, elapsed, add_sample, r);
}

static void count_sample(struct cp_record *r, const struct cp_record_sample *s)
{
	r->sample_count++;
	if (s->ts_ns > r->samples_end_ns)
		r->samples_end_ns = s->ts_ns;
}

static bool count_early(void *ctx, const struct cp_record_sample *of_file)
{
	struct cp_record_sample s = *of_file;
	struct cp_record_decoder *d = ctx;

	if (to_places(d->record, d->rows, &s))
		count_sample(d->record, &s);
	return true;
}

/* Do all samples of d->column refer to rows whose numbers are places, as is usual? Then
 * they are as many as there are. */
static bool are_plain(const struct cp_record_decoder *d, size_t count, uint64_t *end_ret)
{
	const uint64_t *times = d->column.items, *threads = times + count;
	const uint64_t *stacks = threads + count;
	uint64_t known = 0, thread = 0, stack = 0, end = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		thread = threads[i] > thread ? threads[i] : thread;
		stack = stacks[i] > stack ? stacks[i] : stack;
		end = times[i] > end ? times[i] : end;
		if (stacks[i])
			known |= UINT64_C(1) << (threads[i] & 63);
		else if (!(known >> (threads[i] & 63) & 1))
			return false; /* the stack of none before */
	}
	*end_ret = end;
	return thread < DIRECT && thread < d->rows[CP_RECORD_THREADS].direct &&
	       stack <= d->rows[CP_RECORD_STACKS].direct;
}

static bool add_sum(struct cp_record *r, const struct cp_record_sample_sum *sum)
{
	if (!r->sample_sums_unknown && !cp_sample_sums_add(&r->sample_sums, sum)) {
		r->sample_sums_unknown = true;
		cp_sample_sums_free(&r->sample_sums);
	}
	return !r->sample_sums_unknown;
}

static bool sum_early(void *ctx, const struct cp_record_sample *s)
{
	const struct cp_record_sample_sum sum = cp_sample_sum_of(s);

	return add_sum(ctx, &sum);
}

static void count_plain(struct cp_record *r, size_t count, uint64_t end_ns)
{
	r->sample_count += count;
	r->samples_end_ns = end_ns > r->samples_end_ns ? end_ns : r->samples_end_ns;
}

/* A section that stays in the file. What its samples refer to is there by now, mostly. */
static bool count_section(struct cp_record_decoder *d, struct cp_cursor *c, uint64_t count)
{
	struct cp_record *r = d->record;
	uint64_t end_ns;
	bool elapsed;

	if (!get_columns(d, c, count, &elapsed))
		return false;
	if (are_plain(d, (size_t)count, &end_ns)) {
		count_plain(r, (size_t)count, end_ns);
		return r->sample_sums_unknown ||
		       each_of_columns(d, (size_t)count, elapsed, sum_early, r);
	}
	r->sample_sums_unknown = true;
	return each_of_columns(d, (size_t)count, elapsed, count_early, d);
}

/* The same by what the samples add up to; false: that is not known. */
static bool count_by_sums(struct cp_record_decoder *d, uint64_t count)
{
	const struct cp_record_sample_sum *sum;
	bool known = d->next_sums.count && d->next_sum_samples == count;

	if (known)
		count_plain(d->record, (size_t)count, d->next_sum_end_ns);
	cp_vec_for_each(&d->next_sums, sum)
		if (!known || !add_sum(d->record, sum))
			break;
	return known;
}

static bool add_section(struct cp_record_decoder *d, struct cp_record_sample_section section,
			struct cp_cursor *c)
{
	struct cp_record *r = d->record;
	size_t before = r->sample_count;
	bool ok = count_by_sums(d, section.count) || count_section(d, c, section.count);

	d->next_sums.count = 0;
	section.kept = r->sample_count - before;
	return ok && cp_record_decode_ok(d, cp_vec_push(&r->sample_sections, section));
}

/* Do all rows of d->column refer to what is there, by numbers that are places? Then they become
 * the next sums. */
static bool take_sums(struct cp_record_decoder *d, size_t rows)
{
	const uint64_t *columns = d->column.items;
	size_t i;

	for (i = 0; i < rows; i++) {
		uint64_t thread = columns[i], stack = columns[rows + i];
		uint64_t flags = columns[2 * rows + i];
		struct cp_record_sample_sum *sum = &d->next_sums.items[i];

		if (thread >= d->rows[CP_RECORD_THREADS].direct || !stack ||
		    stack > d->rows[CP_RECORD_STACKS].direct || flags >= CP_SAMPLE_SUMS_FLAGS)
			return false;
		*sum = (struct cp_record_sample_sum){ (uint32_t)thread, (uint32_t)(stack - 1),
						      (uint32_t)flags, columns[3 * rows + i],
						      columns[4 * rows + i] };
	}
	return true;
}

bool cp_record_decode_sample_sums(struct cp_record_decoder *d, struct cp_cursor *c)
{
	uint64_t samples = cp_cursor_uleb(c), end_ns = cp_cursor_uleb(c);
	uint64_t rows = cp_cursor_uleb(c);

	d->next_sums.count = 0;
	if (!d->record->file)
		return true;
	if (!cp_record_decode_columns(d, c, rows, SUM_COLUMNS) ||
	    !cp_record_decode_ok(d, cp_vec_reserve(&d->next_sums, (size_t)rows)))
		return false;
	if (take_sums(d, (size_t)rows))
		d->next_sums.count = (size_t)rows;
	d->next_sum_samples = samples;
	d->next_sum_end_ns = end_ns;
	return true;
}

bool cp_record_decode_samples(struct cp_record_decoder *d, struct cp_cursor *c)
{
	uint64_t part = cp_cursor_uleb(c), first = cp_cursor_uleb(c), count = cp_cursor_uleb(c);
	struct cp_record *r = d->record;
	struct cp_record_sample_section section = {
		.chunk = r->call_chunks.count, /* which comes when all of it is read */
		.offset = (size_t)(c->at - d->payload),
		.size = cp_cursor_left(c),
		.count = (size_t)count,
		.part = (uint32_t)part,
	};

	if (c->bad || part >= CP_RECORD_PARTS_MAX || count > section.size)
		return false;
	if (r->file ? !add_section(d, section, c) : !add_samples(d, section, c))
		return false;
	if (first > d->next_sample)
		r->own.lost += first - d->next_sample;
	d->next_sample = first + count;
	return true;
}

void cp_record_build_samples(struct cp_record_decoder *d)
{
	struct cp_record *r = d->record;
	size_t b, i;

	if (r->sample_sections.count)
		return; /* they were counted as they were read */
	for (b = 0; b < r->blocks.count; b++) {
		struct cp_record_block *block = &r->blocks.items[b];
		size_t first = r->sample_count;

		for (i = block->first; i < block->first + block->count; i++) {
			struct cp_record_sample s = r->samples.items[i];

			if (!to_places(r, d->rows, &s)) {
				r->own.dropped++;
				continue;
			}
			r->samples.items[r->sample_count] = s;
			count_sample(r, &s);
		}
		block->first = first;
		block->count = r->sample_count - first;
	}
	r->samples.count = r->sample_count;
}

/* ---- those in the file ---- */

#define BATCH 128

struct walk {
	const struct cp_record *r;
	cp_record_sample_fn each;
	void *ctx;
	struct cp_record_decoder d; /* for its column */
	struct cp_buf raw; /* a chunk, unpacked */
	size_t chunk; /* + 1; 0: none */
	uint64_t missing; /* samples that refer to what is */
	/* Told in a row, so that a processor can wait for the memory of several at a time. */
	struct cp_record_sample batch[BATCH];
	size_t count;
	bool stopped;
};

static void tell_batch(struct walk *w)
{
	size_t i;

	for (i = 0; i < w->count && !w->stopped; i++)
		w->stopped = !w->each(w->ctx, &w->batch[i]);
	w->count = 0;
}

static bool tell(void *ctx, const struct cp_record_sample *of_file)
{
	struct walk *w = ctx;
	struct cp_record_sample *s = &w->batch[w->count];

	*s = *of_file;
	if (!to_places(w->r, w->r->call_rows, s))
		w->missing++;
	else if (++w->count == BATCH)
		tell_batch(w);
	return !w->stopped;
}

static void walk_section(struct walk *w, const struct cp_record_sample_section *section)
{
	struct cp_cursor c;
	bool elapsed;

	if (w->chunk != section->chunk + 1) {
		w->chunk = 0;
		if (!cp_record_unpack_kept(w->r, section->chunk, &w->raw, &w->d.no_memory))
			return;
		w->chunk = section->chunk + 1;
	}
	c = cp_cursor(w->raw.bytes + section->offset, section->size);
	if (get_columns(&w->d, &c, section->count, &elapsed))
		each_of_columns(&w->d, section->count, elapsed, tell, w);
	tell_batch(w);
}

static void walk_free(struct walk *w)
{
	cp_record_decoder_deinit(&w->d);
	cp_buf_free(&w->raw);
}

static bool count_one(void *ctx, const struct cp_record_sample *s)
{
	count_sample(ctx, s);
	return true;
}

/* Were all samples counted as they were read? Not if something that they refer to came later, or
 * never, with a lost chunk's rows that were written again. */
static bool are_counted(const struct cp_record *r)
{
	const struct cp_record_sample_section *section;
	size_t i;

	cp_vec_for_each(&r->sample_sections, section)
		if (section->kept != section->count)
			return false;
	for (i = 0; i < r->stack_count && !r->stacks[i].missing; i++)
		;
	return i == r->stack_count;
}

static bool count_again(struct cp_record *r)
{
	struct walk w = { .r = r, .each = count_one, .ctx = r };
	struct cp_record_sample_section *section;
	bool ok;

	r->sample_count = 0;
	r->samples_end_ns = 0;
	r->sample_sums_unknown = true;
	cp_vec_for_each(&r->sample_sections, section) {
		size_t first = r->sample_count;

		walk_section(&w, section);
		section->kept = r->sample_count - first;
	}
	r->own.dropped += w.missing;
	ok = !w.d.no_memory;
	walk_free(&w);
	return ok;
}

bool cp_record_count_samples(struct cp_record *r)
{
	const struct cp_record_sample_section *section;
	size_t first = 0;

	if (!r->sample_sections.count)
		return true; /* they are in memory */
	if (!are_counted(r) && !count_again(r))
		return false;
	cp_vec_for_each(&r->sample_sections, section) {
		if (!add_block(r, section->part, first, section->kept))
			return false;
		first += section->kept;
	}
	return true;
}

/* ---- what others use ---- */

static CP_ERROR each_in_file(const struct cp_record *r, cp_record_sample_fn each, void *ctx)
{
	struct walk w = { .r = r, .each = each, .ctx = ctx };
	size_t i;
	bool no_memory;

	for (i = 0; i < r->sample_sections.count && !w.stopped && !w.d.no_memory; i++)
		walk_section(&w, &r->sample_sections.items[i]);
	no_memory = w.d.no_memory;
	walk_free(&w);
	return no_memory ? cp_error_nomem() : cp_record_kept_check(r);
}

CP_ERROR cp_record_each_sample(const struct cp_record *r, cp_record_sample_fn each, void *ctx)
{
	size_t i;

	if (r->sample_count && !r->samples.count)
		return each_in_file(r, each, ctx);
	for (i = 0; i < r->samples.count && each(ctx, &r->samples.items[i]); i++)
		;
	return NULL;
}

/* Sums may say that there are samples that there are not. */
static struct cp_error *not_as_said(void)
{
	return cp_error_new(CP_ERR_FORMAT, 0,
			    "the recording holds other samples than it says that it does");
}

CP_ERROR cp_record_need_samples(const struct cp_record *r)
{
	/* It is what the record's getters answer that is const. */
	struct cp_record *own = (struct cp_record *)(uintptr_t)r;
	struct cp_error *err;

	if (r->samples.count == r->sample_count)
		return NULL;
	if (!cp_vec_reserve(&own->samples, r->sample_count))
		return cp_error_nomem();
	err = each_in_file(r, add_sample, own);
	if (!err && r->samples.count != r->sample_count)
		err = not_as_said();
	if (err)
		cp_vec_free(&own->samples);
	return err;
}

size_t cp_record_sample_count(const struct cp_record *r)
{
	return r->sample_count;
}

const struct cp_record_sample *cp_record_samples(const struct cp_record *r)
{
	return r->samples.items;
}

uint64_t cp_record_samples_end(const struct cp_record *r)
{
	return r->samples_end_ns;
}
