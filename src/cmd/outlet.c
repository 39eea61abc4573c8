/* SPDX-License-Identifier: MIT */
#include "cmd/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"

#define ROOM ((size_t)256 << 10)
#define WAIT_NS CP_NS_PER_S /* for room; at the end, for a reader who takes nothing */
#define LOOK_MS 100

struct cp_outlet {
	int fd; /* owned */
	bool waits;
	bool is_file; /* writing never waits for a reader */
	bool is_socket;
	pthread_t thread;
	struct cp_buf text; /* the thread's */
	_Atomic bool closing;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t more, room;
	struct cp_buf pending;
	uint64_t missing; /* lines left out since the last one that was not */
	uint64_t lost; /* lines, all together */
	bool stuck; /* there was no room for long, and nothing was read since */
	int errnum;
};

static uint64_t lines_of(const char *text, size_t size)
{
	const char *end = size ? text + size : text, *at;
	uint64_t lines = 0;

	/* Of nothing, where it is may be nowhere. */
	while (text < end && (at = memchr(text, '\n', (size_t)(end - text)))) {
		lines++;
		text = at + 1;
	}
	return lines;
}

/* ---- the thread ---- */

static ssize_t write_some(const struct cp_outlet *o, const char *text, size_t size)
{
	if (o->is_socket)
		return send(o->fd, text, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	/* What a pipe always has room for when it has some, should it block. */
	return write(o->fd, text, o->is_file || size < PIPE_BUF ? size : PIPE_BUF);
}

/* How much was written; all of it, or *errnum_ret says why not: 0 when nobody reads. */
static size_t write_all(struct cp_outlet *o, int *errnum_ret)
{
	struct pollfd p = { .fd = o->fd, .events = POLLOUT };
	uint64_t last = cp_now();
	size_t done = 0;
	ssize_t n;

	*errnum_ret = 0;
	while (done < o->text.size) {
		if (!o->is_file && poll(&p, 1, LOOK_MS) <= 0) {
			if (o->closing && cp_now() - last > WAIT_NS)
				break;
			continue;
		}
		n = write_some(o, o->text.bytes + done, o->text.size - done);
		if (n > 0) {
			done += (size_t)n;
			last = cp_now();
		} else if (n < 0 && errno != EINTR && errno != EAGAIN) {
			*errnum_ret = errno;
			break;
		}
	}
	return done;
}

static void *run(void *data)
{
	struct cp_outlet *o = data;
	struct cp_buf empty;
	size_t done;
	int errnum;

	pthread_mutex_lock(&o->lock);
	for (;;) {
		while (!o->pending.size && !o->closing)
			pthread_cond_wait(&o->more, &o->lock);
		if (!o->pending.size || o->errnum)
			break;
		empty = o->text;
		o->text = o->pending;
		o->pending = empty;
		cp_buf_clear(&o->pending);
		o->stuck = false;
		pthread_cond_signal(&o->room);
		pthread_mutex_unlock(&o->lock);
		done = write_all(o, &errnum);
		pthread_mutex_lock(&o->lock);
		o->errnum = errnum;
		if (done == o->text.size)
			continue;
		o->lost += lines_of(o->text.bytes + done, o->text.size - done) +
			   lines_of(o->pending.bytes, o->pending.size);
		cp_buf_clear(&o->pending);
		if (o->closing)
			break;
	}
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

/* ---- whoever has text ---- */

/* Not to wait is a property of who opened a terminal or pipe, which others share: so it is
 * opened again. */
static int reopened(int fd)
{
	char path[32];
	int own;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own < 0)
		return fd;
	close(fd);
	return own;
}

static void destroy(struct cp_outlet *o)
{
	cp_close_fd(&o->fd);
	cp_buf_free(&o->text);
	cp_buf_free(&o->pending);
	pthread_mutex_destroy(&o->lock);
	pthread_cond_destroy(&o->more);
	pthread_cond_destroy(&o->room);
	free(o);
}

CP_ERROR cp_outlet_open(int fd, bool waits, struct cp_outlet **ret)
{
	struct cp_outlet *o = calloc(1, sizeof(*o));
	pthread_condattr_t monotonic;
	struct stat st;
	int errnum;

	if (!o) {
		close(fd);
		return cp_error_nomem();
	}
	o->fd = fd;
	o->waits = waits;
	if (!fstat(fd, &st)) {
		o->is_file = S_ISREG(st.st_mode);
		o->is_socket = S_ISSOCK(st.st_mode);
		if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))
			o->fd = reopened(fd);
	}
	pthread_mutex_init(&o->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&o->more, &monotonic);
	pthread_cond_init(&o->room, &monotonic);
	pthread_condattr_destroy(&monotonic);
	errnum = cp_thread_start(&o->thread, run, o);
	if (errnum) {
		destroy(o);
		return cp_error_new(CP_ERR_IO, errnum, "starting a thread that writes");
	}
	pthread_setname_np(o->thread, "cprof-outlet");
	*ret = o;
	return NULL;
}

static bool has_room(const struct cp_outlet *o, size_t size)
{
	return !o->pending.size || o->pending.size + size <= ROOM;
}

static bool wait_for_room(struct cp_outlet *o, size_t size)
{
	struct timespec end = cp_timespec(cp_now() + WAIT_NS);
	int rc = 0;

	while (!has_room(o, size) && o->waits && !o->stuck && !rc && !o->errnum)
		rc = pthread_cond_timedwait(&o->room, &o->lock, &end);
	o->stuck |= !has_room(o, size);
	return has_room(o, size);
}

int cp_outlet_put(struct cp_outlet *o, const char *text, size_t size)
{
	int errnum;

	pthread_mutex_lock(&o->lock);
	if (!o->errnum && !wait_for_room(o, size)) {
		o->lost += lines_of(text, size);
		o->missing += lines_of(text, size);
	} else if (!o->errnum) {
		if (o->missing)
			cp_buf_printf(&o->pending,
				      "! %" PRIu64 " lines are missing here: they were not read "
				      "in time\n",
				      o->missing);
		o->missing = 0;
		cp_buf_add(&o->pending, text, size);
		if (o->pending.failed)
			o->errnum = ENOMEM;
		pthread_cond_signal(&o->more);
	}
	errnum = o->errnum;
	pthread_mutex_unlock(&o->lock);
	return errnum;
}

uint64_t cp_outlet_close(struct cp_outlet *o)
{
	uint64_t lost;

	if (!o)
		return 0;
	pthread_mutex_lock(&o->lock);
	o->closing = true;
	pthread_cond_signal(&o->more);
	pthread_mutex_unlock(&o->lock);
	pthread_join(o->thread, NULL);
	lost = o->lost;
	destroy(o);
	return lost;
}
