/* SPDX-License-Identifier: MIT
 *
 * A row is written into the chunk that first needs it, after the rows that it
 * refers to. If that were all, one lost chunk early in a recording would take
 * the names of everything that first ran then, for hours. So rows are written
 * again, in epochs: when the samples of an epoch have come to four times the
 * size of the rows written in it, the next one begins, and what is needed in
 * it is written once more.
 *
 *    rows   ####                                ###                ###
 *    samples    -- -- -- -- -- -- -- -- -- -- --    --- --- --- ---
 *           |<------------- epoch ------------->|<---- epoch ----->|
 *
 * That costs at most a quarter of what the samples take (less, for rows
 * compress better), and a lost chunk spoils at most the rest of its epoch.
 */
#include "record/encode.h"

#include <string.h>

#define PENDING_MAX ((size_t)32 << 20) /* half of what a chunk may hold */
#define NUMBER_MAX 10 /* bytes of an LEB128 number, at most */
#define REPEAT_RATIO 4

static bool check(struct cp_record_encoder *e, bool ok)
{
	if (!ok)
		cp_record_sink_fail(e->sink, cp_error_nomem());
	return ok;
}

void cp_record_encoder_init(struct cp_record_encoder *e, struct cp_record_sink *sink)
{
	*e = (struct cp_record_encoder){ .sink = sink, .epoch = 1 };
}

void cp_record_encoder_deinit(struct cp_record_encoder *e)
{
	size_t t, k;

	for (t = 0; t < CP_RECORD_TABLE_END; t++) {
		cp_vec_free(&e->tables[t].values);
		cp_vec_free(&e->tables[t].written);
		for (k = 0; k <= CP_RECORD_WIDTH_MAX; k++)
			cp_vec_free(&e->tables[t].pending[k].v);
	}
	cp_interner_free(&e->strings);
	cp_interner_free(&e->functions);
	cp_interner_free(&e->frames);
	cp_interner_free(&e->shapes);
	cp_record_calls_free(&e->calls);
	cp_record_annotating_free(&e->annotations);
	cp_record_covering_free(&e->covering);
	cp_vec_free(&e->chain);
	cp_vec_free(&e->samples);
	cp_buf_free(&e->text);
	cp_buf_free(&e->parts);
	cp_buf_free(&e->totals);
	cp_buf_free(&e->counters);
	cp_buf_free(&e->lives);
	cp_buf_free(&e->payload);
	cp_buf_free(&e->body);
}

void cp_record_encode_check(struct cp_record_encoder *e)
{
	if (e->pending > PENDING_MAX)
		cp_record_encode_flush(e);
}

/* Puts a row into the chunk under way; the rows it refers to are there. */
static void emit(struct cp_record_encoder *e, unsigned table, uint64_t number)
{
	struct cp_record_table *t = &e->tables[table];
	unsigned width = cp_record_schemas[table].width, k;
	const struct cp_interned *string;
	bool ok = cp_vec_push(&t->pending[0].v, number);

	for (k = 0; k < width; k++)
		ok = cp_vec_push(&t->pending[k + 1].v, t->values.items[number * width + k]) && ok;
	e->pending += (width + 1) * NUMBER_MAX;
	if (table == CP_RECORD_STRINGS) {
		string = &e->strings.items[number];
		cp_buf_add(&e->text, string->bytes, string->size + 1);
		e->pending += string->size + 1;
	}
	t->written.items[number] = e->epoch;
	if (check(e, ok))
		cp_record_encode_check(e);
}

/* Sees to it that a row and all that it refers to are written in this epoch.
 * Rows of one table that refer to each other (stacks may be deep) wait in a
 * list, those of different tables by recursion (no deeper than tables are). */
void cp_record_encode_use(struct cp_record_encoder *e, unsigned table, uint64_t number)
{
	const struct cp_record_schema *schema = &cp_record_schemas[table];
	struct cp_record_table *t = &e->tables[table];
	size_t base = e->chain.count;
	uint64_t value;
	unsigned k;

	while (t->written.items[number] != e->epoch) {
		if (!check(e, cp_vec_push(&e->chain, number)))
			break;
		value = schema->refers[0] == table ? t->values.items[number * schema->width] : 0;
		if (!value)
			break;
		number = value - 1;
	}
	while (e->chain.count > base) {
		number = e->chain.items[--e->chain.count];
		for (k = 0; k < schema->width; k++) {
			value = t->values.items[number * schema->width + k];
			if (schema->refers[k] && schema->refers[k] != table && value)
				cp_record_encode_use(e, schema->refers[k], value - 1);
		}
		emit(e, table, number);
	}
}

