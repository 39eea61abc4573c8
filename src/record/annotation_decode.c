/* SPDX-License-Identifier: MIT */
#include "record/annotation_decode.h"

#include "record/annotation_encode.h"

/* A number in 32 bits; CP_RECORD_NONE, which no row has, for larger ones. */
static uint32_t narrow(uint64_t value)
{
	return value < CP_RECORD_NONE ? (uint32_t)value : CP_RECORD_NONE;
}

static bool add_block(struct cp_record_decoder *d, uint32_t part, size_t count)
{
	struct cp_record *r = d->record;
	size_t n = r->annotation_blocks.count;
	struct cp_record_block block = { part, r->annotations.count, count };

	if (n && r->annotation_blocks.items[n - 1].part == part) {
		r->annotation_blocks.items[n - 1].count += count;
		return true;
	}
	return cp_record_decode_ok(d, cp_vec_push(&r->annotation_blocks, block));
}

bool cp_record_decode_annotations(struct cp_record_decoder *d, struct cp_cursor *c)
{
	uint64_t part = cp_cursor_uleb(c), first = cp_cursor_uleb(c), count = cp_cursor_uleb(c);
	struct cp_record *r = d->record;
	const uint64_t *column;
	size_t i, n;

	if (c->bad || part >= CP_RECORD_PARTS_MAX ||
	    !cp_record_decode_columns(d, c, count, CP_ANNOTATION_COLUMNS) ||
	    !cp_record_decode_ok(d, cp_vec_reserve(&r->annotations,
						   r->annotations.count + (size_t)count)) ||
	    !add_block(d, (uint32_t)part, (size_t)count))
		return false;
	if (first > d->next_annotation)
		r->own.lost += first - d->next_annotation;
	d->next_annotation = first + count;
	n = (size_t)count;
	for (i = 0; i < n; i++) {
		column = d->column.items + i;
		r->annotations.items[r->annotations.count++] = (struct cp_record_annotation_row){
			.ts_ns = column[CP_ANNOTATION_TS * n],
			.id = column[CP_ANNOTATION_ID * n],
			.value = column[CP_ANNOTATION_VALUE * n],
			.thread = narrow(column[CP_ANNOTATION_THREAD * n]),
			.name = narrow(column[CP_ANNOTATION_NAME * n]),
			.category = narrow(column[CP_ANNOTATION_CATEGORY * n]),
			.object = narrow(column[CP_ANNOTATION_OBJECT * n]),
			.kind = column[CP_ANNOTATION_HOW * n] &
				((1u << CP_ANNOTATION_KIND_BITS) - 1),
			.flags =
				(uint8_t)(column[CP_ANNOTATION_HOW * n] >> CP_ANNOTATION_KIND_BITS),
		};
	}
	return true;
}

/* The string's place + 1 instead of its number + 1; false when it is missing. */
static bool string_place(const struct cp_record_decoder *d, uint32_t *ref)
{
	uint64_t place;

	if (!*ref)
		return true;
	place = cp_record_place(&d->rows[CP_RECORD_STRINGS], *ref - 1);
	*ref = (uint32_t)(place + 1);
	return place != CP_RECORD_MISSING;
}

/* False when what it refers to is missing, or it is of a later version. */
static bool resolve(const struct cp_record_decoder *d, struct cp_record_annotation_row *a)
{
	uint64_t thread = cp_record_place(&d->rows[CP_RECORD_THREADS], a->thread);

	a->thread = (uint32_t)thread;
	return thread != CP_RECORD_MISSING && a->kind < CP_RECORD_ANNOTATION_KINDS &&
	       string_place(d, &a->name) && string_place(d, &a->category) &&
	       string_place(d, &a->object);
}

void cp_record_build_annotations(struct cp_record_decoder *d)
{
	struct cp_record *r = d->record;
	size_t kept = 0, b, i;

	for (b = 0; b < r->annotation_blocks.count; b++) {
		struct cp_record_block *block = &r->annotation_blocks.items[b];
		size_t first = kept;

		for (i = block->first; i < block->first + block->count; i++) {
			struct cp_record_annotation_row a = r->annotations.items[i];

			if (resolve(d, &a))
				r->annotations.items[kept++] = a;
			else
				r->own.dropped++;
		}
		block->first = first;
		block->count = kept - first;
	}
	r->annotations.count = kept;
}

void cp_record_keep_strings(struct cp_record_decoder *d)
{
	struct cp_record *r = d->record;

	r->strings.items = d->strings.items;
	r->strings.count = d->strings.count;
	r->strings.capacity = d->strings.capacity;
	d->strings.items = NULL;
	d->strings.count = d->strings.capacity = 0;
}

void cp_record_free_annotations(struct cp_record *r)
{
	cp_vec_free(&r->annotations);
	cp_vec_free(&r->annotation_blocks);
	cp_vec_free(&r->strings);
}

size_t cp_record_annotation_count(const struct cp_record *r)
{
	return r->annotations.count;
}

static const char *text(const struct cp_record *r, uint32_t ref)
{
	return ref && ref <= r->strings.count ? r->strings.items[ref - 1] : NULL;
}

struct cp_record_annotation cp_record_get_annotation(const struct cp_record *r, size_t n)
{
	const struct cp_record_annotation_row *row = &r->annotations.items[n];

	return (struct cp_record_annotation){
		.ts_ns = row->ts_ns,
		.kind = row->kind,
		.flags = row->flags,
		.thread = row->thread,
		.id = row->id,
		.value = (int64_t)row->value,
		.name = text(r, row->name),
		.category = text(r, row->category),
		.object = text(r, row->object),
	};
}
