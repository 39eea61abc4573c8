/* SPDX-License-Identifier: MIT
 *
 * Many recordings into one. A merged recording is a set of parts, each a
 * recording as it was made, known by its random id: merging unites the sets.
 *
 *     {A, B} + {B, C} + {A}  =  {A, B, C}
 *
 * So that the result is the same to the byte however one gets there, all that
 * is written comes in an order of its own: parts by id, processes, threads
 * and images sorted by what they are, locations and stacks in the order in
 * which the samples, part by part, first need them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/merge.h"
#include "base/cleanup.h"
#include "record/arena.h"
#include "record/block_events.h"
#include "record/call_decode.h"
#include "record/call_walk.h"
#include "record/combine.h"
#include "record/encode_kinds.h"
#include "record/info.h"
#include "record/kept.h"
#include "record/merge_enclosed.h"
#include "record/reader.h"
#include "record/shards.h"

/* An input's numbers in the output; CP_RECORD_NONE: not yet. */
struct numbers {
	uint32_t *processes, *threads, *images, *locations, *stacks;
	bool used; /* a shard is from here */
};

/* A place in an input. */
struct origin {
	size_t input, place;
};

/* Things known by their content, numbered in its order in the end. */
struct catalog {
	struct cp_interner keys;
	CP_VEC(struct origin) origins; /* of each key: the first */
	uint32_t *rank; /* of each key, once sorted */
	uint32_t *sorted; /* the keys in order */
};

struct image {
	const char *path, *build_id, *debug_path;
};

struct merge {
	struct cp_record *const *inputs;
	size_t input_count;
	struct cp_shards shards;
	struct numbers *numbers; /* of each input */
	struct catalog processes, threads, images;
	CP_VEC(struct image) image_list; /* by key */
	struct cp_interner locations; /* rows */
	struct cp_merged_coverage coverage;
	struct cp_merge_from *from; /* in the arena: inputs of which shards are chosen */
	size_t from_count;
	struct cp_map nodes, stacks, other_stacks; /* the last: of calls, by input and number */
	uint32_t node_count, stack_count;
	struct cp_record_arena arena;
	struct cp_buf key;
	struct cp_record_sink sink;
	struct cp_record_encoder encoder;
	bool no_memory;
};

static bool ok(struct merge *m, bool is)
{
	if (!is) {
		m->no_memory = true;
		cp_record_sink_fail(&m->sink, cp_error_nomem()); /* write no more */
	}
	return is;
}

/* ---- processes, threads, images: by content, in its order ---- */

/* Times of a recording that is not merged become real ones. */
static uint64_t shifted(const struct cp_record *r, uint64_t ns)
{
	return ns && !r->merged ? ns + cp_record_shift(&r->info) : ns;
}

/* Big-endian, so that the order of bytes is that of numbers. */
static void key_number(struct cp_buf *key, uint64_t value)
{
	int shift;

	for (shift = 56; shift >= 0; shift -= 8)
		cp_buf_u8(key, (uint8_t)(value >> shift));
}

static void key_string(struct cp_buf *key, const char *text)
{
	cp_buf_add(key, text, strlen(text) + 1);
}

