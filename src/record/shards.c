/* SPDX-License-Identifier: MIT */
#include "record/shards.h"

#include <stdlib.h>
#include <string.h>

#include "record/reader.h"

static uint64_t damage_sum(const struct cp_record_damage *d)
{
	return d->no_end + d->bad_chunks + d->missing_bytes + d->dropped + d->lost;
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Parts by id; of copies of one the fullest comes first. */
static int compare_shards(const void *pa, const void *pb)
{
	const struct cp_shard *a = pa, *b = pb;
	int c = strcmp(a->part->id, b->part->id);

	if (!c)
		c = order(b->samples, a->samples);
	if (!c)
		c = order(b->part->totals->end_ns, a->part->totals->end_ns);
	if (!c)
		c = order(damage_sum(a->part->damage), damage_sum(b->part->damage));
	return c;
}

static bool add_shards(struct cp_shards *s, const struct cp_record *r, size_t input)
{
	struct cp_shard shard = { .record = r, .input = input };
	size_t b;

	for (; shard.number < r->parts.count; shard.number++) {
		shard.part = &r->parts.items[shard.number];
		if (!shard.part->info)
			continue; /* lost with a chunk */
		shard.samples = 0;
		for (b = 0; b < r->blocks.count; b++) {
			if (r->blocks.items[b].part == shard.number)
				shard.samples += r->blocks.items[b].count;
		}
		for (b = 0; b < r->call_sections.count; b++) {
			if (r->call_sections.items[b].part == shard.number)
				shard.samples += r->call_sections.items[b].kept;
		}
		for (b = 0; b < r->call_blocks.count; b++) {
			if (r->call_blocks.items[b].part == shard.number)
				shard.samples += r->call_blocks.items[b].kept;
		}
		for (b = 0; b < r->annotation_blocks.count; b++) {
			if (r->annotation_blocks.items[b].part == shard.number)
				shard.samples += r->annotation_blocks.items[b].count;
		}
		if (!cp_vec_push(&s->list, shard))
			return false;
	}
	return true;
}

CP_ERROR cp_shards_choose(struct cp_record *const *inputs, size_t count, struct cp_shards *s)
{
	size_t i, kept = 0;

	for (i = 0; i < count; i++) {
		if (!add_shards(s, inputs[i], i))
			return cp_error_nomem();
	}
	if (!s->list.count)
		return cp_error_new(CP_ERR_USAGE, 0, "there is no recording to merge");
	qsort(s->list.items, s->list.count, sizeof(*s->list.items), compare_shards);
	for (i = 0; i < s->list.count; i++) {
		if (kept && !strcmp(s->list.items[i].part->id, s->list.items[kept - 1].part->id))
			continue;
		s->list.items[kept++] = s->list.items[i];
		if (!cp_vec_push(&s->parts, s->list.items[i].part))
			return cp_error_nomem();
	}
	s->list.count = kept;
	if (kept > CP_RECORD_PARTS_MAX)
		return cp_error_new(CP_ERR_UNSUPPORTED, 0,
				    "%zu recordings are more than the %d that one can hold", kept,
				    CP_RECORD_PARTS_MAX);
	return NULL;
}

void cp_shards_deinit(struct cp_shards *s)
{
	cp_vec_free(&s->list);
	cp_vec_free(&s->parts);
}

/* Samples, calls and annotations of parts that are not known any more. */
static uint64_t orphans(const struct cp_record *r)
{
	uint64_t sum = 0;
	size_t b;

	for (b = 0; b < r->blocks.count; b++) {
		if (r->blocks.items[b].part >= r->parts.count ||
		    !r->parts.items[r->blocks.items[b].part].info)
			sum += r->blocks.items[b].count;
	}
	for (b = 0; b < r->call_sections.count; b++) {
		if (r->call_sections.items[b].part >= r->parts.count ||
		    !r->parts.items[r->call_sections.items[b].part].info)
			sum += r->call_sections.items[b].kept;
	}
	for (b = 0; b < r->annotation_blocks.count; b++) {
		if (r->annotation_blocks.items[b].part >= r->parts.count ||
		    !r->parts.items[r->annotation_blocks.items[b].part].info)
			sum += r->annotation_blocks.items[b].count;
	}
	return sum;
}

struct cp_record_damage cp_shards_damage(const struct cp_shards *s, size_t n)
{
	const struct cp_shard *shard = &s->list.items[n];
	struct cp_record_damage d = *shard->part->damage;
	const struct cp_record_damage *own = &shard->record->own;
	size_t i;

	if (!shard->record->merged)
		return d;
	for (i = 0; i < n; i++) {
		if (s->list.items[i].input == shard->input)
			return d;
	}
	d.no_end |= own->no_end;
	d.bad_chunks += own->bad_chunks;
	d.missing_bytes += own->missing_bytes;
	d.dropped += own->dropped + orphans(shard->record);
	d.lost += own->lost;
	return d;
}

/* The output's id comes from those of its parts: equal sets, equal ids. */
