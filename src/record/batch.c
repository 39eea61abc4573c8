/* SPDX-License-Identifier: MIT */
#include "record/batch.h"

#include <string.h>

#include "record/call_encode.h"
#include "record/coverage_encode.h"

static bool reserve(struct cp_record_batch *to, const struct cp_record_batch *from)
{
	return cp_vec_reserve(&to->processes, to->processes.count + from->processes.count) &&
	       cp_vec_reserve(&to->threads, to->threads.count + from->threads.count) &&
	       cp_vec_reserve(&to->images, to->images.count + from->images.count) &&
	       cp_vec_reserve(&to->locations, to->locations.count + from->locations.count) &&
	       cp_vec_reserve(&to->nodes, to->nodes.count + from->nodes.count) &&
	       cp_vec_reserve(&to->stacks, to->stacks.count + from->stacks.count) &&
	       cp_vec_reserve(&to->samples, to->samples.count + from->samples.count) &&
	       cp_vec_reserve(&to->calls, to->calls.count + from->calls.count) &&
	       cp_vec_reserve(&to->heap, to->heap.count + from->heap.count) &&
	       cp_vec_reserve(&to->annotations, to->annotations.count + from->annotations.count) &&
	       cp_vec_reserve(&to->lives, to->lives.count + from->lives.count) &&
	       cp_vec_reserve(&to->blocks, to->blocks.count + from->blocks.count) &&
	       cp_vec_reserve(&to->block_bytes.blocks,
			      to->block_bytes.blocks.count + from->block_bytes.blocks.count) &&
	       cp_vec_reserve(&to->sums, to->sums.count + from->sums.count) &&
	       cp_vec_reserve(&to->sum_bytes.blocks,
			      to->sum_bytes.blocks.count + from->sum_bytes.blocks.count) &&
	       cp_vec_reserve(&to->coverage, to->coverage.count + from->coverage.count) &&
	       cp_vec_reserve(&to->values.blocks,
			      to->values.blocks.count + from->values.blocks.count);
}

#define MOVE(field) \
	do { \
		if (from->field.count) \
			memcpy(to->field.items + to->field.count, from->field.items, \
			       from->field.count * sizeof(*from->field.items)); \
		to->field.count += from->field.count; \
		from->field.count = 0; \
	} while (0)

static void free_coverage(struct cp_record_new_coverage *c)
{
	if (c)
		cp_record_arena_free(&c->arena);
	free(c);
}

/* In the place of one of the same image; there is room. */
static void put_coverage(struct cp_record_batch *to, struct cp_record_new_coverage *c)
{
	size_t i;

	for (i = 0; i < to->coverage.count; i++) {
		if (to->coverage.items[i]->v.image != c->v.image)
			continue;
		c->v.same_layout &= to->coverage.items[i]->v.same_layout;
		free_coverage(to->coverage.items[i]);
		to->coverage.items[i] = c;
		return;
	}
	to->coverage.items[to->coverage.count++] = c;
}

bool cp_record_batch_append(struct cp_record_batch *to, struct cp_record_batch *from)
{
	size_t i;

	if (!reserve(to, from))
		return false;
	for (i = 0; i < from->heap.count; i++)
		from->heap.items[i].behind += (uint32_t)to->calls.count;
	MOVE(heap);
	MOVE(processes);
	MOVE(threads);
	MOVE(images);
	MOVE(locations);
	MOVE(nodes);
	MOVE(stacks);
	MOVE(samples);
	MOVE(calls);
	MOVE(annotations);
	MOVE(lives);
	MOVE(blocks);
	MOVE(block_bytes.blocks);
	MOVE(sums);
	MOVE(sum_bytes.blocks);
	MOVE(values.blocks);
	for (i = 0; i < from->coverage.count; i++)
		put_coverage(to, from->coverage.items[i]);
	from->coverage.count = 0;
	to->call_bytes += from->call_bytes;
	to->block_calls += from->block_calls;
	from->call_bytes = from->values.left = from->sum_bytes.left = 0;
	from->block_bytes.left = from->block_calls = 0;
	if (from->has_totals) {
		to->has_totals = true;
		to->totals = from->totals;
		from->has_totals = false;
	}
	if (from->counters.size) {
		cp_buf_free(&to->counters);
		to->counters = from->counters;
		from->counters = (struct cp_buf){ 0 };
	}
	return true;
}

/* ---- calls ---- */

/* Values whose items are still those of the original. */
struct copying {
	CP_VEC(cprof_value *) queue;
	struct cp_record_arena *arena;
	size_t bytes;
};

static const char *copy_text(struct copying *c, const char *bytes, size_t size, bool *ok)
{
	const char *got = cp_record_copy(c->arena, bytes, size);

	c->bytes += size + 1;
	*ok = *ok && got;
	return got;
}

static bool copy_one(struct copying *c, cprof_value *v)
{
	bool ok = true;

	if (v->name)
		v->name = copy_text(c, v->name, strlen(v->name), &ok);
	if (v->type)
		v->type = copy_text(c, v->type, strlen(v->type), &ok);
	if (v->symbol)
		v->symbol = copy_text(c, v->symbol, strlen(v->symbol), &ok);
	if (cp_record_is_text(v->kind))
		v->u.text.bytes = copy_text(c, v->u.text.bytes, v->u.text.length, &ok);
	return ok;
}

