/* SPDX-License-Identifier: MIT */
#include "record/drain.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/thread.h"
#include "record/enclose.h"
#include "record/encode_kinds.h"
#include "record/heap_encode.h"
#include "record/info.h"

/* With a disk or a resolver that can't keep up, batches are put together
 * (they pack better so), and samples and annotations beyond this are given up
 * and counted. */
#define QUEUE_LONG 4
#define QUEUE_SAMPLES_MAX ((size_t)4 << 20)
#define QUEUE_ANNOTATIONS_MAX ((size_t)4 << 20)
/* Bytes of calls that wait, and of those in one batch (or making room takes long). Every
 * call counts, and who makes them can be held: so putting more waits, though not so long
 * that the tracer takes us for hung. */
#define QUEUE_CALL_BYTES_MAX ((size_t)256 << 20)
#define BATCH_CALL_BYTES_MAX ((size_t)8 << 20)
#define CALLS_LOOK_NS (100 * CP_NS_PER_MS)
#define CALLS_WAIT_NS (8 * CP_NS_PER_S)

/* How long a chunk waits for names, and how often late ones are collected. */
#define NAMES_WAIT_NS (300 * CP_NS_PER_MS)

/* Who follows can't put right later what it has shown without names, and is not to be far
 * behind. */
#define TAP_NAMES_WAIT_NS (5 * CP_NS_PER_S)
#define TAP_CALL_BYTES_MAX ((size_t)4 << 20)

/* ---- locations and their names ---- */

static void keep_key(struct cp_record_drain *d, const struct cp_record_new_location *l)
{
	bool ok = true;

	if (l->image == CP_RECORD_NONE)
		return;
	while (ok && d->image_keys.count <= l->image)
		ok = cp_vec_push(&d->image_keys, 0);
	if (cp_record_encode_ok(&d->encoder, ok))
		d->image_keys.items[l->image] = l->key;
}

static void ask_names(struct cp_record_drain *d, const struct cp_record_batch *b)
{
	uint32_t number = (uint32_t)d->encoder.tables[CP_RECORD_LOCATIONS].written.count;
	size_t i;

	for (i = 0; i < b->locations.count; i++, number++) {
		struct cp_record_question q = { number, b->locations.items[i].key,
						b->locations.items[i].address,
						b->locations.items[i].flags & CP_RECORD_LOC_ENTRY };

		keep_key(d, &b->locations.items[i]);
		if (!cp_record_namer_ask(&d->namer, &q)) {
			cp_record_sink_fail(&d->sink, cp_error_nomem());
			return;
		}
		d->unnamed++;
	}
}

static void put_names(struct cp_record_encoder *e, const struct cp_record_names *names,
		      uint64_t *values)
{
	size_t i;

	values[CP_LOCATION_FRAME] = 0;
	for (i = names->frames.count; i--;) {
		const struct cp_record_frame *f = &names->frames.items[i];

		values[CP_LOCATION_FRAME] = cp_record_encode_frame(e, values[CP_LOCATION_FRAME],
								   cp_record_encode_function(e, f),
								   f->line, f->inlined);
	}
	if (names->start)
		values[CP_LOCATION_START] = values[CP_LOCATION_ADDRESS] - names->start + 1;
}

/* The new locations of a batch (NULL: none), those with names that came by
 * now, and the late names of earlier ones. Answers come in order. */
