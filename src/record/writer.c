/* SPDX-License-Identifier: MIT
 *
 * The recording thread's side of a writer: it only gives numbers and keeps
 * lists. Everything slow is in drain.c, on another thread.
 *
 * A stack is a node of a trie whose root is the outermost frame, so stacks
 * that share their callers share their nodes. A stack seen before is found by
 * the hash of its locations, and checked against the trie.
 */
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "record/call_gather.h"
#include "record/counters.h"
#include "record/drain.h"

/* Then it is sealed unasked. */
#define BATCH_SAMPLES_MAX ((size_t)64 << 10)
#define BATCH_CALL_BYTES_MAX ((size_t)8 << 20)
#define MOST_AT_ONCE (CP_CALL_BLOCK_EVENTS / 2) /* entries, which are two events or one */
#define BATCH_ANNOTATIONS_MAX ((size_t)64 << 10)

struct known_process {
	uint64_t start_ns;
	char *name, *exe, *started_as; /* owned */
};
struct known_thread {
	uint64_t start_ns;
	uint64_t rest_ns; /* of its weights, below the resolution */
	bool sampled;
	char *name; /* owned */
};

struct cp_record_writer {
	CP_VEC(struct known_process) processes;
	CP_VEC(struct known_thread) threads;
	struct cp_map process_numbers; /* pid -> the last process of it */
	struct cp_map thread_numbers; /* process, tid -> the last thread of it */
	struct cp_map image_numbers; /* key -> */
	CP_VEC(uint64_t) image_keys;
	CP_VEC(struct cp_record_new_location) locations;
	CP_VEC(struct cp_record_new_node) nodes;
	CP_VEC(struct cp_record_new_stack) stacks;
	struct cp_map location_numbers; /* hash -> */
	struct cp_map node_numbers; /* parent, location -> */
	struct cp_map stack_numbers; /* hash -> */
	struct cp_interner texts; /* of annotations; the writer's thread reads them */
	struct cp_record_totals totals;
	uint64_t resolution_ns;
	bool counts; /* weights are no times */
	uint64_t lost, calls_lost, annotations_lost; /* given up because the queue was full */
	uint64_t calls, annotations;
	uint64_t summed; /* events of calls that are added up */
	struct cp_buf sum; /* the row under way */
	struct cp_call_coder coder; /* of blocks of calls */
	struct cp_call_gather gather; /* of those to come */
	struct cp_call_block block; /* under way, the coder's; without events: none */
	struct cp_record_batch *batch; /* NULL: nothing new */
	struct cp_record_drain drain;
};

CP_ERROR cp_record_writer_create_tapped(int fd, const struct cp_record_info *info,
					const struct cp_record_resolver *resolver,
					const struct cp_record_tap *tap,
					struct cp_record_writer **ret)
{
	struct cp_record_writer *w = calloc(1, sizeof(*w));
	struct cp_error *err;

	if (!w) {
		if (fd >= 0)
			close(fd);
		return cp_error_nomem();
	}
	w->resolution_ns = info->resolution_ns;
	w->counts = info->clock == CP_RECORD_CLOCK_EVENT;
	err = cp_record_drain_start(&w->drain, fd, info, resolver, tap);
	if (err) {
		free(w);
		return err;
	}
	*ret = w;
	return NULL;
}

CP_ERROR cp_record_writer_create(int fd, const struct cp_record_info *info,
				 const struct cp_record_resolver *resolver,
				 struct cp_record_writer **ret)
{
	return cp_record_writer_create_tapped(fd, info, resolver, NULL, ret);
}

/* Without memory a recording can't go on: as with a full disk, what was
 * written stays. */
static uint32_t no_memory(struct cp_record_writer *w)
{
	cp_record_sink_fail(&w->drain.sink, cp_error_nomem());
	return CP_RECORD_NONE;
}

/* The batch under way; NULL without memory or after an error. */
static struct cp_record_batch *batch(struct cp_record_writer *w)
{
	if (cp_record_sink_failed(&w->drain.sink))
		return NULL;
	if (!w->batch)
		w->batch = calloc(1, sizeof(*w->batch));
	if (!w->batch)
		no_memory(w);
	return w->batch;
}

