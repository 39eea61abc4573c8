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
#define REPEAT_RATIO 4

bool cp_record_encode_ok(struct cp_record_encoder *e, bool ok)
{
	if (!ok)
		cp_record_sink_fail(e->sink, cp_error_nomem());
	return ok;
}

void cp_record_encoder_init(struct cp_record_encoder *e, struct cp_record_sink *sink,
			    const struct cp_record_encode_kind *kinds)
{
	*e = (struct cp_record_encoder){ .sink = sink, .kinds = kinds, .epoch = 1 };
}

void cp_record_encoder_deinit(struct cp_record_encoder *e)
{
	const struct cp_record_encode_kind *kind;
	size_t t, k;

	for (kind = e->kinds; kind->put; kind++)
		kind->free(e);
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
	cp_vec_free(&e->chain);
	cp_buf_free(&e->text);
	cp_buf_free(&e->parts);
	cp_buf_free(&e->totals);
	cp_buf_free(&e->counters);
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
	e->pending += (width + 1) * CP_RECORD_NUMBER_MAX;
	if (table == CP_RECORD_STRINGS) {
		string = &e->strings.items[number];
		cp_buf_add(&e->text, string->bytes, string->size + 1);
		e->pending += string->size + 1;
	}
	t->written.items[number] = e->epoch;
	if (cp_record_encode_ok(e, ok))
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
		if (!cp_record_encode_ok(e, cp_vec_push(&e->chain, number)))
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

	if (!cp_record_encode_ok(e, cp_vec_reserve(&t->values, t->values.count + width) &&
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

	if (!cp_record_encode_ok(e, cp_intern(in, key, size, &number, &fresh)))
		return 0;
	/* Interner and table are out of step only without memory; then nothing is written. */
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
	e->pending += body->size + CP_RECORD_NUMBER_MAX;
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
	e->pending += e->body.size + 2 * CP_RECORD_NUMBER_MAX;
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

void cp_record_encode_flush(struct cp_record_encoder *e)
{
	const struct cp_record_encode_kind *kind;
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
	for (kind = e->kinds; kind->put; kind++)
		kind->put(e);
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
