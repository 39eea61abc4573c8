/* SPDX-License-Identifier: MIT */
#include "record/merge_enclosed.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* ---- sources ---- */

/* The last written one of a text comes first. */
static int compare_sources(const void *pa, const void *pb)
{
	const struct cp_record_source *a = *(const struct cp_record_source *const *)pa;
	const struct cp_record_source *b = *(const struct cp_record_source *const *)pb;
	int c = strcmp(a->path, b->path);

	if (!c)
		c = order(a->size, b->size);
	if (!c)
		c = memcmp(a->text, b->text, a->size);
	return c ? c : order(b->written_ns, a->written_ns);
}

static bool same_source(const struct cp_record_source *a, const struct cp_record_source *b)
{
	return a->size == b->size && !strcmp(a->path, b->path) &&
	       !memcmp(a->text, b->text, a->size);
}

static void merge_sources(const struct cp_merge_from *from, size_t count,
			  struct cp_record_encoder *to)
{
	CP_VEC(const struct cp_record_source *) all = { 0 };
	bool ok = true;
	uint32_t n;
	size_t i;

	for (i = 0; i < count; i++)
		for (n = 0; n < cp_record_source_count(from[i].record); n++)
			ok &= cp_vec_push(&all, cp_record_get_source(from[i].record, n));
	if (cp_record_encode_ok(to, ok) && all.count)
		qsort(all.items, all.count, sizeof(*all.items), compare_sources);
	for (i = 0; ok && i < all.count; i++)
		if (!i || !same_source(all.items[i - 1], all.items[i]))
			cp_record_encode_source(to, all.items[i]);
	cp_vec_free(&all);
}

/* ---- code ---- */

/* With the number of its image in the output. */
struct code {
	const struct cp_record_code *v;
	uint32_t image;
};

/* Of the same code that of which most is known comes first. */
static int compare_codes(const void *pa, const void *pb)
{
	const struct code *a = pa, *b = pb;
	int c = order(a->image, b->image);

	if (!c)
		c = order(a->v->start, b->v->start);
	if (!c)
		c = order(a->v->size, b->v->size);
	if (!c)
		c = memcmp(a->v->bytes, b->v->bytes, a->v->size);
	if (!c)
		c = order(b->v->place_count, a->v->place_count);
	return c ? c : order(b->v->name_count, a->v->name_count);
}

static bool same_code(const struct code *a, const struct code *b)
{
	return a->image == b->image && a->v->start == b->v->start && a->v->size == b->v->size &&
	       !memcmp(a->v->bytes, b->v->bytes, a->v->size);
}

static void write_code(const struct code *c, struct cp_record_encoder *to)
{
	CP_VEC(struct cp_record_code_row) rows = { 0 };
	struct cp_record_code code = *c->v;
	bool ok = true;
	size_t i;

	code.image = c->image;
	for (i = 0; i < code.place_count; i++) {
		const struct cp_record_code_place *place = &code.places[i];
		struct cp_record_code_row row = {
			place->offset,
			cp_record_encode_frames(to, place->frames, place->frame_count),
		};

		ok &= cp_vec_push(&rows, row);
	}
	if (cp_record_encode_ok(to, ok))
		cp_record_encode_code(to, &code, rows.items, rows.count);
	cp_vec_free(&rows);
}

static void merge_codes(const struct cp_merge_from *from, size_t count,
			struct cp_record_encoder *to)
{
	CP_VEC(struct code) all = { 0 };
	bool ok = true;
	uint32_t n;
	size_t i;

	for (i = 0; i < count; i++) {
		for (n = 0; n < cp_record_code_count(from[i].record); n++) {
			const struct cp_record_code *c = cp_record_get_code(from[i].record, n);

			ok &= cp_vec_push(&all, ((struct code){ c, from[i].images[c->image] }));
		}
	}
	if (cp_record_encode_ok(to, ok) && all.count)
		qsort(all.items, all.count, sizeof(*all.items), compare_codes);
	for (i = 0; ok && i < all.count; i++)
		if (!i || !same_code(&all.items[i - 1], &all.items[i]))
			write_code(&all.items[i], to);
	cp_vec_free(&all);
}

void cp_merge_enclosed(const struct cp_merge_from *from, size_t count, struct cp_record_encoder *to)
{
	merge_codes(from, count, to);
	merge_sources(from, count, to);
}
