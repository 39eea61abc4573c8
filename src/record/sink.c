/* SPDX-License-Identifier: MIT */
#include "record/sink.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/error.h"

#define LEVEL 6 /* chunks are small; higher ones gain next to nothing */
#define LEVEL_QUICK 1 /* three times as fast as that; a seventh more bytes */

CP_ERROR cp_record_sink_init(struct cp_record_sink *sink, int fd)
{
	*sink = (struct cp_record_sink){ .fd = fd, .zstd = ZSTD_createCCtx() };
	if (sink->zstd)
		return NULL;
	cp_record_sink_deinit(sink);
	return cp_error_nomem();
}

void cp_record_sink_close(struct cp_record_sink *sink)
{
	if (sink->fd < 0)
		return;
	/* Network file systems report a full disk here. On Linux the
	 * descriptor is gone even after EINTR. */
	if (close(sink->fd) && errno != EINTR)
		cp_record_sink_fail(sink, cp_error_new(CP_ERR_IO, errno, "closing the recording"));
	sink->fd = -1;
}

void cp_record_sink_deinit(struct cp_record_sink *sink)
{
	cp_record_sink_close(sink);
	cp_buf_free(&sink->out);
	ZSTD_freeCCtx(sink->zstd);
	sink->zstd = NULL;
	cp_error_free(atomic_exchange(&sink->error, NULL));
}

void cp_record_sink_fail(struct cp_record_sink *sink, struct cp_error *err)
{
	struct cp_error *none = NULL;

	if (!atomic_compare_exchange_strong(&sink->error, &none, err))
		cp_error_free(err);
}

static struct cp_error *write_error(int errnum)
{
	struct cp_error *err = cp_error_new(CP_ERR_IO, errnum, "writing the recording");

	if (errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG)
		cp_error_hint(err, "what was recorded before is kept; make room, or name a file "
				   "elsewhere with -o");
	else if (errnum == EPIPE)
		cp_error_hint(err, "the program reading the recording has ended");
	return err;
}

/* How many of the bytes were written, and errno when not all. */
static size_t write_all(int fd, const char *bytes, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = write(fd, bytes + done, size - done);
		if (n > 0) {
			done += (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			struct pollfd p = { .fd = fd, .events = POLLOUT };

			poll(&p, 1, -1);
		} else if (n == 0 || errno != EINTR) {
			if (n == 0)
				errno = EIO;
			break;
		}
	}
	return done;
}

/* Cuts off a half-written chunk, if this is a file and nobody else wrote
 * behind us. */
static void take_back(struct cp_record_sink *sink, size_t size)
{
	struct stat st;
	off_t end;

	if (!size || fstat(sink->fd, &st) || !S_ISREG(st.st_mode))
		return;
	end = lseek(sink->fd, 0, SEEK_CUR);
	if (end >= (off_t)size && st.st_size == end && !ftruncate(sink->fd, end - (off_t)size))
		lseek(sink->fd, end - (off_t)size, SEEK_SET);
}

static void put(struct cp_record_sink *sink)
{
	size_t done;
	int errnum;

	if (sink->fd < 0)
		return;
	if (sink->out.failed) {
		cp_record_sink_fail(sink, cp_error_nomem());
		return;
	}
	done = write_all(sink->fd, sink->out.bytes, sink->out.size);
	if (done == sink->out.size) {
		atomic_fetch_add(&sink->bytes, done);
		return;
	}
	errnum = errno;
	take_back(sink, done);
	cp_record_sink_fail(sink, write_error(errnum));
}

void cp_record_sink_preamble(struct cp_record_sink *sink, const struct cp_record_preamble *p)
{
	if (cp_record_sink_failed(sink))
		return;
	cp_buf_clear(&sink->out);
	cp_record_put_preamble(&sink->out, p);
	put(sink);
}

