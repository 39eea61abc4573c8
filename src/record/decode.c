/* SPDX-License-Identifier: MIT
 *
 * Payloads of DATA chunks, which anybody may have written. A section's count
 * is at most its bytes, so nothing is allocated beyond a fixed multiple of
 * what was unpacked; rows are kept only when all they refer to exists.
 */
#include "record/decode.h"

#include <string.h>

#include "record/annotation_decode.h"
#include "record/call_block_decode.h"
#include "record/call_decode.h"
#include "record/coverage_decode.h"
#include "record/enclosed_decode.h"
#include "record/info.h"
#include "record/sample_decode.h"
#include "record/sum_rows.h"

void cp_record_decoder_deinit(struct cp_record_decoder *d)
{
	size_t t;

	for (t = 0; t < CP_RECORD_TABLE_END; t++) {
		cp_vec_free(&d->rows[t].values);
		cp_map_free(&d->rows[t].places);
	}
	cp_vec_free(&d->strings);
	cp_map_free(&d->code_frame_places);
	cp_vec_free(&d->column);
	cp_vec_free(&d->next_sums);
	cp_record_free_units(d);
}

static bool decode_strings(struct cp_record_decoder *d, struct cp_cursor *c)
{
	struct cp_record_rows *rows = &d->rows[CP_RECORD_STRINGS];
	uint64_t count = cp_cursor_uleb(c), i;
	const uint8_t *start;
	const char *text;
	char *copy;

	if (!cp_record_decode_columns(d, c, count, 1))
		return false;
	start = c->at;
	copy = cp_record_copy(&d->record->arena, start, cp_cursor_left(c));
	if (!cp_record_decode_ok(d, copy != NULL))
		return false;
	for (i = 0; i < count; i++) {
		text = cp_cursor_string(c);
		if (!text)
			return false;
		if (cp_record_place(rows, d->column.items[i]) != CP_RECORD_MISSING)
			continue;
		text = copy + ((const uint8_t *)text - start);
		if (!cp_record_decode_ok(d, cp_vec_push(&d->strings, text)) ||
		    !cp_record_new_place(d, rows, d->column.items[i]))
			return false;
	}
	return true;
}

/* A row with its references as places; false when one is missing. */
static bool resolve(const struct cp_record_decoder *d, const struct cp_record_schema *schema,
		    uint64_t *row)
{
	unsigned k;

	for (k = 0; k < schema->width; k++) {
		if (!row[k] && schema->required & 1u << k)
			return false;
		if (!row[k] || !schema->refers[k])
			continue;
		row[k] = cp_record_place(&d->rows[schema->refers[k]], row[k] - 1);
		if (row[k]++ == CP_RECORD_MISSING)
			return false;
	}
	return true;
}

/* The columns of a table, with zeros for those that earlier versions don't write: they
 * come all or not at all, and each number takes a byte. */
static bool decode_rows(struct cp_record_decoder *d, struct cp_cursor *c, uint64_t count,
			const struct cp_record_schema *schema)
{
	size_t least = schema->width + 1u - schema->added, k;

	if (!cp_record_decode_columns(d, c, count, least) ||
	    !cp_record_decode_ok(d, cp_vec_reserve(&d->column,
						   (size_t)count * (schema->width + 1) + 1)))
		return false;
	for (k = least; k <= schema->width; k++) {
		if (cp_cursor_left(c))
			cp_record_get_column(c, d->column.items + k * (size_t)count, (size_t)count);
		else
			memset(d->column.items + k * (size_t)count, 0,
			       (size_t)count * sizeof(*d->column.items));
	}
	return !c->bad;
}

static bool decode_table(struct cp_record_decoder *d, unsigned table, struct cp_cursor *c)
{
	const struct cp_record_schema *schema = &cp_record_schemas[table];
	struct cp_record_rows *rows = &d->rows[table];
	uint64_t row[CP_RECORD_WIDTH_MAX], count = cp_cursor_uleb(c), i, place;
	unsigned k;

	if (!decode_rows(d, c, count, schema))
		return false;
	for (i = 0; i < count; i++) {
		for (k = 0; k < schema->width; k++)
			row[k] = d->column.items[(k + 1) * count + i];
		place = cp_record_place(rows, d->column.items[i]);
		if ((place != CP_RECORD_MISSING && !schema->replaces) || !resolve(d, schema, row))
			continue;
		if (place == CP_RECORD_MISSING) {
			place = rows->count;
			if (!cp_record_decode_ok(d, cp_vec_reserve(&rows->values,
								   rows->values.count +
									   schema->width)) ||
			    !cp_record_new_place(d, rows, d->column.items[i]))
				return false;
			rows->values.count += schema->width;
			d->changes++;
		} else if (memcmp(rows->values.items + place * schema->width, row,
				  schema->width * sizeof(*row)) != 0) {
			d->changes++;
		}
		memcpy(rows->values.items + place * schema->width, row,
		       schema->width * sizeof(*row));
	}
	return true;
}

