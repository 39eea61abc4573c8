/* SPDX-License-Identifier: MIT */
#include "record/kept.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "record/unpack.h"

#define FD_MOST 256 /* who has more files open, as merging many, needs descriptors for others */

struct cp_record_file {
	int fd; /* owned */
	bool changed; /* since it was loaded: something could not be read again */
};

bool cp_record_keep_file(struct cp_record *r, int fd)
{
	struct stat st;
	int own;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size < CP_RECORD_LARGE)
		return true;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return true;
	if (own > FD_MOST) {
		close(own);
		return true;
	}
	r->file = calloc(1, sizeof(*r->file));
	if (!r->file) {
		close(own);
		return false;
	}
	r->file->fd = own;
	return true;
}

bool cp_record_keep_chunk(struct cp_record *r, const struct cp_record_chunk *chunk,
			  const uint8_t *payload, uint64_t offset)
{
	struct cp_record_call_chunk kept = { .codec = chunk->codec,
					     .stored = chunk->stored,
					     .raw = chunk->raw,
					     .crc = chunk->payload_crc,
					     .offset = offset };

	if (!r->file) {
		kept.bytes = malloc((size_t)kept.stored + 1);
		if (!kept.bytes)
			return false;
		memcpy(kept.bytes, payload, kept.stored);
	}
	if (cp_vec_push(&r->call_chunks, kept))
		return true;
	free(kept.bytes);
	return false;
}

static bool read_again(const struct cp_record *r, const struct cp_record_call_chunk *chunk,
		       struct cp_buf *ret, bool *no_memory_ret)
{
	CP_FREE uint8_t *bytes = malloc((size_t)chunk->stored + 1);

	if (!bytes) {
		*no_memory_ret = true;
		return false;
	}
	if (cp_pread(r->file->fd, bytes, chunk->stored, chunk->offset) == chunk->stored &&
	    cp_record_crc(bytes, chunk->stored) == chunk->crc)
		return cp_record_unpack(chunk->codec, bytes, chunk->stored, chunk->raw, ret,
					no_memory_ret);
	__atomic_store_n(&r->file->changed, true, __ATOMIC_RELAXED);
	return false;
}

bool cp_record_unpack_kept(const struct cp_record *r, size_t n, struct cp_buf *ret,
			   bool *no_memory_ret)
{
	const struct cp_record_call_chunk *chunk = &r->call_chunks.items[n];

	if (!chunk->bytes)
		return read_again(r, chunk, ret, no_memory_ret);
	return cp_record_unpack(chunk->codec, chunk->bytes, chunk->stored, chunk->raw, ret,
				no_memory_ret);
}

CP_ERROR cp_record_kept_check(const struct cp_record *r)
{
	if (!r->file || !r->file->changed)
		return NULL;
	return cp_error_new(CP_ERR_IO, 0, "the recording was changed while it was read");
}

void cp_record_free_kept(struct cp_record *r)
{
	struct cp_record_call_chunk *chunk;

	cp_vec_for_each(&r->call_chunks, chunk)
		free(chunk->bytes);
	cp_vec_free(&r->call_chunks);
	if (r->file)
		close(r->file->fd);
	free(r->file);
	r->file = NULL;
}