/* Header and payload, compressed where that helps, into sink->out. */
static void build(struct cp_record_sink *sink, struct cp_record_chunk *chunk,
		  const struct cp_buf *payload)
{
	size_t bound = ZSTD_compressBound(payload->size), n = 0;
	char *packed = bound ? malloc(bound) : NULL;

	if (packed && chunk->type != CP_RECORD_CHUNK_INFO)
		n = ZSTD_compressCCtx(sink->zstd, packed, bound, payload->bytes, payload->size,
				      sink->quick ? LEVEL_QUICK : LEVEL);
	sink->quick = false;
	if (n && !ZSTD_isError(n) && n < payload->size)
		chunk->codec = CP_RECORD_CODEC_ZSTD;
	else
		n = payload->size;
	chunk->stored = (uint32_t)n;
	chunk->raw = (uint32_t)payload->size;
	if (chunk->codec == CP_RECORD_CODEC_NONE)
		chunk->payload_crc = cp_record_crc(payload->bytes, n);
	else
		chunk->payload_crc = cp_record_crc(packed, n);
	cp_record_put_chunk(&sink->out, chunk);
	cp_buf_add(&sink->out, chunk->codec ? packed : payload->bytes, n);
	free(packed);
}

static void tell(struct cp_record_sink *sink, enum cp_record_chunk_type type,
		 const struct cp_buf *payload)
{
	struct cp_error *err =
		sink->tap->chunk(sink->tap->ctx, type, payload->bytes, payload->size);

	if (err)
		cp_record_sink_fail(sink, err);
}

void cp_record_sink_chunk(struct cp_record_sink *sink, enum cp_record_chunk_type type,
			  const struct cp_buf *payload)
{
	struct cp_record_chunk chunk = { .type = type, .sequence = sink->sequence };

	if (cp_record_sink_failed(sink))
		return;
	if (payload->failed) {
		cp_record_sink_fail(sink, cp_error_nomem());
		return;
	}
	if (payload->size > CP_RECORD_RAW_MAX) {
		cp_record_sink_fail(sink, cp_error_new(CP_ERR_UNSUPPORTED, 0,
						       "writing the recording: what it is of takes "
						       "more than %u bytes to tell",
						       CP_RECORD_RAW_MAX));
		return;
	}
	sink->sequence++;
	if (sink->fd >= 0) {
		cp_buf_clear(&sink->out);
		build(sink, &chunk, payload);
		put(sink);
	}
	if (sink->tap)
		tell(sink, type, payload);
}

void cp_record_sink_end(struct cp_record_sink *sink, const struct cp_buf *info)
{
	struct cp_buf end = { 0 };

	cp_record_sink_chunk(sink, CP_RECORD_CHUNK_INFO, info);
	cp_record_put_number(&end, CP_RECORD_END_SAMPLES, sink->samples);
	cp_record_put_number(&end, CP_RECORD_END_CHUNKS, sink->sequence);
	cp_record_put_number(&end, CP_RECORD_END_CALLS, sink->calls);
	if (sink->annotations)
		cp_record_put_number(&end, CP_RECORD_END_ANNOTATIONS, sink->annotations);
	cp_record_sink_chunk(sink, CP_RECORD_CHUNK_END, &end);
	cp_buf_free(&end);
}

static const int loud[2] = { SIGPIPE, SIGXFSZ };

_Static_assert(sizeof(sigset_t) <= sizeof(((struct cp_record_quiet *)0)->before),
	       "room for a signal set");

void cp_record_quiet_begin(struct cp_record_quiet *quiet)
{
	sigset_t block, before, pending;
	size_t i;

	sigemptyset(&block);
	sigpending(&pending);
	for (i = 0; i < CP_ARRAY_SIZE(loud); i++) {
		sigaddset(&block, loud[i]);
		quiet->pending[i] = sigismember(&pending, loud[i]) == 1;
	}
	pthread_sigmask(SIG_BLOCK, &block, &before);
	memcpy(quiet->before, &before, sizeof(before));
}

void cp_record_quiet_end(const struct cp_record_quiet *quiet)
{
	static const struct timespec now = { 0, 0 };
	sigset_t one, before;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(loud); i++) {
		sigemptyset(&one);
		sigaddset(&one, loud[i]);
		if (!quiet->pending[i])
			while (sigtimedwait(&one, NULL, &now) < 0 && errno == EINTR)
				;
	}
	memcpy(&before, quiet->before, sizeof(before));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