/* The number of m->key, found at `place` of `input`. */
static uint32_t add_key(struct merge *m, struct catalog *catalog, size_t input, size_t place)
{
	struct origin origin = { input, place };
	uint32_t number = 0;
	bool fresh = false;

	ok(m, !m->key.failed &&
		      cp_intern(&catalog->keys, m->key.bytes, m->key.size, &number, &fresh) &&
		      (!fresh || cp_vec_push(&catalog->origins, origin)));
	cp_buf_clear(&m->key);
	return number;
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_keys(const void *pa, const void *pb, void *arg)
{
	const struct cp_interner *keys = arg;
	const struct cp_interned *a = &keys->items[*(const uint32_t *)pa];
	const struct cp_interned *b = &keys->items[*(const uint32_t *)pb];
	size_t size = a->size < b->size ? a->size : b->size;
	int c = memcmp(a->bytes, b->bytes, size);

	return c ? c : order(a->size, b->size);
}

static bool sort_catalog(struct merge *m, struct catalog *c)
{
	size_t n = c->keys.count, i;

	c->rank = calloc(n + 1, sizeof(*c->rank));
	c->sorted = calloc(n + 1, sizeof(*c->sorted));
	if (!ok(m, c->rank && c->sorted))
		return false;
	for (i = 0; i < n; i++)
		c->sorted[i] = (uint32_t)i;
	qsort_r(c->sorted, n, sizeof(*c->sorted), compare_keys, &c->keys);
	for (i = 0; i < n; i++)
		c->rank[c->sorted[i]] = (uint32_t)i;
	return true;
}

static void catalog_free(struct catalog *c)
{
	cp_interner_free(&c->keys);
	cp_vec_free(&c->origins);
	free(c->rank);
	free(c->sorted);
}

/* From keys to the numbers of the output. */
static void rank_all(const struct catalog *c, uint32_t *numbers, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		numbers[i] = c->rank[numbers[i]];
}

static bool collect_processes(struct merge *m)
{
	size_t i, k;

	for (i = 0; i < m->input_count; i++) {
		const struct cp_record *r = m->inputs[i];

		for (k = 0; m->numbers[i].used && k < r->processes.count; k++) {
			const struct cp_record_process *p = &r->processes.items[k];

			key_number(&m->key, (uint32_t)p->pid);
			key_number(&m->key, shifted(r, p->start_ns));
			key_number(&m->key, (uint32_t)p->ns_pid);
			key_number(&m->key, (uint32_t)p->ppid);
			key_string(&m->key, p->name);
			key_string(&m->key, p->exe);
			key_string(&m->key, p->started_as);
			m->numbers[i].processes[k] = add_key(m, &m->processes, i, k);
		}
	}
	if (m->no_memory || !sort_catalog(m, &m->processes))
		return false;
	for (i = 0; i < m->input_count; i++)
		if (m->numbers[i].used)
			rank_all(&m->processes, m->numbers[i].processes,
				 m->inputs[i]->processes.count);
	return true;
}

static bool collect_threads(struct merge *m)
{
	size_t i, k;

	for (i = 0; i < m->input_count; i++) {
		const struct cp_record *r = m->inputs[i];

		for (k = 0; m->numbers[i].used && k < r->threads.count; k++) {
			const struct cp_record_thread *t = &r->threads.items[k];

			key_number(&m->key, m->numbers[i].processes[t->process]);
			key_number(&m->key, (uint32_t)t->tid);
			key_number(&m->key, shifted(r, t->start_ns));
			key_number(&m->key, (uint32_t)t->ns_tid);
			key_string(&m->key, t->name);
			m->numbers[i].threads[k] = add_key(m, &m->threads, i, k);
		}
	}
	if (m->no_memory || !sort_catalog(m, &m->threads))
		return false;
	for (i = 0; i < m->input_count; i++)
		if (m->numbers[i].used)
			rank_all(&m->threads, m->numbers[i].threads, m->inputs[i]->threads.count);
	return true;
}

/* The lesser of two names for one thing, but rather one than none. */
static const char *lesser(const char *a, const char *b)
{
	return !*b || (*a && strcmp(a, b) <= 0) ? a : b;
}

static bool collect_images(struct merge *m)
{
	size_t i, k;
	uint32_t number;

	for (i = 0; i < m->input_count; i++) {
		const struct cp_record *r = m->inputs[i];

		for (k = 0; m->numbers[i].used && k < r->images.count; k++) {
			const struct cp_record_image *it = &r->images.items[k];
			struct image image = { it->path, it->build_id, it->debug_path }, *old;

			cp_buf_u8(&m->key, *it->build_id != 0);
			key_string(&m->key, *it->build_id ? it->build_id : it->path);
			m->numbers[i].images[k] = number = add_key(m, &m->images, i, k);
			if (m->no_memory || (number == m->image_list.count &&
					     !ok(m, cp_vec_push(&m->image_list, image))))
				return false;
			old = &m->image_list.items[number];
			old->path = lesser(old->path, image.path);
			old->debug_path = lesser(old->debug_path, image.debug_path);
		}
	}
	if (!sort_catalog(m, &m->images))
		return false;
	for (i = 0; i < m->input_count; i++)
		if (m->numbers[i].used)
			rank_all(&m->images, m->numbers[i].images, m->inputs[i]->images.count);
	return true;
}

/* ---- coverage ---- */

/* Merges the coverage of the parts that were chosen. */
static struct cp_error *collect_coverage(struct merge *m)
{
	struct cp_merge_from *from =
		cp_record_alloc(&m->arena, (m->input_count + 1) * sizeof(*from));
	uint32_t **parts = cp_record_alloc(&m->arena, (m->input_count + 1) * sizeof(*parts));
	size_t i, n = 0;

	if (!from || !parts)
		return cp_error_nomem();
	for (i = 0; i < m->input_count; i++) {
		const struct cp_record *r = m->inputs[i];
		size_t size = (r->parts.count + 1) * sizeof(**parts);

		if (!m->numbers[i].used)
			continue;
		parts[i] = cp_record_alloc(&m->arena, size);
		if (!parts[i])
			return cp_error_nomem();
		memset(parts[i], 0, size);
		from[n++] =
			(struct cp_merge_from){ r, m->numbers[i].images, parts[i], r->parts.count };
	}
	for (i = 0; i < m->shards.list.count; i++)
		parts[m->shards.list.items[i].input][m->shards.list.items[i].number] =
			(uint32_t)i + 1;
	m->from = from;
	m->from_count = n;
	return cp_merge_coverage(from, n, &m->coverage);
}

/* ---- writing ---- */

static void write_processes(struct merge *m)
{
	struct cp_record_encoder *e = &m->encoder;
	uint64_t values[CP_RECORD_WIDTH_MAX];
	uint32_t i;

	for (i = 0; i < m->processes.keys.count; i++) {
		struct origin at = m->processes.origins.items[m->processes.sorted[i]];
		const struct cp_record *r = m->inputs[at.input];
		const struct cp_record_process *p = &r->processes.items[at.place];

		values[CP_PROCESS_PID] = (uint32_t)p->pid;
		values[CP_PROCESS_NS_PID] = (uint32_t)p->ns_pid;
		values[CP_PROCESS_PPID] = (uint32_t)p->ppid;
		values[CP_PROCESS_NAME] = cp_record_encode_string(e, p->name);
		values[CP_PROCESS_EXE] = cp_record_encode_string(e, p->exe);
		values[CP_PROCESS_STARTED_AS] =
			*p->started_as ? cp_record_encode_string(e, p->started_as) : 0;
		values[CP_PROCESS_START] = shifted(r, p->start_ns);
		cp_record_encode_row(e, CP_RECORD_PROCESSES, i, values);
	}
	for (i = 0; i < m->threads.keys.count; i++) {
		struct origin at = m->threads.origins.items[m->threads.sorted[i]];
		const struct cp_record *r = m->inputs[at.input];
		const struct cp_record_thread *t = &r->threads.items[at.place];

		values[CP_THREAD_PROCESS] =
			(uint64_t)m->numbers[at.input].processes[t->process] + 1;
		values[CP_THREAD_TID] = (uint32_t)t->tid;
		values[CP_THREAD_NS_TID] = (uint32_t)t->ns_tid;
		values[CP_THREAD_NAME] = cp_record_encode_string(e, t->name);
		values[CP_THREAD_START] = shifted(r, t->start_ns);
		cp_record_encode_row(e, CP_RECORD_THREADS, i, values);
	}
}

static void write_images(struct merge *m)
{
	struct cp_record_encoder *e = &m->encoder;
	uint64_t values[CP_RECORD_WIDTH_MAX];
	uint32_t i;

	for (i = 0; i < m->images.keys.count; i++) {
		const struct image *image = &m->image_list.items[m->images.sorted[i]];

		values[CP_IMAGE_PATH] = cp_record_encode_string(e, image->path);
		values[CP_IMAGE_BUILD_ID] = cp_record_encode_string(e, image->build_id);
		values[CP_IMAGE_DEBUG_PATH] = cp_record_encode_string(e, image->debug_path);
		cp_record_encode_row(e, CP_RECORD_IMAGES, i, values);
	}
}

static uint32_t location(struct merge *m, size_t input, uint32_t n)
{
	uint32_t *number = &m->numbers[input].locations[n], i;
	const struct cp_record_location *l = &m->inputs[input]->locations.items[n];
	uint64_t values[CP_RECORD_WIDTH_MAX] = { 0 }, frame = 0;
	bool fresh = false;

	if (*number != CP_RECORD_NONE)
		return *number;
	for (i = l->frame_count; i--;)
		frame = cp_record_encode_frame(&m->encoder, frame,
					       cp_record_encode_function(&m->encoder,
									 &l->frames[i]),
					       l->frames[i].line, l->frames[i].inlined);
	values[CP_LOCATION_IMAGE] =
		l->image == CP_RECORD_NONE ? 0 : (uint64_t)m->numbers[input].images[l->image] + 1;
	values[CP_LOCATION_ADDRESS] = l->address;
	values[CP_LOCATION_FLAGS] = l->flags;
	values[CP_LOCATION_START] = l->function_start ? l->address - l->function_start + 1 : 0;
	values[CP_LOCATION_FRAME] = frame;
	if (!ok(m, cp_intern(&m->locations, values, sizeof(values), number, &fresh)))
		return 0;
	if (fresh)
		cp_record_encode_row(&m->encoder, CP_RECORD_LOCATIONS, *number, values);
	return *number;
}

/* The number for (a, b), from `next` on; *fresh_ret tells whether it is new. */
static uint32_t pair(struct merge *m, struct cp_map *map, uint64_t a, uint32_t b, uint32_t *next,
		     bool *fresh_ret)
{
	uint64_t key = a << 32 | b, *found = cp_map_get(map, key);

	*fresh_ret = !found;
	if (found)
		return (uint32_t)*found;
	ok(m, cp_map_put(map, key, *next));
	return (*next)++;
}

static uint32_t stack(struct merge *m, size_t input, uint32_t n)
{
	uint32_t *number = &m->numbers[input].stacks[n], flags, l, node;
	uint64_t values[CP_RECORD_WIDTH_MAX] = { 0 }, at = 0;
	const uint32_t *locations;
	size_t count;
	bool fresh;

	if (*number != CP_RECORD_NONE)
		return *number;
	locations = cp_record_get_stack(m->inputs[input], n, &count, &flags);
	while (count--) {
		l = location(m, input, locations[count]);
		node = pair(m, &m->nodes, at, l, &m->node_count, &fresh);
		values[CP_NODE_PARENT] = at;
		values[CP_NODE_LOCATION] = (uint64_t)l + 1;
		if (fresh)
			cp_record_encode_row(&m->encoder, CP_RECORD_NODES, node, values);
		at = (uint64_t)node + 1;
	}
	*number = pair(m, &m->stacks, at, flags, &m->stack_count, &fresh);
	values[CP_STACK_NODE] = at;
	values[CP_STACK_FLAGS] = flags;
	if (fresh)
		cp_record_encode_row(&m->encoder, CP_RECORD_STACKS, *number, values);
	return *number;
}

static void write_shard(struct merge *m, const struct cp_shard *shard, uint32_t part)
{
	const struct cp_record *r = shard->record;
	struct cp_error *err = cp_record_need_samples(r);
	size_t b, i;

	if (err) {
		cp_record_sink_fail(&m->sink, err);
		return;
	}
	for (b = 0; b < r->blocks.count; b++) {
		const struct cp_record_block *block = &r->blocks.items[b];

		for (i = block->first; i < block->first + block->count; i++) {
			struct cp_record_sample s = r->samples.items[i];

			if (block->part != shard->number || m->no_memory ||
			    cp_record_sink_failed(&m->sink))
				break;
			s.ts_ns = r->merged ? s.ts_ns : s.ts_ns + cp_record_shift(&r->info);
			s.thread = m->numbers[shard->input].threads[s.thread];
			s.stack = stack(m, shard->input, s.stack);
			cp_record_encode_sample(&m->encoder, part, &s);
		}
	}
}

struct call_copy {
	struct merge *m;
	const struct cp_shard *shard;
	uint32_t part;
};

/* The number of a stack that is no thread's own; each input has a first one. */
static uint32_t other_stack(struct merge *m, size_t input, uint32_t number)
{
	uint64_t key = (uint64_t)input << 32 | number, next = m->other_stacks.count + 1;
	const uint64_t *at = cp_map_get(&m->other_stacks, key);

	if (!number || (!at && !ok(m, cp_map_put(&m->other_stacks, key, next))))
		return 0;
	return (uint32_t)(at ? *at : next);
}

static bool copy_call(void *ctx, const struct cp_record_call *from)
{
	const struct call_copy *c = ctx;
	struct cp_record_call call = *from;
	size_t input = c->shard->input;

	call.ts_ns += c->shard->record->merged ? 0 : cp_record_shift(&c->shard->record->info);
	call.thread = c->m->numbers[input].threads[call.thread];
	call.function = location(c->m, input, call.function);
	if (call.entered_by != CP_RECORD_NONE)
		call.entered_by = c->m->numbers[input].threads[call.entered_by];
	call.on_stack = other_stack(c->m, input, call.on_stack);
	if (call.target != CP_RECORD_NONE)
		call.target = location(c->m, input, call.target);
	if (call.stack != CP_RECORD_NONE)
		call.stack = stack(c->m, input, call.stack);
	if (c->m->no_memory || cp_record_sink_failed(&c->m->sink))
		return false;
	cp_record_encode_call(&c->m->encoder, c->part, &call);
	return true;
}

/* The output's numbers and times for the input's. */
static void renumber(struct merge *m, const struct cp_shard *shard, struct cp_call_entry *e)
{
	const struct cp_record *r = shard->record;
	bool by_signal = e->kind == CP_RECORD_ENTER &&
			 CP_RECORD_CALL_INVOKER(e->flags) == CPROF_INVOKER_SIGNAL;

	e->ts_ns += r->merged ? 0 : cp_record_shift(&r->info);
	e->function = location(m, shard->input, e->function);
	if (!by_signal && e->target != CP_RECORD_NONE)
		e->target = location(m, shard->input, e->target);
}

/* Blocks stay what they are: their times are exact at their beginnings alone. */
static void write_block(struct merge *m, uint32_t thread, uint32_t part,
			struct cp_call_coder *coder, const struct cp_block_events *events)
{
	const struct cp_call_costs *costs = &events->reader.block.costs;
	struct cp_call_block block;
	size_t at;

	for (at = 0; at < events->entries.count; at += block.taken) {
		if (!ok(m, cp_call_encode(coder, thread, m->locations.count, costs,
					  events->entries.items + at, events->entries.count - at,
					  &block)))
			return;
		cp_record_encode_block(&m->encoder, part, &block);
	}
}

static void write_blocks(struct merge *m, const struct cp_shard *shard, uint32_t part)
{
	struct cp_block_events events = { 0 };
	struct cp_call_coder coder = { 0 };
	struct cp_call_entry *entry;
	size_t at, to;

	cp_record_blocks_of(shard->record, shard->number, &at, &to);
	for (; at < to; at++) {
		if (!ok(m, cp_block_events_read(shard->record,
						&shard->record->call_blocks.items[at], &events)))
			break;
		if (!events.entries.count)
			continue;
		cp_vec_for_each(&events.entries, entry)
			renumber(m, shard, entry);
		write_block(m, m->numbers[shard->input].threads[events.thread], part, &coder,
			    &events);
	}
	cp_call_coder_free(&coder);
	cp_block_events_free(&events);
}

static void write_calls(struct merge *m, const struct cp_shard *shard, uint32_t part)
{
	struct call_copy copy = { m, shard, part };
	struct cp_error *err =
		cp_record_each_plain_call_of(shard->record, shard->number, copy_call, &copy);

	if (!err) {
		write_blocks(m, shard, part);
		err = cp_record_kept_check(shard->record);
	}
	if (err)
		cp_record_sink_fail(&m->sink, err); /* write no more */
}

static void write_annotations(struct merge *m, const struct cp_shard *shard, uint32_t part)
{
	const struct cp_record *r = shard->record;
	size_t b, i;

	for (b = 0; b < r->annotation_blocks.count; b++) {
		const struct cp_record_block *block = &r->annotation_blocks.items[b];

		for (i = block->first; i < block->first + block->count; i++) {
			struct cp_record_annotation a = cp_record_get_annotation(r, i);

			if (block->part != shard->number || cp_record_sink_failed(&m->sink))
				break;
			a.ts_ns += r->merged ? 0 : cp_record_shift(&r->info);
			a.thread = m->numbers[shard->input].threads[a.thread];
			cp_record_encode_annotation(&m->encoder, part, &a);
		}
	}
}

static void write_lives(struct merge *m, const struct cp_shard *shard, uint32_t part)
{
	const struct cp_record *r = shard->record;
	size_t i;

	for (i = 0; i < r->lives.count; i++) {
		struct cp_record_life life = r->lives.items[i];

		if (r->life_parts.items[i] != shard->number)
			continue;
		life.start_ns = shifted(r, life.start_ns);
		life.end_ns = shifted(r, life.end_ns);
		cp_record_encode_life(&m->encoder, part, &life);
	}
}

static void write_sums(struct merge *m, const struct cp_shard *shard, uint32_t part)
{
	const struct numbers *n = &m->numbers[shard->input];
	const struct cp_record *r = shard->record;
	struct cp_record_sum row = { .kind = CP_SUM_BEGIN };
	struct cp_record_sum_bytes bytes;
	struct cp_buf body = { 0 };
	size_t i, next = 0;

	if (shard->number >= r->sum_parts.count || !r->sum_parts.items[shard->number].beat)
		return; /* it has none */
	row.beat = r->sum_parts.items[shard->number].beat;
	row.events = r->sum_parts.items[shard->number].events;
	for (i = 0; i <= r->sums.count; i++) {
		/* The row of the part comes first. */
		bytes = cp_record_put_sum(&body, &row);
		bytes.bytes = body.bytes;
		bytes.size = body.size;
		if (!ok(m, !body.failed))
			break;
		cp_record_encode_sum(&m->encoder, part, &bytes);
		while (next < r->sums.count && r->sum_rows.items[next] != shard->number)
			next++;
		if (next == r->sums.count)
			break;
		row = r->sums.items[next++];
		if (cp_record_sum_is_of_thread(&row)) {
			row.thread = n->threads[row.thread];
			continue;
		}
		row.process = n->processes[row.process];
		row.callee = location(m, shard->input, row.callee);
		if (row.caller != CP_RECORD_NONE)
			row.caller = location(m, shard->input, row.caller);
	}
	cp_buf_free(&body);
}

static struct cp_record_preamble preamble(const struct merge *m, const struct cp_record_info *info)
{
	struct cp_record_preamble p = { .major = CP_RECORD_MAJOR,
					.minor = CP_RECORD_MINOR,
					.holds = info->holds };
	uint64_t a = 1, b = 2, word;
	size_t i, k;

	for (i = 0; i < m->shards.parts.count; i++) {
		for (k = 0; k < 32; k += 8) {
			memcpy(&word, m->shards.parts.items[i]->id + k, sizeof(word));
			a = cp_hash_u64(a ^ word);
			b = cp_hash_u64(b + word);
		}
	}
	memcpy(p.id, &a, sizeof(a));
	memcpy(p.id + sizeof(a), &b, sizeof(b));
	return p;
}

static void write_parts(struct merge *m)
{
	struct cp_buf info = { 0 };
	struct cp_record_damage damage;
	uint8_t id[CP_RECORD_ID_SIZE];
	size_t i, k;

	for (i = 0; i < m->shards.parts.count; i++) {
		const struct cp_record_part *part = m->shards.parts.items[i];
		unsigned byte = 0;

		for (k = 0; k < sizeof(id); k++) {
			sscanf(part->id + 2 * k, "%2x", &byte);
			id[k] = (uint8_t)byte;
		}
		damage = cp_shards_damage(&m->shards, i);
		cp_buf_clear(&info);
		cp_record_put_info(&info, part->info, id);
		cp_record_encode_part(&m->encoder, (uint32_t)i, &info, part->totals, &damage);
	}
	cp_buf_free(&info);
}

static void write_all(struct merge *m, const struct cp_record_info *info)
{
	struct cp_record_preamble p = preamble(m, info);
	struct cp_record_totals totals =
		cp_record_combine_totals(m->shards.parts.items, m->shards.parts.count);
	struct cp_buf bytes = { 0 }, counters = { 0 };
	size_t i;

	cp_record_put_info(&bytes, info, p.id);
	cp_record_sink_preamble(&m->sink, &p);
	cp_record_sink_chunk(&m->sink, CP_RECORD_CHUNK_INFO, &bytes);
	write_parts(m);
	write_processes(m);
	write_images(m);
	for (i = 0; i < m->shards.list.count; i++) {
		write_shard(m, &m->shards.list.items[i], (uint32_t)i);
		write_calls(m, &m->shards.list.items[i], (uint32_t)i);
		write_annotations(m, &m->shards.list.items[i], (uint32_t)i);
		write_lives(m, &m->shards.list.items[i], (uint32_t)i);
		write_sums(m, &m->shards.list.items[i], (uint32_t)i);
	}
	cp_merged_coverage_write(&m->coverage, &m->encoder);
	cp_merge_enclosed(m->from, m->from_count, &m->encoder);
	cp_record_encode_totals(&m->encoder, &totals);
	cp_record_combine_counters(m->inputs, m->input_count, &counters);
	cp_record_encode_counters(&m->encoder, &counters);
	cp_buf_free(&counters);
	cp_record_encode_flush(&m->encoder);
	cp_record_sink_end(&m->sink, &bytes);
	cp_buf_free(&bytes);
}

static bool make_numbers(struct merge *m)
{
	size_t i;

	m->numbers = calloc(m->input_count + 1, sizeof(*m->numbers));
	if (!m->numbers)
		return false;
	for (i = 0; i < m->input_count; i++) {
		const struct cp_record *r = m->inputs[i];
		struct numbers *n = &m->numbers[i];
		size_t sizes[] = { r->processes.count, r->threads.count, r->images.count,
				   r->locations.count, r->stack_count };
		uint32_t **lists[] = { &n->processes, &n->threads, &n->images, &n->locations,
				       &n->stacks };
		size_t k;

		for (k = 0; k < CP_ARRAY_SIZE(lists); k++) {
			*lists[k] = malloc((sizes[k] + 1) * sizeof(**lists[k]));
			if (!*lists[k])
				return false;
			memset(*lists[k], 0xff, (sizes[k] + 1) * sizeof(**lists[k]));
		}
	}
	return true;
}

static void merge_free(struct merge *m)
{
	size_t i;

	for (i = 0; m->numbers && i < m->input_count; i++) {
		free(m->numbers[i].processes);
		free(m->numbers[i].threads);
		free(m->numbers[i].images);
		free(m->numbers[i].locations);
		free(m->numbers[i].stacks);
	}
	free(m->numbers);
	cp_shards_deinit(&m->shards);
	catalog_free(&m->processes);
	catalog_free(&m->threads);
	catalog_free(&m->images);
	cp_vec_free(&m->image_list);
	cp_interner_free(&m->locations);
	cp_map_free(&m->nodes);
	cp_map_free(&m->stacks);
	cp_map_free(&m->other_stacks);
	cp_merged_coverage_free(&m->coverage);
	cp_record_arena_free(&m->arena);
	cp_buf_free(&m->key);
	cp_record_encoder_deinit(&m->encoder);
	cp_record_sink_deinit(&m->sink);
}

static struct cp_error *merge(struct merge *m, cp_record_open_fn *open, void *arg)
{
	struct cp_record_quiet quiet;
	struct cp_record_info info;
	size_t i;

	if (!make_numbers(m))
		return cp_error_nomem();
	CP_TRY(cp_shards_choose(m->inputs, m->input_count, &m->shards));
	for (i = 0; i < m->shards.list.count; i++)
		m->numbers[m->shards.list.items[i].input].used = true;
	CP_TRY(cp_record_combine_info(m->shards.parts.items, m->shards.parts.count, &m->arena,
				      &info));
	if (!collect_processes(m) || !collect_threads(m) || !collect_images(m))
		return cp_error_nomem();
	CP_TRY(collect_coverage(m));
	CP_TRY(open(arg, &m->sink.fd));
	cp_record_quiet_begin(&quiet);
	write_all(m, &info);
	cp_record_sink_close(&m->sink);
	cp_record_quiet_end(&quiet);
	return atomic_exchange(&m->sink.error, NULL);
}

CP_ERROR cp_record_merge_to(struct cp_record *const *inputs, size_t count, cp_record_open_fn *open,
			    void *arg)
{
	struct merge m = { .inputs = inputs, .input_count = count };
	struct cp_error *err;

	CP_TRY(cp_record_sink_init(&m.sink, -1));
	cp_record_encoder_init(&m.encoder, &m.sink, cp_record_encode_kinds);
	err = merge(&m, open, arg);
	merge_free(&m);
	return err;
}

static CP_ERROR open_already(void *arg, int *fd_ret)
{
	*fd_ret = cp_steal_fd(arg);
	return NULL;
}

CP_ERROR cp_record_merge(struct cp_record *const *inputs, size_t count, int fd)
{
	struct cp_error *err = cp_record_merge_to(inputs, count, open_already, &fd);

	cp_close_fd(&fd);
	return err;
}