static void encode_locations(struct cp_record_drain *d, const struct cp_record_batch *b)
{
	struct cp_record_answers got =
		cp_record_namer_collect(&d->namer, d->sink.tap ? TAP_NAMES_WAIT_NS : NAMES_WAIT_NS);
	struct cp_record_encoder *e = &d->encoder;
	struct cp_record_table *table = &e->tables[CP_RECORD_LOCATIONS];
	const size_t before = table->written.count;
	uint64_t values[CP_RECORD_WIDTH_MAX];
	size_t i, answer = 0;

	d->unnamed -= got.list.count;
	for (; answer < got.list.count && got.list.items[answer].location < before; answer++) {
		const struct cp_record_names *names = &got.list.items[answer];
		size_t width = cp_record_schemas[CP_RECORD_LOCATIONS].width;

		memcpy(values, table->values.items + names->location * width,
		       width * sizeof(*values));
		put_names(e, names, values);
		if (names->frames.count || names->start)
			cp_record_encode_row(e, CP_RECORD_LOCATIONS, names->location, values);
	}
	for (i = 0; b && i < b->locations.count; i++) {
		const struct cp_record_new_location *l = &b->locations.items[i];

		values[CP_LOCATION_IMAGE] = l->image == CP_RECORD_NONE ? 0 : (uint64_t)l->image + 1;
		values[CP_LOCATION_ADDRESS] = l->address;
		values[CP_LOCATION_FLAGS] = l->flags;
		values[CP_LOCATION_START] = values[CP_LOCATION_FRAME] = 0;
		if (answer < got.list.count)
			put_names(e, &got.list.items[answer++], values);
		cp_record_encode_row(e, CP_RECORD_LOCATIONS, (uint32_t)(before + i), values);
	}
	for (i = 0; i < got.list.count; i++) {
		if (got.list.items[i].no_memory)
			cp_record_sink_fail(&d->sink, cp_error_nomem());
	}
	cp_record_answers_free(&got);
}

/* ---- batches ---- */

static void encode_processes(struct cp_record_encoder *e, const struct cp_record_batch *b)
{
	uint64_t values[CP_RECORD_WIDTH_MAX];
	size_t i;

	for (i = 0; i < b->processes.count; i++) {
		const struct cp_record_process *p = &b->processes.items[i].v;

		values[CP_PROCESS_PID] = (uint32_t)p->pid;
		values[CP_PROCESS_NS_PID] = (uint32_t)p->ns_pid;
		values[CP_PROCESS_PPID] = (uint32_t)p->ppid;
		values[CP_PROCESS_NAME] = cp_record_encode_string(e, p->name);
		values[CP_PROCESS_EXE] = cp_record_encode_string(e, p->exe);
		values[CP_PROCESS_STARTED_AS] = cp_record_encode_string(e, p->started_as);
		values[CP_PROCESS_START] = p->start_ns;
		cp_record_encode_row(e, CP_RECORD_PROCESSES, b->processes.items[i].number, values);
	}
	for (i = 0; i < b->threads.count; i++) {
		const struct cp_record_thread *t = &b->threads.items[i].v;

		values[CP_THREAD_PROCESS] = (uint64_t)t->process + 1;
		values[CP_THREAD_TID] = (uint32_t)t->tid;
		values[CP_THREAD_NS_TID] = (uint32_t)t->ns_tid;
		values[CP_THREAD_NAME] = cp_record_encode_string(e, t->name);
		values[CP_THREAD_START] = t->start_ns;
		cp_record_encode_row(e, CP_RECORD_THREADS, b->threads.items[i].number, values);
	}
}

static void encode_images(struct cp_record_encoder *e, const struct cp_record_batch *b)
{
	uint64_t values[CP_RECORD_WIDTH_MAX];
	size_t i;

	for (i = 0; i < b->images.count; i++) {
		const struct cp_record_image *m = &b->images.items[i].v;

		values[CP_IMAGE_PATH] = cp_record_encode_string(e, m->path);
		values[CP_IMAGE_BUILD_ID] = cp_record_encode_string(e, m->build_id);
		values[CP_IMAGE_DEBUG_PATH] = cp_record_encode_string(e, m->debug_path);
		cp_record_encode_row(e, CP_RECORD_IMAGES, b->images.items[i].number, values);
	}
}

static void encode_stacks(struct cp_record_encoder *e, const struct cp_record_batch *b)
{
	uint64_t values[CP_RECORD_WIDTH_MAX];
	size_t i;

	for (i = 0; i < b->nodes.count; i++) {
		values[CP_NODE_PARENT] = b->nodes.items[i].parent;
		values[CP_NODE_LOCATION] = (uint64_t)b->nodes.items[i].location + 1;
		cp_record_encode_row(e, CP_RECORD_NODES,
				     (uint32_t)e->tables[CP_RECORD_NODES].written.count, values);
	}
	for (i = 0; i < b->stacks.count; i++) {
		values[CP_STACK_NODE] = b->stacks.items[i].node;
		values[CP_STACK_FLAGS] = b->stacks.items[i].flags;
		cp_record_encode_row(e, CP_RECORD_STACKS,
				     (uint32_t)e->tables[CP_RECORD_STACKS].written.count, values);
	}
}