/* A new row, not written yet. */
static bool add(struct cp_record_encoder *e, unsigned table, const uint64_t *values)
{
	struct cp_record_table *t = &e->tables[table];
	unsigned width = cp_record_schemas[table].width;

	if (!check(e, cp_vec_reserve(&t->values, t->values.count + width) &&
			      cp_vec_push(&t->written, 0)))
		return false;
	if (width)
		memcpy(t->values.items + t->values.count, values, width * sizeof(*values));
	t->values.count += width;
	return true;
}

static uint64_t intern(struct cp_record_encoder *e, unsigned table, struct cp_interner *in,
		       const void *key, size_t size, const uint64_t *values)
{
	uint32_t number;
	bool fresh;

	if (!check(e, cp_intern(in, key, size, &number, &fresh)))
		return 0;
	/* Not in step only without memory, and then nothing is written. */
	if (fresh && !add(e, table, values))
		return 0;
	return number < e->tables[table].written.count ? (uint64_t)number + 1 : 0;
}

uint64_t cp_record_encode_string(struct cp_record_encoder *e, const char *text)
{
	static const char cut[] = "...[cut]";
	char copy[CP_RECORD_STRING_MAX];
	size_t size;

	if (!text)
		return 0;
	size = strnlen(text, CP_RECORD_STRING_MAX + 1);
	if (size <= CP_RECORD_STRING_MAX)
		return intern(e, CP_RECORD_STRINGS, &e->strings, text, size, NULL);
	memcpy(copy, text, sizeof(copy));
	memcpy(copy + sizeof(copy) - strlen(cut), cut, strlen(cut));
	return intern(e, CP_RECORD_STRINGS, &e->strings, copy, sizeof(copy), NULL);
}

uint64_t cp_record_encode_function(struct cp_record_encoder *e, const struct cp_record_frame *frame)
{
	uint64_t values[] = {
		[CP_FUNCTION_NAME] = cp_record_encode_string(e, frame->function),
		[CP_FUNCTION_LINKAGE] = cp_record_encode_string(e, frame->linkage),
		[CP_FUNCTION_FILE] = cp_record_encode_string(e, frame->file),
		[CP_FUNCTION_DECL] = frame->decl_line,
	};

	return intern(e, CP_RECORD_FUNCTIONS, &e->functions, values, sizeof(values), values);
}

uint64_t cp_record_encode_frame(struct cp_record_encoder *e, uint64_t outer, uint64_t function,
				uint32_t line, bool inlined)
{
	uint64_t values[] = {
		[CP_FRAME_OUTER] = outer,
		[CP_FRAME_FUNCTION] = function,
		[CP_FRAME_LINE] = line,
		[CP_FRAME_INLINED] = inlined,
	};

	return intern(e, CP_RECORD_FRAMES, &e->frames, values, sizeof(values), values);
}

uint64_t cp_record_encode_shape(struct cp_record_encoder *e, const uint64_t *values)
{
	size_t size = cp_record_schemas[CP_RECORD_SHAPES].width * sizeof(*values);
	uint64_t ref = intern(e, CP_RECORD_SHAPES, &e->shapes, values, size, values);

	if (ref)
		cp_record_encode_use(e, CP_RECORD_SHAPES, ref - 1);
	return ref;
}

void cp_record_encode_row(struct cp_record_encoder *e, enum cp_record_section table,
			  uint32_t number, const uint64_t *values)
{
	struct cp_record_table *t = &e->tables[table];
	unsigned width = cp_record_schemas[table].width;

	if (cp_record_sink_failed(e->sink))
		return;
	if (number == t->written.count) {
		if (!add(e, table, values))
			return;
	} else {
		memcpy(t->values.items + (size_t)number * width, values, width * sizeof(*values));
		t->written.items[number] = 0;
	}
	cp_record_encode_use(e, table, number);
}

void cp_record_encode_sample(struct cp_record_encoder *e, uint32_t part,
			     const struct cp_record_sample *s)
{
	if (cp_record_sink_failed(e->sink))
		return;
	if (part != e->part && e->samples.count)
		cp_record_encode_flush(e);
	e->part = part;
	cp_record_encode_use(e, CP_RECORD_THREADS, s->thread);
	cp_record_encode_use(e, CP_RECORD_STACKS, s->stack);
	check(e, cp_vec_push(&e->samples, *s));
	e->pending += 6 * NUMBER_MAX;
}

void cp_record_encode_totals(struct cp_record_encoder *e, const struct cp_record_totals *t)
{
	cp_buf_clear(&e->totals);
	cp_record_put_totals(&e->totals, t);
	e->pending += 256;
}

void cp_record_encode_counters(struct cp_record_encoder *e, const struct cp_buf *body)
{
	cp_buf_clear(&e->counters);
	cp_buf_add(&e->counters, body->bytes, body->size);
	e->counters.failed |= body->failed;
	e->pending += body->size + NUMBER_MAX;
}