static bool decode_part(struct cp_record_decoder *d, struct cp_cursor *c)
{
	struct cp_record *r = d->record;
	uint64_t number = cp_cursor_uleb(c), tag;
	struct cp_record_info *info = cp_record_alloc(&r->arena, sizeof(*info));
	struct cp_record_totals *totals = cp_record_alloc(&r->arena, sizeof(*totals));
	struct cp_record_damage *damage = cp_record_alloc(&r->arena, sizeof(*damage));
	uint8_t id[CP_RECORD_ID_SIZE] = { 0 };
	struct cp_cursor body;
	struct cp_record_part *part;

	if (!cp_record_decode_ok(d, info && totals && damage) || number >= CP_RECORD_PARTS_MAX ||
	    !cp_record_get_field(c, &tag, &body) || !cp_record_get_info(&body, &r->arena, info, id))
		return false;
	*damage = (struct cp_record_damage){ 0 };
	*totals = (struct cp_record_totals){ 0 };
	cp_record_get_damage(c, damage);
	cp_record_get_totals(c, totals);
	/* Parts come in order; what a lost chunk left out stays without info. */
	while (r->parts.count <= number) {
		if (!cp_record_decode_ok(d, cp_vec_push(&r->parts, (struct cp_record_part){ "" })))
			return false;
	}
	part = &r->parts.items[number];
	*part = (struct cp_record_part){ .info = info, .totals = totals, .damage = damage };
	cp_record_id_text(id, part->id);
	r->merged = true;
	return !c->bad;
}

static bool decode_totals(struct cp_record_decoder *d, struct cp_cursor *c)
{
	cp_record_get_totals(c, &d->record->totals);
	d->has_totals = true;
	return !c->bad;
}

static bool decode_counters(struct cp_record_decoder *d, struct cp_cursor *c)
{
	return cp_record_get_counters(d->record, c, &d->no_memory);
}

static bool decode_lives(struct cp_record_decoder *d, struct cp_cursor *c)
{
	return cp_record_get_lives(d->record, c, &d->no_memory);
}

/* Sections that are no tables. */
static const struct {
	enum cp_record_section tag;
	bool (*decode)(struct cp_record_decoder *d, struct cp_cursor *c);
} sections[] = {
	{ CP_RECORD_STRINGS, decode_strings },
	{ CP_RECORD_SAMPLES, cp_record_decode_samples },
	{ CP_RECORD_SAMPLE_SUMS, cp_record_decode_sample_sums },
	{ CP_RECORD_CALLS, cp_record_decode_calls },
	{ CP_RECORD_CALLS_WIDE, cp_record_decode_calls },
	{ CP_RECORD_COVERAGE, cp_record_decode_coverage },
	{ CP_RECORD_COUNTS, cp_record_decode_counts },
	{ CP_RECORD_ANNOTATIONS, cp_record_decode_annotations },
	{ CP_RECORD_COUNTERS, decode_counters },
	{ CP_RECORD_LIVES, decode_lives },
	{ CP_RECORD_CALL_BLOCKS, cp_record_decode_blocks },
	{ CP_RECORD_CALL_BLOCKS_VALUED, cp_record_decode_blocks },
	{ CP_RECORD_SUMS, cp_record_decode_sums },
	{ CP_RECORD_SOURCE, cp_record_decode_source },
	{ CP_RECORD_CODE, cp_record_decode_code },
	{ CP_RECORD_PART, decode_part },
	{ CP_RECORD_TOTALS, decode_totals },
};

static bool is_of_calls(uint64_t tag)
{
	return tag == CP_RECORD_STRINGS || tag == CP_RECORD_CALLS || tag == CP_RECORD_CALLS_WIDE ||
	       tag == CP_RECORD_TOTALS;
}

static bool decode_section(struct cp_record_decoder *d, uint64_t tag, struct cp_cursor *c)
{
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(sections); i++)
		if (tag == sections[i].tag)
			return (d->only_calls && !is_of_calls(tag)) || sections[i].decode(d, c);
	if (tag > CP_RECORD_STRINGS && tag < CP_RECORD_TABLE_END)
		return decode_table(d, (unsigned)tag, c);
	return true; /* of a later version */
}

bool cp_record_decode(struct cp_record_decoder *d, const void *bytes, size_t size)
{
	struct cp_cursor c = cp_cursor(bytes, size), body;
	uint64_t tag;

	d->payload = bytes;
	while (cp_record_get_field(&c, &tag, &body)) {
		if (!decode_section(d, tag, &body))
			return false;
	}
	return !c.bad;
}
