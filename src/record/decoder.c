/* SPDX-License-Identifier: MIT */
#include "record/decoder.h"

uint64_t cp_record_place_by_map(const struct cp_record_rows *rows, uint64_t number)
{
	const uint64_t *place = cp_map_get(&rows->places, number);

	return place ? *place : CP_RECORD_MISSING;
}

bool cp_record_decode_ok(struct cp_record_decoder *d, bool ok)
{
	if (!ok)
		d->no_memory = true;
	return ok;
}

bool cp_record_new_place(struct cp_record_decoder *d, struct cp_record_rows *rows, uint64_t number)
{
	if (rows->count >= CP_RECORD_NONE - 1)
		return false;
	if (number == rows->count && rows->direct == rows->count)
		rows->direct++;
	else if (!cp_record_decode_ok(d, cp_map_put(&rows->places, number, rows->count)))
		return false;
	rows->count++;
	return true;
}

bool cp_record_decode_columns(struct cp_record_decoder *d, struct cp_cursor *c, uint64_t count,
			      size_t columns)
{
	size_t k;

	/* A number takes a byte at least. */
	if (c->bad || count > cp_cursor_left(c) / columns)
		return false;
	if (!cp_record_decode_ok(d, cp_vec_reserve(&d->column, (size_t)count * columns + 1)))
		return false;
	for (k = 0; k < columns; k++)
		cp_record_get_column(c, d->column.items + k * (size_t)count, (size_t)count);
	return !c->bad;
}