static void encode_coverage(struct cp_record_encoder *e, const struct cp_record_batch *b)
{
	size_t i;

	for (i = 0; i < b->coverage.count; i++) {
		const struct cp_coverage_image *c = &b->coverage.items[i]->v;

		cp_record_encode_layout(e, c);
		cp_record_encode_counts(e, 1, c);
	}
}

/* And events of the heap, in their order. */
static void encode_calls(struct cp_record_encoder *e, const struct cp_record_batch *b)
{
	size_t i, k = 0;

	for (i = 0; i <= b->calls.count; i++) {
		for (; k < b->heap.count && b->heap.items[k].behind == i; k++)
			cp_record_encode_heap(e, 0, &b->heap.items[k]);
		if (i < b->calls.count)
			cp_record_encode_call(e, 0, &b->calls.items[i]);
	}
}

static void encode_batch(struct cp_record_drain *d, const struct cp_record_batch *b)
{
	struct cp_record_encoder *e = &d->encoder;
	size_t i;

	ask_names(d, b);
	encode_processes(e, b);
	encode_images(e, b);
	encode_locations(d, b);
	encode_stacks(e, b);
	for (i = 0; i < b->samples.count; i++)
		cp_record_encode_sample(e, 0, &b->samples.items[i]);
	encode_calls(e, b);
	for (i = 0; i < b->blocks.count; i++)
		cp_record_encode_block(e, 0, &b->blocks.items[i]);
	for (i = 0; i < b->annotations.count; i++)
		cp_record_encode_annotation(e, 0, &b->annotations.items[i]);
	encode_coverage(e, b);
	for (i = 0; i < b->lives.count; i++)
		cp_record_encode_life(e, 0, &b->lives.items[i]);
	for (i = 0; i < b->sums.count; i++)
		cp_record_encode_sum(e, 0, &b->sums.items[i]);
	if (b->has_totals)
		d->totals = b->totals;
	if (b->has_totals)
		cp_record_encode_totals(e, &b->totals);
	if (b->counters.size)
		cp_record_encode_counters(e, &b->counters);
	cp_record_encode_flush(e);
}

/* The next batch; NULL when there will be none (*last_ret), or when it is
 * time to look after late names, or the tap. */
static struct cp_record_batch *take(struct cp_record_drain *d, bool *last_ret)
{
	struct timespec end =
		cp_timespec(cp_now() + (d->sink.tap ? CP_RECORD_TAP_NS : NAMES_WAIT_NS));
	struct cp_record_batch *batch;
	int rc = 0;

	pthread_mutex_lock(&d->lock);
	while (!d->head && !d->closing && !rc) {
		if (d->unnamed || d->sink.tap)
			rc = pthread_cond_timedwait(&d->wake, &d->lock, &end);
		else
			pthread_cond_wait(&d->wake, &d->lock);
	}
	batch = d->head;
	*last_ret = !batch && d->closing;
	if (batch) {
		d->head = batch->next;
		if (!d->head)
			d->tail = NULL;
		d->length--;
		d->samples -= batch->samples.count;
		d->annotations -= batch->annotations.count;
		d->call_bytes -= batch->call_bytes;
		d->stuck = false;
		pthread_cond_signal(&d->taken);
	}
	pthread_mutex_unlock(&d->lock);
	return batch;
}

/* What the recording encloses. All is named by now. */
static void enclose(struct cp_record_drain *d)
{
	const struct cp_record_enclose what = { .encoder = &d->encoder,
						.resolver = &d->namer.resolver,
						.image_keys = d->image_keys.items,
						.image_count = d->image_keys.count,
						.holds = d->preamble.holds };

	if (!(what.holds & (CP_RECORD_HAS_SOURCE | CP_RECORD_HAS_CODE)) ||
	    cp_record_sink_failed(&d->sink))
		return;
	cp_record_enclose(&what, &d->totals);
	cp_record_encode_totals(&d->encoder, &d->totals);
	cp_record_encode_flush(&d->encoder);
}

