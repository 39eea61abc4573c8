/* SPDX-License-Identifier: MIT */
#include "record/namer.h"

#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "record/format.h"

static const char *copy(struct cp_record_names *names, const char *text)
{
	char *got = text ? strdup(text) : NULL;

	if (text && !got)
		names->no_memory = true;
	return got;
}

static void frame_free(const struct cp_record_frame *f)
{
	free((void *)(uintptr_t)f->function);
	free((void *)(uintptr_t)f->linkage);
	free((void *)(uintptr_t)f->file);
}

void cp_record_name_frame(struct cp_record_names *names, const struct cp_record_frame *frame)
{
	struct cp_record_frame f = *frame;

	if (names->frames.count >= CP_RECORD_FRAMES_MAX)
		return;
	f.function = copy(names, frame->function);
	f.linkage = copy(names, frame->linkage);
	f.file = copy(names, frame->file);
	if (!cp_vec_push(&names->frames, f)) {
		frame_free(&f);
		names->no_memory = true;
	}
}

void cp_record_name_start(struct cp_record_names *names, uint64_t function_start)
{
	names->start = function_start;
}

void cp_record_names_free(struct cp_record_names *names)
{
	size_t i;

	for (i = 0; i < names->frames.count; i++)
		frame_free(&names->frames.items[i]);
	cp_vec_free(&names->frames);
}

void cp_record_answers_free(struct cp_record_answers *answers)
{
	size_t i;

	for (i = 0; i < answers->list.count; i++)
		cp_record_names_free(&answers->list.items[i]);
	cp_vec_free(&answers->list);
}

/* Waits for the next question; false at the end. */
static bool next_question(struct cp_record_namer *n, struct cp_record_question *ret)
{
	bool more;

	pthread_mutex_lock(&n->lock);
	while (n->next == n->questions.count && !n->stopping)
		pthread_cond_wait(&n->asked, &n->lock);
	more = !n->stopping;
	if (more)
		*ret = n->questions.items[n->next++];
	if (n->next == n->questions.count)
		n->next = n->questions.count = 0;
	pthread_mutex_unlock(&n->lock);
	return more;
}

/* Of a function and all that is inlined at its beginning the function. */
static void keep_outermost(struct cp_record_names *names)
{
	size_t last = names->frames.count - 1, i;

	for (i = 0; i < last; i++)
		frame_free(&names->frames.items[i]);
	names->frames.items[0] = names->frames.items[last];
	names->frames.count = 1;
}

static void *run(void *arg)
{
	struct cp_record_namer *n = arg;
	struct cp_record_question q;

	while (next_question(n, &q)) {
		struct cp_record_names names = { .location = q.location };

		n->resolver.resolve(n->resolver.ctx, q.key, q.address, &names);
		if (q.entry && names.frames.count > 1)
			keep_outermost(&names);
		pthread_mutex_lock(&n->lock);
		/* room was made when it was asked */
		n->answers.list.items[n->answers.list.count++] = names;
		if (!--n->open)
			pthread_cond_signal(&n->answered);
		pthread_mutex_unlock(&n->lock);
	}
	return NULL;
}

static struct cp_error *start_thread(struct cp_record_namer *n)
{
	int rc = cp_thread_start(&n->thread, run, n);

	if (rc)
		return cp_error_new(CP_ERR_IO, rc, "starting the thread that names functions");
	pthread_setname_np(n->thread, "cprof-names");
	n->running = true;
	return NULL;
}

CP_ERROR cp_record_namer_start(struct cp_record_namer *n, const struct cp_record_resolver *resolver)
{
	pthread_condattr_t monotonic;
	struct cp_error *err;

	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->asked, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&n->answered, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (!resolver || !resolver->resolve)
		return NULL;
	n->resolver = *resolver;
	err = start_thread(n);
	if (err)
		cp_record_namer_stop(n);
	return err;
}

void cp_record_namer_stop(struct cp_record_namer *n)
{
	pthread_mutex_lock(&n->lock);
	n->stopping = true;
	pthread_cond_signal(&n->asked);
	pthread_mutex_unlock(&n->lock);
	if (n->running)
		pthread_join(n->thread, NULL);
	n->running = false;
	cp_record_answers_free(&n->answers);
	cp_vec_free(&n->questions);
	pthread_mutex_destroy(&n->lock);
	pthread_cond_destroy(&n->asked);
	pthread_cond_destroy(&n->answered);
}

bool cp_record_namer_ask(struct cp_record_namer *n, const struct cp_record_question *q)
{
	struct cp_record_names none = { .location = q->location };
	bool ok;

	pthread_mutex_lock(&n->lock);
	ok = cp_vec_reserve(&n->answers.list, n->answers.list.count + n->open + 1) &&
	     (!n->running || cp_vec_push(&n->questions, *q));
	if (ok && n->running) {
		n->open++;
		pthread_cond_signal(&n->asked);
	} else if (ok) {
		n->answers.list.items[n->answers.list.count++] = none;
	}
	pthread_mutex_unlock(&n->lock);
	return ok;
}

void cp_record_namer_drop(struct cp_record_namer *n)
{
	pthread_mutex_lock(&n->lock);
	n->open -= n->questions.count - n->next;
	n->next = n->questions.count = 0;
	pthread_mutex_unlock(&n->lock);
}

struct cp_record_answers cp_record_namer_collect(struct cp_record_namer *n, uint64_t wait_ns)
{
	struct timespec end = cp_timespec(cp_now() + wait_ns);
	struct cp_record_answers got = { 0 };

	pthread_mutex_lock(&n->lock);
	while (n->open && !pthread_cond_timedwait(&n->answered, &n->lock, &end))
		;
	if (n->open) {
		/* The list stays, with the room that was promised in it. */
		if (n->answers.list.count && cp_vec_reserve(&got.list, n->answers.list.count)) {
			memcpy(got.list.items, n->answers.list.items,
			       n->answers.list.count * sizeof(*got.list.items));
			got.list.count = n->answers.list.count;
			n->answers.list.count = 0;
		}
	} else {
		got = n->answers;
		n->answers = (struct cp_record_answers){ 0 };
	}
	pthread_mutex_unlock(&n->lock);
	return got;
}
