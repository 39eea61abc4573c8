/* SPDX-License-Identifier: MIT
 *
 * Frames are made once for each row of theirs that a place refers to, and of all code of
 * a recording no more than FRAMES_MOST, so that little input makes no large memory.
 */
#include "record/enclosed_decode.h"

#include <string.h>

#define FRAMES_DEEP 64
#define FRAMES_MOST ((size_t)1 << 20)

static const char *string(const struct cp_record_decoder *d, uint64_t ref)
{
	uint64_t place =
		ref ? cp_record_place(&d->rows[CP_RECORD_STRINGS], ref - 1) : CP_RECORD_MISSING;

	return place == CP_RECORD_MISSING ? NULL : d->strings.items[place];
}

bool cp_record_decode_source(struct cp_record_decoder *d, struct cp_cursor *c)
{
	struct cp_record_source s = { .path = string(d, cp_cursor_uleb(c)) };

	s.written_ns = cp_cursor_uleb(c);
	s.size = cp_cursor_left(c);
	if (c->bad)
		return false;
	if (!s.path)
		return true; /* its name was lost */
	s.text = cp_record_copy(&d->record->arena, c->at, s.size);
	return cp_record_decode_ok(d, s.text && cp_vec_push(&d->record->sources, s));
}

/* ---- places ---- */

static const uint64_t *row(const struct cp_record_decoder *d, unsigned table, uint64_t place)
{
	return d->rows[table].values.items + place * cp_record_schemas[table].width;
}

/* References in rows are places + 1 by now. */
static const char *named(const struct cp_record_decoder *d, uint64_t ref)
{
	return ref ? d->strings.items[ref - 1] : NULL;
}

static struct cp_record_frame frame_at(const struct cp_record_decoder *d, const uint64_t *v)
{
	const uint64_t *f = row(d, CP_RECORD_FUNCTIONS, v[CP_FRAME_FUNCTION] - 1);

	return (struct cp_record_frame){
		.function = named(d, f[CP_FUNCTION_NAME]),
		.linkage = named(d, f[CP_FUNCTION_LINKAGE]),
		.file = named(d, f[CP_FUNCTION_FILE]),
		.line = (uint32_t)v[CP_FRAME_LINE],
		.decl_line = (uint32_t)f[CP_FUNCTION_DECL],
		.inlined = v[CP_FRAME_INLINED] != 0,
	};
}

/* False without memory. */
static bool make_frames(struct cp_record_decoder *d, uint64_t place,
			struct cp_record_code_place *ret)
{
	struct cp_record_frame made[FRAMES_DEEP], *kept;
	uint64_t at = place + 1;
	uint32_t n = 0;

	for (; at && n < FRAMES_DEEP; n++) {
		const uint64_t *v = row(d, CP_RECORD_FRAMES, at - 1);

		made[n] = frame_at(d, v);
		at = v[CP_FRAME_OUTER];
	}
	kept = cp_record_alloc(&d->record->arena, n * sizeof(*kept));
	if (!cp_record_decode_ok(d, kept))
		return false;
	memcpy(kept, made, n * sizeof(*kept));
	ret->frames = kept;
	ret->frame_count = n;
	d->code_frames += n;
	return true;
}

/* By the number of the row in the file plus 1. */
static bool get_frames(struct cp_record_decoder *d, uint64_t ref, struct cp_record_code_place *ret)
{
	uint64_t place =
		ref ? cp_record_place(&d->rows[CP_RECORD_FRAMES], ref - 1) : CP_RECORD_MISSING;
	const uint64_t *known;

	if (place == CP_RECORD_MISSING)
		return true;
	known = cp_map_get(&d->code_frame_places, place);
	if (known) {
		const struct cp_record_code_place *same = (const void *)(uintptr_t)*known;

		ret->frames = same->frames;
		ret->frame_count = same->frame_count;
		return true;
	}
	if (d->code_frames >= FRAMES_MOST)
		return true;
	return make_frames(d, place, ret) &&
	       cp_record_decode_ok(d, cp_map_put(&d->code_frame_places, place, (uintptr_t)ret));
}

static bool decode_places(struct cp_record_decoder *d, struct cp_cursor *c,
			  struct cp_record_code *code)
{
	uint64_t count = cp_cursor_uleb(c), i;
	struct cp_record_code_place *places;

	if (!cp_record_decode_columns(d, c, count, 2))
		return false;
	places = cp_record_alloc(&d->record->arena, (size_t)(count + 1) * sizeof(*places));
	if (!cp_record_decode_ok(d, places))
		return false;
	for (i = 0; i < count; i++) {
		places[i] = (struct cp_record_code_place){ .offset = d->column.items[i] };
		if (!get_frames(d, d->column.items[count + i], &places[i]))
			return false;
	}
	code->places = places;
	code->place_count = (size_t)count;
	return true;
}

/* ---- names, bytes ---- */

static bool decode_names(struct cp_record_decoder *d, struct cp_cursor *c,
			 struct cp_record_code *code)
{
	uint64_t count = cp_cursor_uleb(c), i;
	struct cp_record_code_name *names;

	if (!cp_record_decode_columns(d, c, count, 4))
		return false;
	names = cp_record_alloc(&d->record->arena, (size_t)(count + 1) * sizeof(*names));
	if (!cp_record_decode_ok(d, names))
		return false;
	for (i = 0; i < count; i++) {
		const char *name = string(d, d->column.items[2 * count + i]);

		if (name)
			names[code->name_count++] = (struct cp_record_code_name){
				.address = d->column.items[i],
				.data = d->column.items[count + i],
				.name = name,
				.offset = d->column.items[3 * count + i],
			};
	}
	code->names = names;
	return true;
}

bool cp_record_decode_code(struct cp_record_decoder *d, struct cp_cursor *c)
{
	uint64_t image = cp_record_place(&d->rows[CP_RECORD_IMAGES], cp_cursor_uleb(c));
	struct cp_record_code code = { .start = cp_cursor_uleb(c) };
	uint64_t size = cp_cursor_uleb(c);

	if (c->bad || !decode_places(d, c, &code) || !decode_names(d, c, &code) ||
	    size != cp_cursor_left(c))
		return false;
	if (image == CP_RECORD_MISSING)
		return true;
	code.image = (uint32_t)image;
	code.size = (size_t)size;
	code.bytes = (const uint8_t *)cp_record_copy(&d->record->arena, c->at, code.size);
	return cp_record_decode_ok(d, code.bytes && cp_vec_push(&d->record->codes, code));
}