static void tick(struct cp_record_drain *d)
{
	const struct cp_record_tap *tap = d->sink.tap;
	struct cp_error *err = tap && !cp_record_sink_failed(&d->sink) ? tap->tick(tap->ctx) : NULL;

	if (err)
		cp_record_sink_fail(&d->sink, err);
}

#define SWAP(a, b) \
	do { \
		__typeof__((a)->items) items_ = (a)->items; \
		size_t capacity_ = (a)->capacity; \
\
		(a)->items = (b)->items; \
		(a)->capacity = (b)->capacity; \
		(b)->items = items_; \
		(b)->capacity = capacity_; \
	} while (0)

void cp_record_drain_room(struct cp_record_drain *d, struct cp_record_batch *batch)
{
	size_t i = 0;

	pthread_mutex_lock(&d->lock);
	while (i + 1 < CP_ARRAY_SIZE(d->spare) && !d->spare[i].items)
		i++;
	if (!batch->heap.items)
		SWAP(&batch->heap, &d->spare[i]);
	pthread_mutex_unlock(&d->lock);
}

/* What the batch has of it is the next one's. */
static void spare_room(struct cp_record_drain *d, struct cp_record_batch *batch)
{
	size_t i = 0;

	batch->heap.count = 0;
	pthread_mutex_lock(&d->lock);
	while (i + 1 < CP_ARRAY_SIZE(d->spare) && d->spare[i].items)
		i++;
	if (!d->spare[i].items)
		SWAP(&batch->heap, &d->spare[i]);
	pthread_mutex_unlock(&d->lock);
}

static void *run(void *arg)
{
	struct cp_record_drain *d = arg;
	struct cp_record_batch *batch;
	bool last;

	cp_record_sink_preamble(&d->sink, &d->preamble);
	cp_record_sink_chunk(&d->sink, CP_RECORD_CHUNK_INFO, &d->info);
	for (;;) {
		batch = take(d, &last);
		if (last && (!d->unnamed || cp_record_sink_failed(&d->sink)))
			break;
		if (cp_record_sink_failed(&d->sink)) {
			cp_record_namer_drop(&d->namer);
			d->unnamed = 0;
		} else if (batch) {
			encode_batch(d, batch);
		} else if (d->unnamed) {
			encode_locations(d, NULL);
			cp_record_encode_flush(&d->encoder);
		}
		if (batch && batch->heap.items)
			spare_room(d, batch);
		cp_record_batch_free(batch);
		tick(d);
	}
	enclose(d);
	cp_record_sink_end(&d->sink, &d->info);
	cp_record_sink_close(&d->sink);
	return NULL;
}

static struct cp_error *random_id(uint8_t *id)
{
	size_t done = 0;
	ssize_t n;

	while (done < CP_RECORD_ID_SIZE) {
		n = getrandom(id + done, CP_RECORD_ID_SIZE - done, 0);
		if (n < 0 && errno != EINTR)
			return cp_error_new(CP_ERR_IO, errno, "getting random bytes");
		done += n > 0 ? (size_t)n : 0;
	}
	return NULL;
}

static void deinit(struct cp_record_drain *d)
{
	cp_buf_free(&d->info);
	cp_vec_free(&d->image_keys);
	cp_vec_free(&d->spare[0]);
	cp_vec_free(&d->spare[1]);
	cp_record_encoder_deinit(&d->encoder);
	cp_record_sink_deinit(&d->sink);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->wake);
	pthread_cond_destroy(&d->taken);
}

static struct cp_error *start_thread(struct cp_record_drain *d)
{
	int rc = cp_thread_start(&d->thread, run, d);

	if (rc)
		return cp_error_new(CP_ERR_IO, rc, "starting the thread that writes the recording");
	pthread_setname_np(d->thread, "cprof-record");
	return NULL;
}