void cp_record_encode_life(struct cp_record_encoder *e, uint32_t part,
			   const struct cp_record_life *life)
{
	size_t before;

	if (cp_record_sink_failed(e->sink))
		return;
	if (part != e->life_part && e->lives.size)
		cp_record_encode_flush(e);
	e->life_part = part;
	before = e->lives.size;
	cp_record_put_life(&e->lives, life);
	e->pending += e->lives.size - before + 3 * NUMBER_MAX;
	cp_record_encode_check(e);
}

void cp_record_encode_part(struct cp_record_encoder *e, uint32_t number, const struct cp_buf *info,
			   const struct cp_record_totals *t, const struct cp_record_damage *d)
{
	cp_buf_clear(&e->body);
	cp_buf_uleb(&e->body, number);
	cp_record_put_field(&e->body, 0, info->bytes, info->size);
	cp_record_put_damage(&e->body, d);
	cp_record_put_totals(&e->body, t);
	if (info->failed)
		e->body.failed = true;
	cp_record_put_field(&e->parts, CP_RECORD_PART, e->body.bytes, e->body.size);
	e->parts.failed |= e->body.failed;
	e->pending += e->body.size + 2 * NUMBER_MAX;
	cp_record_encode_check(e);
}

static void put_table(struct cp_record_encoder *e, unsigned table)
{
	struct cp_record_table *t = &e->tables[table];
	size_t count = t->pending[0].v.count;
	unsigned k;

	if (!count)
		return;
	cp_buf_clear(&e->body);
	cp_buf_uleb(&e->body, count);
	for (k = 0; k <= cp_record_schemas[table].width; k++) {
		cp_record_put_column(&e->body, t->pending[k].v.items, count);
		t->pending[k].v.count = 0;
	}
	if (table == CP_RECORD_STRINGS) {
		cp_buf_add(&e->body, e->text.bytes, e->text.size);
		e->body.failed |= e->text.failed;
		cp_buf_clear(&e->text);
	}
	cp_record_put_field(&e->payload, table, e->body.bytes, e->body.size);
	e->payload.failed |= e->body.failed;
	e->table_bytes += e->body.size;
}

/* What the samples' columns refer to within a chunk: each thread's last one. */
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

	for (i = 0; ok && i < e->samples.count; i++) {
		const struct cp_record_sample *s = &e->samples.items[i];
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

static void put_samples(struct cp_record_encoder *e)
{
	size_t n = e->samples.count;
	uint64_t *memory;
	struct sample_columns c = { 0 };

	if (!n)
		return;
	memory = calloc(7 * n, sizeof(*memory));
	if (memory)
		c = (struct sample_columns){ memory,	     memory + n,     memory + 2 * n,
					     memory + 3 * n, memory + 4 * n, memory + 5 * n,
					     memory + 6 * n };
	if (check(e, memory && fill_columns(e, &c))) {
		cp_buf_clear(&e->body);
		cp_buf_uleb(&e->body, e->part);
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
	e->samples.count = 0;
}

static void put_lives(struct cp_record_encoder *e)
{
	if (!e->lives.size)
		return;
	cp_buf_clear(&e->body);
	cp_buf_uleb(&e->body, e->life_part);
	cp_buf_add(&e->body, e->lives.bytes, e->lives.size);
	cp_record_put_field(&e->payload, CP_RECORD_LIVES, e->body.bytes, e->body.size);
	e->payload.failed |= e->body.failed || e->lives.failed;
	cp_buf_clear(&e->lives);
}

void cp_record_encode_flush(struct cp_record_encoder *e)
{
	unsigned table;

	/* After an error nothing is written, and rows may be half there. */
	if (!e->pending || cp_record_sink_failed(e->sink))
		return;
	e->pending = 0;
	cp_buf_clear(&e->payload);
	cp_buf_add(&e->payload, e->parts.bytes, e->parts.size);
	e->payload.failed |= e->parts.failed;
	cp_buf_clear(&e->parts);
	for (table = CP_RECORD_STRINGS; table < CP_RECORD_TABLE_END; table++)
		put_table(e, table);
	put_samples(e);
	cp_record_put_calls(e);
	cp_record_put_annotations(e);
	cp_buf_add(&e->payload, e->covering.sections.bytes, e->covering.sections.size);
	cp_buf_clear(&e->covering.sections);
	put_lives(e);
	if (e->totals.size)
		cp_record_put_field(&e->payload, CP_RECORD_TOTALS, e->totals.bytes, e->totals.size);
	if (e->counters.size)
		cp_record_put_field(&e->payload, CP_RECORD_COUNTERS, e->counters.bytes,
				    e->counters.size);
	e->payload.failed |= e->totals.failed || e->counters.failed;
	cp_buf_clear(&e->counters);
	cp_record_sink_chunk(e->sink, CP_RECORD_CHUNK_DATA, &e->payload);
	if (e->sample_bytes > REPEAT_RATIO * e->table_bytes) {
		e->epoch++;
		e->table_bytes = e->sample_bytes = 0;
	}
}
