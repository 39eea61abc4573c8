/* SPDX-License-Identifier: MIT */
#include "record/drain.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>

/* With a disk or a resolver that can't keep up, batches are put together
 * (they pack better so), and samples beyond this are given up and counted. */
#define QUEUE_LONG 4
#define QUEUE_SAMPLES_MAX ((size_t)4 << 20)

struct cp_record_names {
	struct cp_record_encoder *encoder;
	uint64_t start;
	size_t count;
	struct {
		uint64_t function;
		uint32_t line;
		bool inlined;
	} frames[CP_RECORD_FRAMES_MAX];
};

void cp_record_name_frame(struct cp_record_names *names, const struct cp_record_frame *frame)
{
	if (names->count >= CP_RECORD_FRAMES_MAX)
		return;
	names->frames[names->count].function = cp_record_encode_function(names->encoder, frame);
	names->frames[names->count].line = frame->line;
	names->frames[names->count].inlined = frame->inlined;
	names->count++;
}

void cp_record_name_start(struct cp_record_names *names, uint64_t function_start)
{
	names->start = function_start;
}

static void encode_location(struct cp_record_drain *d, uint32_t number,
			    const struct cp_record_new_location *l)
{
	struct cp_record_names names = { .encoder = &d->encoder };
	uint64_t values[CP_RECORD_WIDTH_MAX] = { 0 }, frame = 0;

	if (cp_record_sink_failed(&d->sink))
		return;
	if (d->resolver.resolve)
		d->resolver.resolve(d->resolver.ctx, l->key, l->address, &names);
	while (names.count--)
		frame = cp_record_encode_frame(&d->encoder, frame,
					       names.frames[names.count].function,
					       names.frames[names.count].line,
					       names.frames[names.count].inlined);
	values[CP_LOCATION_IMAGE] = l->image == CP_RECORD_NONE ? 0 : (uint64_t)l->image + 1;
	values[CP_LOCATION_ADDRESS] = l->address;
	values[CP_LOCATION_FLAGS] = l->flags;
	values[CP_LOCATION_START] = names.start ? l->address - names.start + 1 : 0;
	values[CP_LOCATION_FRAME] = frame;
	cp_record_encode_row(&d->encoder, CP_RECORD_LOCATIONS, number, values);
}

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

static void encode_batch(struct cp_record_drain *d, const struct cp_record_batch *b)
{
	struct cp_record_encoder *e = &d->encoder;
	size_t i;

	encode_processes(e, b);
	encode_images(e, b);
	for (i = 0; i < b->locations.count; i++)
		encode_location(d, (uint32_t)e->tables[CP_RECORD_LOCATIONS].written.count,
				&b->locations.items[i]);
	encode_stacks(e, b);
	for (i = 0; i < b->samples.count; i++)
		cp_record_encode_sample(e, 0, &b->samples.items[i]);
	if (b->has_totals)
		cp_record_encode_totals(e, &b->totals);
	cp_record_encode_flush(e);
}

/* The next batch, or NULL when there will be none. */
static struct cp_record_batch *take(struct cp_record_drain *d)
{
	struct cp_record_batch *batch;

	pthread_mutex_lock(&d->lock);
	while (!d->head && !d->closing)
		pthread_cond_wait(&d->wake, &d->lock);
	batch = d->head;
	if (batch) {
		d->head = batch->next;
		if (!d->head)
			d->tail = NULL;
		d->length--;
		d->samples -= batch->samples.count;
	}
	pthread_mutex_unlock(&d->lock);
	return batch;
}

static void *run(void *arg)
{
	struct cp_record_drain *d = arg;
	struct cp_record_batch *batch;

	cp_record_sink_preamble(&d->sink, &d->preamble);
	cp_record_sink_chunk(&d->sink, CP_RECORD_CHUNK_INFO, &d->info);
	while ((batch = take(d))) {
		if (!cp_record_sink_failed(&d->sink))
			encode_batch(d, batch);
		cp_record_batch_free(batch);
	}
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
	cp_record_encoder_deinit(&d->encoder);
	cp_record_sink_deinit(&d->sink);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->wake);
}

/* All signals are blocked in the thread: they are not for it, and a closed
 * pipe or a full file answers with an error instead. */
static struct cp_error *start_thread(struct cp_record_drain *d)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&d->thread, NULL, run, d);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return cp_error_new(CP_ERR_IO, rc, "starting the thread that writes the recording");
	pthread_setname_np(d->thread, "cprof-record");
	return NULL;
}

CP_ERROR cp_record_drain_start(struct cp_record_drain *d, int fd, const struct cp_record_info *info,
			       const struct cp_record_resolver *resolver)
{
	struct cp_error *err;

	if (resolver)
		d->resolver = *resolver;
	d->preamble = (struct cp_record_preamble){ .major = CP_RECORD_MAJOR,
						   .minor = CP_RECORD_MINOR,
						   .holds = info->holds };
	CP_TRY(cp_record_sink_init(&d->sink, fd));
	cp_record_encoder_init(&d->encoder, &d->sink);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->wake, NULL);
	err = random_id(d->preamble.id);
	cp_record_put_info(&d->info, info, d->preamble.id);
	if (!err)
		err = start_thread(d);
	if (err)
		deinit(d);
	return err;
}

uint64_t cp_record_drain_put(struct cp_record_drain *d, struct cp_record_batch *batch)
{
	size_t samples = batch->samples.count, out = 0;

	pthread_mutex_lock(&d->lock);
	if (d->samples + samples > QUEUE_SAMPLES_MAX) {
		out = samples;
		samples = batch->samples.count = 0;
	}
	d->samples += samples;
	if (d->length >= QUEUE_LONG && cp_record_batch_append(d->tail, batch)) {
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
	return out;
}

struct cp_error *cp_record_drain_stop(struct cp_record_drain *d)
{
	struct cp_error *err;

	pthread_mutex_lock(&d->lock);
	d->closing = true;
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
	err = atomic_exchange(&d->sink.error, NULL);
	deinit(d);
	return err;
}
