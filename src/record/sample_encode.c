/* SPDX-License-Identifier: MIT
 *
 * Samples are columns of numbers: times, threads, stacks, and weights as what they
 * differ from the time elapsed, where that is shorter.
 *
 *    part, first, count | columns | how weights are written | weights
 */
#include "record/sample_encode.h"

#include <stdlib.h>
#include <string.h>

#include "record/encode.h"
#include "record/sample_sums.h"

void cp_record_encode_sample(struct cp_record_encoder *e, uint32_t part,
			     const struct cp_record_sample *s)
{
	if (cp_record_sink_failed(e->sink))
		return;
	if (part != e->samples.part && e->samples.list.count)
		cp_record_encode_flush(e);
	e->samples.part = part;
	cp_record_encode_use(e, CP_RECORD_THREADS, s->thread);
	cp_record_encode_use(e, CP_RECORD_STACKS, s->stack);
	cp_record_encode_ok(e, cp_vec_push(&e->samples.list, *s));
	e->pending += 6 * CP_RECORD_NUMBER_MAX;
}

/* A thread's last sample, which the columns refer to within a chunk. */
struct last {
	uint64_t ts_ns;
	uint32_t stack;
};

struct sample_columns {
	uint64_t *ts, *thread, *stack, *count, *weight, *elapsed, *flags;
};

static bool fill_columns(const struct cp_record_encoder *e, struct sample_columns *c)
{
	CP_VEC(struct last) lasts = { 0 };
	struct cp_map threads = { 0 };
	bool ok = true;
	uint64_t *known;
	size_t i;

	for (i = 0; ok && i < e->samples.list.count; i++) {
		const struct cp_record_sample *s = &e->samples.list.items[i];
		struct last *last;

		known = cp_map_get(&threads, s->thread);
		ok = known || (cp_vec_push(&lasts, (struct last){ s->ts_ns, CP_RECORD_NONE }) &&
			       cp_map_put(&threads, s->thread, lasts.count - 1));
		if (!ok)
			break;
		last = &lasts.items[known ? *known : lasts.count - 1];
		c->ts[i] = s->ts_ns;
		c->thread[i] = s->thread;
		c->stack[i] = s->stack == last->stack ? 0 : (uint64_t)s->stack + 1;
		c->count[i] = s->count;
		c->weight[i] = s->weight_ns;
		c->elapsed[i] = s->weight_ns - (s->ts_ns - last->ts_ns);
		c->flags[i] = s->flags;
		*last = (struct last){ s->ts_ns, s->stack };
	}
	cp_map_free(&threads);
	cp_vec_free(&lasts);
	return ok;
}

/* The weights, or what they differ from the time elapsed: of a busy thread
 * those are nearly the same. */
static void put_weights(struct cp_buf *out, const struct sample_columns *c, size_t count)
{
	size_t start = out->size, plain;

	cp_buf_u8(out, CP_RECORD_WEIGHT_ELAPSED);
	cp_record_put_column(out, c->elapsed, count);
	plain = out->size;
	cp_buf_u8(out, CP_RECORD_WEIGHT_PLAIN);
	cp_record_put_column(out, c->weight, count);
	if (out->failed)
		return;
	if (out->size - plain < plain - start) {
		memmove(out->bytes + start, out->bytes + plain, out->size - plain);
		out->size -= plain - start;
	} else {
		out->size = plain;
	}
}

/* What the samples add up to; false where that is not much shorter. */
static bool add_up(const struct cp_record_encoder *e, struct cp_sample_sums *sums,
		   uint64_t *end_ret)
{
	const struct cp_record_sample *s;
	uint64_t end = 0;

	cp_vec_for_each(&e->samples.list, s) {
		const struct cp_record_sample_sum one = cp_sample_sum_of(s);

		if (!cp_sample_sums_add(sums, &one) ||
		    sums->rows.count > e->samples.list.count / CP_SAMPLE_SUMS_SHARE)
			return false;
		end = s->ts_ns > end ? s->ts_ns : end;
	}
	*end_ret = end;
	return true;
}

/* The columns of rows, one behind the other in `memory`. */
static void put_sum_columns(struct cp_buf *out, const struct cp_sample_sums *sums, uint64_t *memory)
{
	size_t n = sums->rows.count, i;

	for (i = 0; i < n; i++) {
		const struct cp_record_sample_sum *row = &sums->rows.items[i];

		memory[i] = row->thread;
		memory[n + i] = (uint64_t)row->stack + 1;
		memory[2 * n + i] = row->flags;
		memory[3 * n + i] = row->count;
		memory[4 * n + i] = row->weight_ns;
	}
	for (i = 0; i < 5; i++)
		cp_record_put_column(out, memory + i * n, n);
}

/* Without memory for it the recording is as good without. `memory` has room for five numbers
 * a row. */
static void put_sums(struct cp_record_encoder *e, uint64_t *memory)
{
	struct cp_sample_sums sums = { 0 };
	uint64_t end_ns;

	if (add_up(e, &sums, &end_ns)) {
		cp_buf_clear(&e->body);
		cp_buf_uleb(&e->body, e->samples.list.count);
		cp_buf_uleb(&e->body, end_ns);
		cp_buf_uleb(&e->body, sums.rows.count);
		put_sum_columns(&e->body, &sums, memory);
		cp_record_put_field(&e->payload, CP_RECORD_SAMPLE_SUMS, e->body.bytes,
				    e->body.size);
		e->payload.failed |= e->body.failed;
	}
	cp_sample_sums_free(&sums);
}

void cp_record_put_samples(struct cp_record_encoder *e)
{
	size_t n = e->samples.list.count;
	uint64_t *memory;
	struct sample_columns c = { 0 };

	if (!n)
		return;
	memory = calloc(7 * n, sizeof(*memory));
	if (memory)
		put_sums(e, memory);
	if (memory)
		c = (struct sample_columns){ memory,	     memory + n,     memory + 2 * n,
					     memory + 3 * n, memory + 4 * n, memory + 5 * n,
					     memory + 6 * n };
	if (cp_record_encode_ok(e, memory && fill_columns(e, &c))) {
		cp_buf_clear(&e->body);
		cp_buf_uleb(&e->body, e->samples.part);
		cp_buf_uleb(&e->body, e->sink->samples);
		cp_buf_uleb(&e->body, n);
		cp_record_put_column(&e->body, c.ts, n);
		cp_record_put_column(&e->body, c.thread, n);
		cp_record_put_column(&e->body, c.stack, n);
		cp_record_put_column(&e->body, c.count, n);
		cp_record_put_column(&e->body, c.flags, n);
		put_weights(&e->body, &c, n);
		cp_record_put_field(&e->payload, CP_RECORD_SAMPLES, e->body.bytes, e->body.size);
		e->payload.failed |= e->body.failed;
		e->sample_bytes += e->body.size;
		e->sink->samples += n;
	}
	free(memory);
	e->samples.list.count = 0;
}

void cp_record_samples_free(struct cp_record_encoder *e)
{
	cp_vec_free(&e->samples.list);
}