/* A list of values, and in the queue those that have items. */
static const cprof_value *copy_list(struct copying *c, const cprof_value *values, size_t count)
{
	cprof_value *list = cp_record_alloc(c->arena, count * sizeof(*list));
	size_t i;

	if (!list)
		return NULL;
	memcpy(list, values, count * sizeof(*list));
	c->bytes += count * sizeof(*list);
	for (i = 0; i < count; i++) {
		if (!list[i].count || !list[i].items)
			list[i].items = NULL;
		if (!copy_one(c, &list[i]) || (list[i].items && !cp_vec_push(&c->queue, &list[i])))
			return NULL;
	}
	return list;
}

/* Also of a value that contains itself: the encoder takes no more either. */
static const cprof_value *copy_values(struct copying *c, const cprof_value *values, size_t count)
{
	const cprof_value *all = copy_list(c, values, count);
	size_t i, sum = count;

	for (i = 0; all && i < c->queue.count; i++) {
		cprof_value *v = c->queue.items[i];

		if (v->count > CP_RECORD_VALUES_MAX || sum + v->count > CP_RECORD_VALUES_MAX) {
			v->kind = CPROF_VALUE_ERROR;
			v->error = CPROF_VALUE_TOO_DEEP;
			v->items = NULL;
			continue;
		}
		sum += v->count;
		v->items = copy_list(c, v->items, v->count);
		if (!v->items)
			return NULL;
	}
	return all;
}

size_t cp_record_copy_call(struct cp_record_arena *arena, const struct cp_record_call *call,
			   struct cp_record_call *ret)
{
	struct copying copying = { .arena = arena, .bytes = sizeof(*call) };
	struct cp_record_call copy = *call;

	if (copy.value_count > CP_RECORD_VALUES_MAX)
		copy.value_count = CP_RECORD_VALUES_MAX;
	if (!copy.value_count)
		copy.values = NULL;
	else
		copy.values = copy_values(&copying, call->values, copy.value_count);
	cp_vec_free(&copying.queue);
	*ret = copy;
	return copy.values || !copy.value_count ? copying.bytes : 0;
}

bool cp_record_batch_call(struct cp_record_batch *batch, const struct cp_record_call *call)
{
	struct cp_record_call copy;
	size_t bytes = cp_record_copy_call(&batch->values, call, &copy);

	batch->call_bytes += bytes;
	return bytes && cp_vec_push(&batch->calls, copy);
}

bool cp_record_batch_heap(struct cp_record_batch *batch, const struct cp_record_heap *h)
{
	batch->call_bytes += sizeof(*h);
	if (!cp_vec_push(&batch->heap, *h))
		return false;
	batch->heap.items[batch->heap.count - 1].behind = (uint32_t)batch->calls.count;
	return true;
}

bool cp_record_batch_block(struct cp_record_batch *batch, const struct cp_call_block *block)
{
	size_t size = block->function_count * sizeof(*block->functions);
	struct cp_call_block copy = *block;
	void *bytes = cp_record_copy(&batch->block_bytes, block->bytes, block->size);
	void *functions = cp_record_copy(&batch->block_bytes, block->functions, size);

	copy.bytes = bytes;
	copy.functions = functions;
	batch->call_bytes += block->size + size + sizeof(copy);
	if (!bytes || !functions || !cp_vec_push(&batch->blocks, copy))
		return false;
	batch->block_calls += block->count;
	return true;
}

void cp_record_batch_drop_calls(struct cp_record_batch *batch)
{
	cp_vec_free(&batch->calls);
	cp_vec_free(&batch->heap);
	cp_record_arena_free(&batch->values);
	cp_vec_free(&batch->blocks);
	cp_record_arena_free(&batch->block_bytes);
	batch->call_bytes = batch->block_calls = 0;
}

/* ---- */

bool cp_record_batch_coverage(struct cp_record_batch *batch, const struct cp_coverage_image *c)
{
	struct cp_record_new_coverage *new = calloc(1, sizeof(*new));

	if (!new || !cp_vec_reserve(&batch->coverage, batch->coverage.count + 1) ||
	    !cp_record_copy_coverage(&new->arena, c, &new->v)) {
		free_coverage(new);
		return false;
	}
	put_coverage(batch, new);
	return true;
}

static void free_const(const char *text)
{
	free((void *)(uintptr_t)text);
}

void cp_record_batch_free(struct cp_record_batch *batch)
{
	size_t i;

	if (!batch)
		return;
	for (i = 0; i < batch->processes.count; i++) {
		free_const(batch->processes.items[i].v.name);
		free_const(batch->processes.items[i].v.exe);
		free_const(batch->processes.items[i].v.started_as);
	}
	for (i = 0; i < batch->threads.count; i++)
		free_const(batch->threads.items[i].v.name);
	for (i = 0; i < batch->images.count; i++) {
		free_const(batch->images.items[i].v.path);
		free_const(batch->images.items[i].v.build_id);
		free_const(batch->images.items[i].v.debug_path);
	}
	cp_buf_free(&batch->counters);
	cp_vec_free(&batch->processes);
	cp_vec_free(&batch->threads);
	cp_vec_free(&batch->images);
	cp_vec_free(&batch->locations);
	cp_vec_free(&batch->nodes);
	cp_vec_free(&batch->stacks);
	cp_vec_free(&batch->samples);
	cp_vec_free(&batch->annotations);
	cp_vec_free(&batch->lives);
	cp_vec_free(&batch->sums);
	cp_record_arena_free(&batch->sum_bytes);
	cp_record_batch_drop_calls(batch);
	for (i = 0; i < batch->coverage.count; i++)
		free_coverage(batch->coverage.items[i]);
	cp_vec_free(&batch->coverage);
	free(batch);
}