CP_ERROR cp_record_drain_start(struct cp_record_drain *d, int fd, const struct cp_record_info *info,
			       const struct cp_record_resolver *resolver,
			       const struct cp_record_tap *tap)
{
	pthread_condattr_t monotonic;
	struct cp_error *err;

	d->preamble = (struct cp_record_preamble){ .major = CP_RECORD_MAJOR,
						   .minor = CP_RECORD_MINOR,
						   .holds = info->holds };
	d->call_bytes_most = tap ? TAP_CALL_BYTES_MAX : QUEUE_CALL_BYTES_MAX;
	CP_TRY(cp_record_sink_init(&d->sink, fd));
	d->sink.tap = tap;
	cp_record_encoder_init(&d->encoder, &d->sink, cp_record_encode_kinds);
	pthread_mutex_init(&d->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&d->wake, &monotonic);
	pthread_cond_init(&d->taken, &monotonic);
	pthread_condattr_destroy(&monotonic);
	err = random_id(d->preamble.id);
	cp_record_put_info(&d->info, info, d->preamble.id);
	if (!err)
		err = cp_record_namer_start(&d->namer, resolver);
	if (!err) {
		err = start_thread(d);
		if (err)
			cp_record_namer_stop(&d->namer);
	}
	if (err)
		deinit(d);
	return err;
}

static bool has_room(const struct cp_record_drain *d, const struct cp_record_batch *batch)
{
	return !d->call_bytes || d->call_bytes + batch->call_bytes <= d->call_bytes_most;
}

/* Waits for room for the calls of `batch`. Where there was none in all that
 * time (the disk hangs), who comes next need not wait until there is. Waking
 * now and then shows the tracer that this process lives. */
static bool room_for_calls(struct cp_record_drain *d, const struct cp_record_batch *batch)
{
	uint64_t now = cp_now(), end = now + CALLS_WAIT_NS;
	struct timespec look;

	while (!has_room(d, batch) && now < end && !d->stuck) {
		look = cp_timespec(now + CALLS_LOOK_NS);
		pthread_cond_timedwait(&d->taken, &d->lock, &look);
		now = cp_now();
	}
	d->stuck = !has_room(d, batch);
	return !d->stuck;
}

struct cp_record_lost cp_record_drain_put(struct cp_record_drain *d, struct cp_record_batch *batch)
{
	const struct cp_record_annotation *a;
	struct cp_record_lost lost = { 0 };

	pthread_mutex_lock(&d->lock);
	if (batch->call_bytes && !room_for_calls(d, batch)) {
		lost.calls = batch->calls.count + batch->heap.count + batch->block_calls;
		cp_record_batch_drop_calls(batch);
	}
	if (d->samples + batch->samples.count > QUEUE_SAMPLES_MAX) {
		lost.samples = batch->samples.count;
		batch->samples.count = 0;
	}
	if (d->annotations + batch->annotations.count > QUEUE_ANNOTATIONS_MAX) {
		lost.annotations = batch->annotations.count;
		cp_vec_for_each(&batch->annotations, a)
			lost.recorded += cp_record_annotation_is_own(a);
		batch->annotations.count = 0;
	}
	d->samples += batch->samples.count;
	d->annotations += batch->annotations.count;
	d->call_bytes += batch->call_bytes;
	if (d->length >= QUEUE_LONG &&
	    d->tail->call_bytes + batch->call_bytes <= BATCH_CALL_BYTES_MAX &&
	    cp_record_batch_append(d->tail, batch)) {
		cp_record_batch_free(batch);
	} else {
		batch->next = NULL;
		if (d->tail)
			d->tail->next = batch;
		else
			d->head = batch;
		d->tail = batch;
		d->length++;
	}
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
	return lost;
}

struct cp_error *cp_record_drain_stop(struct cp_record_drain *d)
{
	struct cp_error *err;

	pthread_mutex_lock(&d->lock);
	d->closing = true;
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
	cp_record_namer_stop(&d->namer);
	err = atomic_exchange(&d->sink.error, NULL);
	deinit(d);
	return err;
}