static char *copy(const char *text, bool *ok)
{
	char *got = text ? strdup(text) : NULL;

	if (text && !got)
		*ok = false;
	return got;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool replace(char **to, const char *text)
{
	bool ok = true;
	char *got = copy(text, &ok);

	if (ok) {
		free(*to);
		*to = got;
	}
	return ok;
}

static uint32_t tell_process(struct cp_record_writer *w, uint32_t number,
			     const struct cp_record_process *p)
{
	struct cp_record_batch *b = batch(w);
	struct cp_record_new_process new = { number, *p };
	bool ok = true;

	if (!b)
		return number;
	new.v.start_ns = w->processes.items[number].start_ns;
	new.v.name = copy(p->name, &ok);
	new.v.exe = copy(p->exe, &ok);
	new.v.started_as = p->started_as && * p->started_as ? copy(p->started_as, &ok) : NULL;
	if (!cp_vec_push(&b->processes, new)) {
		free((void *)(uintptr_t) new.v.name);
		free((void *)(uintptr_t) new.v.exe);
		free((void *)(uintptr_t) new.v.started_as);
		ok = false;
	}
	return ok ? number : no_memory(w);
}

uint32_t cp_record_process(struct cp_record_writer *w, const struct cp_record_process *p)
{
	uint64_t *found = cp_map_get(&w->process_numbers, (uint32_t)p->pid);
	struct known_process *known = found ? &w->processes.items[*found] : NULL;
	uint32_t number;

	if (known && (!p->start_ns || known->start_ns == p->start_ns)) {
		number = (uint32_t)*found;
		if (same(known->name, p->name) && same(known->exe, p->exe) &&
		    same(known->started_as, p->started_as))
			return number;
	} else {
		number = (uint32_t)w->processes.count;
		if (!cp_vec_push(&w->processes,
				 (struct known_process){ .start_ns = p->start_ns }) ||
		    !cp_map_put(&w->process_numbers, (uint32_t)p->pid, number))
			return no_memory(w);
		known = &w->processes.items[number];
	}
	if (!replace(&known->name, p->name) || !replace(&known->exe, p->exe) ||
	    !replace(&known->started_as, p->started_as))
		return no_memory(w);
	return tell_process(w, number, p);
}

static uint32_t tell_thread(struct cp_record_writer *w, uint32_t number,
			    const struct cp_record_thread *t)
{
	struct cp_record_batch *b = batch(w);
	struct cp_record_new_thread new = { number, *t };
	bool ok = true;

	if (!b)
		return number;
	new.v.start_ns = w->threads.items[number].start_ns;
	new.v.name = copy(t->name, &ok);
	if (!cp_vec_push(&b->threads, new)) {
		free((void *)(uintptr_t) new.v.name);
		ok = false;
	}
	return ok ? number : no_memory(w);
}

uint32_t cp_record_thread(struct cp_record_writer *w, const struct cp_record_thread *t)
{
	uint64_t key = (uint64_t)t->process << 32 | (uint32_t)t->tid;
	uint64_t *found = cp_map_get(&w->thread_numbers, key);
	struct known_thread *known = found ? &w->threads.items[*found] : NULL;
	uint32_t number;

	if (t->process >= w->processes.count)
		return CP_RECORD_NONE;
	if (known && (!t->start_ns || known->start_ns == t->start_ns)) {
		number = (uint32_t)*found;
		if (same(known->name, t->name))
			return number;
	} else {
		number = (uint32_t)w->threads.count;
		if (!cp_vec_push(&w->threads, (struct known_thread){ .start_ns = t->start_ns }) ||
		    !cp_map_put(&w->thread_numbers, key, number))
			return no_memory(w);
		known = &w->threads.items[number];
	}
	if (!replace(&known->name, t->name))
		return no_memory(w);
	return tell_thread(w, number, t);
}

uint32_t cp_record_image(struct cp_record_writer *w, uint64_t key,
			 const struct cp_record_image *image)
{
	uint64_t *found = cp_map_get(&w->image_numbers, key);
	struct cp_record_new_image new = { (uint32_t)w->image_keys.count, *image };
	struct cp_record_batch *b;
	bool ok = true;

	if (found)
		return (uint32_t)*found;
	if (!cp_vec_push(&w->image_keys, key) || !cp_map_put(&w->image_numbers, key, new.number))
		return no_memory(w);
	b = batch(w);
	if (!b)
		return new.number;
	new.v.path = copy(image->path, &ok);
	new.v.build_id = copy(image->build_id, &ok);
	new.v.debug_path = copy(image->debug_path, &ok);
	if (!cp_vec_push(&b->images, new)) {
		free((void *)(uintptr_t) new.v.path);
		free((void *)(uintptr_t) new.v.build_id);
		free((void *)(uintptr_t) new.v.debug_path);
		ok = false;
	}
	return ok ? new.number : no_memory(w);
}

uint32_t cp_record_location(struct cp_record_writer *w, uint32_t image, uint64_t address,
			    uint32_t flags)
{
	uint64_t hash = cp_hash_u64(address ^ cp_hash_u64((uint64_t)image << 32 | flags));
	struct cp_record_new_location l = { CP_RECORD_NO_KEY, address, image, flags };
	uint32_t number = (uint32_t)w->locations.count;
	struct cp_record_batch *b;
	uint64_t *found;

	if (image != CP_RECORD_NONE && image >= w->image_keys.count)
		return CP_RECORD_NONE;
	for (; (found = cp_map_get(&w->location_numbers, hash)); hash++) {
		const struct cp_record_new_location *it = &w->locations.items[*found];

		if (it->address == address && it->image == image && it->flags == flags)
			return (uint32_t)*found;
	}
	if (image != CP_RECORD_NONE)
		l.key = w->image_keys.items[image];
	if (!cp_vec_push(&w->locations, l) || !cp_map_put(&w->location_numbers, hash, number))
		return no_memory(w);
	b = batch(w);
	if (b && !cp_vec_push(&b->locations, l))
		return no_memory(w);
	return number;
}

/* Number + 1 of the node for `location` under `parent` (likewise); 0 without
 * memory. */
static uint32_t node(struct cp_record_writer *w, uint32_t parent, uint32_t location)
{
	uint64_t key = (uint64_t)parent << 32 | location;
	uint64_t *found = cp_map_get(&w->node_numbers, key);
	struct cp_record_new_node new = { parent, location };
	struct cp_record_batch *b;

	if (found)
		return (uint32_t)*found;
	b = batch(w);
	if (!cp_vec_push(&w->nodes, new) || !cp_map_put(&w->node_numbers, key, w->nodes.count) ||
	    (b && !cp_vec_push(&b->nodes, new))) {
		no_memory(w);
		return 0;
	}
	return (uint32_t)w->nodes.count;
}

static bool is_stack(const struct cp_record_writer *w, const struct cp_record_new_stack *stack,
		     const uint32_t *locations, size_t count, uint32_t flags)
{
	uint32_t at = stack->node;
	size_t i;

	for (i = 0; i < count && at; i++) {
		const struct cp_record_new_node *it = &w->nodes.items[at - 1];

		if (it->location != locations[i])
			return false;
		at = it->parent;
	}
	return i == count && !at && stack->flags == flags;
}

uint32_t cp_record_stack(struct cp_record_writer *w, const uint32_t *locations, size_t count,
			 uint32_t flags)
{
	uint32_t number = (uint32_t)w->stacks.count, at = 0;
	struct cp_record_batch *b;
	uint64_t *found, hash;
	size_t i;

	if (count > CP_RECORD_DEPTH_MAX) {
		count = CP_RECORD_DEPTH_MAX;
		flags |= CP_RECORD_STACK_TRUNCATED;
	}
	hash = cp_hash_bytes(locations, count * sizeof(*locations)) + flags;
	for (; (found = cp_map_get(&w->stack_numbers, hash)); hash++) {
		if (is_stack(w, &w->stacks.items[*found], locations, count, flags))
			return (uint32_t)*found;
	}
	for (i = count; i--;) {
		if (locations[i] >= w->locations.count)
			return CP_RECORD_NONE;
		at = node(w, at, locations[i]);
		if (!at)
			return CP_RECORD_NONE;
	}
	b = batch(w);
	if (!cp_vec_push(&w->stacks, (struct cp_record_new_stack){ at, flags }) ||
	    !cp_map_put(&w->stack_numbers, hash, number) ||
	    (b && !cp_vec_push(&b->stacks, (struct cp_record_new_stack){ at, flags })))
		return no_memory(w);
	return number;
}

/* The rest that rounding takes from a weight goes to the thread's next sample. It
 * starts in step with the rounding of times, so that a weight that was the
 * time elapsed is so still (and takes no room). */
static void round_times(struct cp_record_writer *w, struct cp_record_sample *s)
{
	struct known_thread *thread = &w->threads.items[s->thread];

	if (w->resolution_ns <= 1)
		return;
	if (w->counts) {
		s->ts_ns -= s->ts_ns % w->resolution_ns;
		return;
	}
	if (!thread->sampled)
		thread->rest_ns = (s->ts_ns - s->weight_ns) % w->resolution_ns;
	thread->sampled = true;
	s->ts_ns -= s->ts_ns % w->resolution_ns;
	thread->rest_ns += s->weight_ns;
	s->weight_ns = thread->rest_ns - thread->rest_ns % w->resolution_ns;
	thread->rest_ns -= s->weight_ns;
}

/* The batch under way is complete. */
static void seal(struct cp_record_writer *w)
{
	struct cp_record_totals *totals;
	struct cp_record_lost lost;

	if (!w->batch)
		return;
	totals = &w->batch->totals;
	*totals = w->totals;
	totals->samples_lost += w->lost;
	totals->calls = w->calls + w->summed;
	totals->calls_lost += w->calls_lost;
	totals->annotations = w->annotations;
	totals->annotations_lost += w->annotations_lost;
	lost = cp_record_drain_put(&w->drain, cp_steal(w->batch));
	w->lost += lost.samples;
	w->calls_lost += lost.calls;
	w->calls -= lost.calls;
	w->annotations_lost += lost.recorded;
	w->annotations -= lost.annotations;
}

void cp_record_sample(struct cp_record_writer *w, const struct cp_record_sample *s)
{
	struct cp_record_sample sample = *s;
	struct cp_record_batch *b;

	if (sample.stack >= w->stacks.count)
		sample.stack = cp_record_stack(w, NULL, 0, CP_RECORD_STACK_TRUNCATED);
	if (sample.thread >= w->threads.count || sample.stack == CP_RECORD_NONE) {
		w->lost++;
		return;
	}
	round_times(w, &sample);
	b = batch(w);
	if (!b)
		return;
	if (!cp_vec_push(&b->samples, sample))
		no_memory(w);
	if (b->samples.count >= BATCH_SAMPLES_MAX)
		seal(w);
}

void cp_record_call(struct cp_record_writer *w, const struct cp_record_call *call)
{
	struct cp_record_call it = *call;
	struct cp_record_batch *b;

	if (it.thread >= w->threads.count || it.function >= w->locations.count) {
		w->calls_lost++;
		return;
	}
	if (it.target >= w->locations.count)
		it.target = CP_RECORD_NONE;
	if (it.stack >= w->stacks.count)
		it.stack = CP_RECORD_NONE;
	if (it.kind == CP_RECORD_INHERITED && it.entered_by >= w->threads.count)
		it.entered_by = CP_RECORD_NONE;
	b = batch(w);
	if (!b)
		return;
	w->calls++;
	if (!cp_record_batch_call(b, &it))
		no_memory(w);
	if (b->call_bytes >= BATCH_CALL_BYTES_MAX)
		seal(w);
}

void cp_record_heap(struct cp_record_writer *w, const struct cp_record_heap *h)
{
	struct cp_record_heap it = *h;
	struct cp_record_batch *b;

	if (it.thread >= w->threads.count || it.function >= w->locations.count) {
		w->calls_lost++;
		return;
	}
	if (it.stack >= w->stacks.count)
		it.stack = CP_RECORD_NONE;
	b = batch(w);
	if (!b)
		return;
	w->calls++;
	if (!b->heap.items)
		cp_record_drain_room(&w->drain, b);
	if (!cp_record_batch_heap(b, &it))
		no_memory(w);
	if (b->call_bytes >= BATCH_CALL_BYTES_MAX)
		seal(w);
}

/* The block under way gets no more. */
static void end_block(struct cp_record_writer *w)
{
	struct cp_record_batch *b = w->block.count ? batch(w) : NULL;

	if (b && cp_record_batch_block(b, &w->block))
		w->calls += w->block.count;
	else if (b)
		no_memory(w);
	w->block.count = 0;
	if (b && b->call_bytes >= BATCH_CALL_BYTES_MAX)
		seal(w);
}

static size_t events_of(const struct cp_call_entry *entries, size_t count)
{
	size_t n = count, i;

	for (i = 0; i < count; i++)
		n += entries[i].kind == CP_CALL_LEAF;
	return n;
}

/* How many of them are in the block under way now. */
static size_t put_some(struct cp_record_writer *w, uint32_t thread,
		       const struct cp_call_costs *costs, const struct cp_call_entry *entries,
		       size_t count)
{
	bool more = cp_call_goes_on(&w->block, thread, costs, cp_call_events_most(count));
	uint32_t before;
	bool good;

	if (!more)
		end_block(w);
	before = more ? w->block.count : 0;
	good = more ? cp_call_encode_more(&w->coder, w->locations.count, entries, count, &w->block)
		    : cp_call_encode(&w->coder, thread, w->locations.count, costs, entries, count,
				     &w->block);
	if (good)
		return w->block.taken;
	w->block.count = before;
	no_memory(w);
	return count;
}

static void put_blocks(struct cp_record_writer *w, uint32_t thread,
		       const struct cp_call_costs *costs, const struct cp_call_entry *entries,
		       size_t count)
{
	size_t left, n, i;

	for (i = 0; i < count; i += n ? n : 1) {
		left = count - i;
		n = left < MOST_AT_ONCE ? left : MOST_AT_ONCE;
		if (batch(w))
			n = put_some(w, thread, costs, entries + i, n);
		if (!n) /* it names what was never told */
			w->calls_lost += events_of(entries + i, 1);
	}
}

static void put_waiting_of(struct cp_record_writer *w, uint32_t thread)
{
	struct cp_call_gathered got;
	bool failed = false;

	while (cp_call_gather_next(&w->gather, thread, &got, &failed))
		put_blocks(w, thread, &got.costs, got.entries, got.count);
	if (failed)
		no_memory(w);
}

static void put_waiting(struct cp_record_writer *w)
{
	const uint32_t *thread;

	cp_vec_for_each(&w->gather.waiting, thread)
		put_waiting_of(w, *thread);
	cp_call_gather_clear(&w->gather);
}

void cp_record_call_block(struct cp_record_writer *w, uint32_t thread,
			  const struct cp_call_costs *costs, const struct cp_call_entry *entries,
			  size_t count)
{
	if (thread >= w->threads.count) {
		w->calls_lost += events_of(entries, count);
		return;
	}
	if (!cp_call_gather_wants(&w->gather, thread, count) ||
	    cp_call_goes_on(&w->block, thread, costs, cp_call_events_most(count))) {
		put_waiting_of(w, thread);
		put_blocks(w, thread, costs, entries, count);
	} else if (!cp_call_gather_add(&w->gather, &w->coder, thread, costs, entries, count)) {
		no_memory(w);
	}
	if (cp_call_gather_is_full(&w->gather))
		put_waiting(w);
}

/* A copy that stays where it is. */
static bool keep_text(struct cp_record_writer *w, const char **text)
{
	uint32_t number;

	if (!*text)
		return true;
	if (!cp_intern(&w->texts, *text, strlen(*text), &number, NULL))
		return false;
	*text = w->texts.items[number].bytes;
	return true;
}

void cp_record_annotation(struct cp_record_writer *w, const struct cp_record_annotation *a)
{
	struct cp_record_annotation it = *a;
	struct cp_record_batch *b;

	if (it.thread >= w->threads.count || it.kind >= CP_RECORD_ANNOTATION_KINDS) {
		w->annotations_lost += cp_record_annotation_is_own(&it);
		return;
	}
	b = batch(w);
	if (!b)
		return;
	w->annotations++;
	if (!keep_text(w, &it.name) || !keep_text(w, &it.category) || !keep_text(w, &it.object) ||
	    !cp_vec_push(&b->annotations, it))
		no_memory(w);
	if (b->annotations.count >= BATCH_ANNOTATIONS_MAX)
		seal(w);
}

void cp_record_life(struct cp_record_writer *w, const struct cp_record_life *life)
{
	struct cp_record_batch *b = batch(w);
	struct cp_record_life it = *life;

	if (b && (!keep_text(w, &it.name) || !keep_text(w, &it.exe) || !cp_vec_push(&b->lives, it)))
		no_memory(w);
}

size_t cp_record_sum(struct cp_record_writer *w, const struct cp_record_sum *row)
{
	struct cp_record_sum_bytes it = cp_record_put_sum(&w->sum, row);
	struct cp_record_batch *b = batch(w);

	if (!b)
		return 0;
	it.size = w->sum.size;
	it.bytes = w->sum.failed ? NULL : cp_record_copy(&b->sum_bytes, w->sum.bytes, w->sum.size);
	if (!it.bytes || !cp_vec_push(&b->sums, it))
		no_memory(w);
	return it.size;
}

void cp_record_summed(struct cp_record_writer *w, uint64_t events)
{
	w->summed += events;
}

uint32_t cp_record_find_thread(const struct cp_record_writer *w, uint32_t process, int32_t tid)
{
	const uint64_t *found =
		cp_map_get(&w->thread_numbers, (uint64_t)process << 32 | (uint32_t)tid);

	return found ? (uint32_t)*found : CP_RECORD_NONE;
}

void cp_record_coverage(struct cp_record_writer *w, const struct cp_coverage_image *c)
{
	struct cp_record_batch *b = batch(w);

	if (b && c->image < w->image_keys.count && !cp_record_batch_coverage(b, c))
		no_memory(w);
}

void cp_record_totals(struct cp_record_writer *w, const struct cp_record_totals *t)
{
	struct cp_record_batch *b = batch(w);

	w->totals = *t;
	if (b)
		b->has_totals = true;
}

void cp_record_counters(struct cp_record_writer *w, const struct cp_record_counter *counters,
			size_t count)
{
	struct cp_record_batch *b = count ? batch(w) : NULL;

	if (!b)
		return;
	cp_buf_clear(&b->counters);
	cp_record_put_counters(&b->counters, counters, count);
	if (b->counters.failed)
		no_memory(w);
}

void cp_record_flush(struct cp_record_writer *w)
{
	put_waiting(w);
	end_block(w);
	seal(w);
}

const struct cp_error *cp_record_error(struct cp_record_writer *w)
{
	return atomic_load(&w->drain.sink.error);
}

uint64_t cp_record_bytes(struct cp_record_writer *w)
{
	return atomic_load(&w->drain.sink.bytes);
}

static void free_known(struct cp_record_writer *w)
{
	size_t i;

	for (i = 0; i < w->processes.count; i++) {
		free(w->processes.items[i].name);
		free(w->processes.items[i].exe);
		free(w->processes.items[i].started_as);
	}
	for (i = 0; i < w->threads.count; i++)
		free(w->threads.items[i].name);
	cp_vec_free(&w->processes);
	cp_vec_free(&w->threads);
	cp_vec_free(&w->image_keys);
	cp_vec_free(&w->locations);
	cp_vec_free(&w->nodes);
	cp_vec_free(&w->stacks);
	cp_map_free(&w->process_numbers);
	cp_map_free(&w->thread_numbers);
	cp_map_free(&w->image_numbers);
	cp_map_free(&w->location_numbers);
	cp_map_free(&w->node_numbers);
	cp_map_free(&w->stack_numbers);
	cp_interner_free(&w->texts);
	cp_buf_free(&w->sum);
	cp_call_coder_free(&w->coder);
	cp_call_gather_free(&w->gather);
}

void cp_record_writer_destroy(struct cp_record_writer *w, struct cp_error **err_ret)
{
	struct cp_record_batch *b;
	struct cp_error *err;

	if (!w)
		return;
	cp_record_flush(w);
	b = w->lost || w->calls_lost || w->annotations_lost ? batch(w)
							    : NULL; /* the last word on losses */
	if (b)
		b->has_totals = true;
	cp_record_flush(w);
	err = cp_record_drain_stop(&w->drain);
	if (err_ret)
		*err_ret = err;
	else
		cp_error_free(err);
	free_known(w);
	free(w);
}
