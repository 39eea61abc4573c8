/* SPDX-License-Identifier: MIT
 *
 * Finding the chunks of a recording, whatever happened to the file: cut
 * anywhere, bytes changed anywhere, still being written. What is missing is
 * counted, never guessed.
 */
#include "record/load.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "record/call_decode.h"
#include "record/decode.h"
#include "record/info.h"
#include "record/kept.h"
#include "record/unpack.h"

#define SYNC "CPCH"
#define SYNC_SIZE 4
#define READ_STEP ((size_t)256 << 10)
/* Without a good preamble, a chunk must begin within this. */
#define SEARCH_MAX ((uint64_t)1 << 20)

/* A file or pipe (fd >= 0), or memory. */
struct input {
	int fd;
	uint8_t *bytes; /* owned with a descriptor, else borrowed */
	size_t at, end, capacity;
	uint64_t skipped; /* bytes before `bytes` */
	int errnum; /* of the read that failed */
	bool eof, no_memory;
	bool from_start; /* of a file: what is read first is at 0 */
};

struct loader {
	struct input in;
	const char *name;
	struct cp_record *record;
	struct cp_record_decoder decoder;
	struct cp_buf raw; /* the payload being read, unpacked */
	bool preamble, any_chunk, has_info, has_id, ended;
	bool gap; /* bytes were skipped since the last chunk */
	uint32_t sequence; /* expected next */
};

/* Tries to have `size` bytes at in->at; returns how many there are. */
static size_t fill(struct input *in, size_t size)
{
	ssize_t n;

	while (in->end - in->at < size && !in->eof) {
		if (in->at > in->capacity / 2) {
			memmove(in->bytes, in->bytes + in->at, in->end - in->at);
			in->skipped += in->at;
			in->end -= in->at;
			in->at = 0;
		}
		if (in->capacity - in->end < READ_STEP &&
		    !cp_vec_grow((void **)&in->bytes, &in->capacity, in->end + READ_STEP, 1)) {
			in->no_memory = in->eof = true;
			break;
		}
		n = read(in->fd, in->bytes + in->end, in->capacity - in->end);
		if (n > 0) {
			in->end += (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			in->errnum = n < 0 ? errno : 0;
			in->eof = true;
		}
	}
	return in->end - in->at;
}

/* On to the next bytes that look like a chunk's, or some way on, or to the
 * end; not the bytes at in->at. */
static void seek_sync(struct input *in)
{
	size_t have = fill(in, CP_RECORD_HEADER_SIZE);
	uint8_t *found = memmem(in->bytes + in->at + 1, have - 1, SYNC, SYNC_SIZE);

	if (found)
		in->at = (size_t)(found - in->bytes);
	else if (have < CP_RECORD_HEADER_SIZE)
		in->at = in->end;
	else
		in->at = in->end - SYNC_SIZE;
}

static bool read_info(struct loader *l)
{
	struct cp_cursor c = cp_cursor(l->raw.bytes, l->raw.size);
	struct cp_record *r = l->record;
	uint32_t holds = r->info.holds;
	uint8_t id[CP_RECORD_ID_SIZE] = { 0 };

	if (l->has_info)
		return true; /* the copy before the end */
	if (!cp_record_get_info(&c, &r->arena, &r->info, id))
		return false;
	if (l->preamble)
		r->info.holds |= holds;
	else
		memcpy(r->id, id, sizeof(id));
	l->has_id = true;
	l->has_info = true;
	return true;
}

static bool read_end(struct loader *l)
{
	struct cp_cursor c = cp_cursor(l->raw.bytes, l->raw.size), body;
	uint64_t tag, value;

	while (cp_record_get_field(&c, &tag, &body)) {
		value = cp_cursor_uleb(&body);
		if (tag == CP_RECORD_END_SAMPLES && value > l->decoder.next_sample)
			l->record->own.lost += value - l->decoder.next_sample;
		if (tag == CP_RECORD_END_ANNOTATIONS && value > l->decoder.next_annotation)
			l->record->own.lost += value - l->decoder.next_annotation;
		if (tag == CP_RECORD_END_CALLS && value > l->decoder.next_call)
			l->record->own.lost += value - l->decoder.next_call;
	}
	l->ended = !c.bad;
	return l->ended;
}

static bool read_data(struct loader *l, const struct cp_record_chunk *chunk, const uint8_t *payload)
{
	bool ok = cp_record_decode(&l->decoder, l->raw.bytes, l->raw.size);

	return cp_record_keep_calls(&l->decoder, chunk, payload,
				    l->in.skipped + l->in.at + CP_RECORD_HEADER_SIZE) &&
	       ok;
}

static bool read_payload(struct loader *l, const struct cp_record_chunk *chunk)
{
	const uint8_t *payload = l->in.bytes + l->in.at + CP_RECORD_HEADER_SIZE;

	if (cp_record_crc(payload, chunk->stored) != chunk->payload_crc ||
	    !cp_record_unpack(chunk->codec, payload, chunk->stored, chunk->raw, &l->raw,
			      &l->in.no_memory))
		return false;
	switch (chunk->type) {
	case CP_RECORD_CHUNK_INFO:
		return read_info(l);
	case CP_RECORD_CHUNK_DATA:
		return read_data(l, chunk, payload);
	case CP_RECORD_CHUNK_END:
		return read_end(l);
	default:
		return true; /* of a later version */
	}
}

/* A good header at in->at. False when its payload is cut off. */
static bool read_chunk(struct loader *l, const struct cp_record_chunk *chunk)
{
	size_t size = CP_RECORD_HEADER_SIZE + (size_t)chunk->stored, have = fill(&l->in, size);
	struct cp_record_damage *damage = &l->record->own;

	l->any_chunk = true;
	if (chunk->sequence > l->sequence)
		damage->bad_chunks += chunk->sequence - l->sequence;
	else if (l->gap)
		damage->bad_chunks++;
	l->gap = false;
	if (have < size) {
		damage->missing_bytes += size - have;
		l->in.at = l->in.end;
		return false;
	}
	if (chunk->sequence < l->sequence || !read_payload(l, chunk))
		damage->bad_chunks++;
	if (chunk->sequence >= l->sequence)
		l->sequence = chunk->sequence + 1;
	l->in.at += size;
	return true;
}

static void read_chunks(struct loader *l)
{
	struct cp_record_damage *damage = &l->record->own;
	struct input *in = &l->in;
	struct cp_record_chunk chunk;
	size_t have;

	while (!l->ended && (have = fill(in, CP_RECORD_HEADER_SIZE))) {
		const uint8_t *at = in->bytes + in->at;

		if (have >= CP_RECORD_HEADER_SIZE && cp_record_get_chunk(at, &chunk)) {
			if (!read_chunk(l, &chunk))
				break;
		} else if (have < CP_RECORD_HEADER_SIZE && !l->gap &&
			   !memcmp(at, SYNC, have < SYNC_SIZE ? have : SYNC_SIZE)) {
			damage->missing_bytes += CP_RECORD_HEADER_SIZE - have;
			break;
		} else {
			l->gap = true;
			seek_sync(in);
		}
		if (l->decoder.no_memory || in->no_memory ||
		    (!l->preamble && !l->any_chunk && in->skipped + in->at > SEARCH_MAX))
			return;
	}
	if (l->gap || (l->ended && fill(in, 1)))
		damage->bad_chunks++;
	damage->no_end = !l->ended;
}

static struct cp_error *not_a_recording(const struct loader *l, size_t have)
{
	if (l->in.errnum)
		return cp_error_new(CP_ERR_IO, l->in.errnum, "reading %s", l->name);
	if (!have)
		return cp_error_new(CP_ERR_FORMAT, 0, "%s is empty", l->name);
	if (have < CP_RECORD_PREAMBLE_SIZE &&
	    !memcmp(l->in.bytes, CP_RECORD_MAGIC, have < 8 ? have : 8))
		return cp_error_new(CP_ERR_FORMAT, 0,
				    "%s was cut off within its header: nothing was recorded",
				    l->name);
	return cp_error_hint(cp_error_new(CP_ERR_FORMAT, 0, "%s is not a recording of cprof",
					  l->name),
			     "recordings are made by cprof run or cprof attach, with -o FILE");
}

static struct cp_error *read_preamble(struct loader *l, size_t have)
{
	struct cp_record_preamble p;

	if (have < CP_RECORD_PREAMBLE_SIZE || !cp_record_get_preamble(l->in.bytes, &p))
		return NULL;
	if (p.major != CP_RECORD_MAJOR)
		return cp_error_hint(cp_error_new(CP_ERR_UNSUPPORTED, 0,
						  "%s has format %u, this cprof reads format %u",
						  l->name, p.major, CP_RECORD_MAJOR),
				     "use a cprof as new as the one that made it");
	memcpy(l->record->id, p.id, sizeof(p.id));
	l->record->info.holds = p.holds;
	l->preamble = l->has_id = true;
	l->in.at += CP_RECORD_PREAMBLE_SIZE;
	return NULL;
}

/* A recording that lost its id gets one that copies of it share. */
static void make_id(struct cp_record *r)
{
	uint64_t a = 1, b = 2;
	size_t i;

	for (i = 0; i < r->samples.count; i++) {
		a = cp_hash_u64(a ^ r->samples.items[i].ts_ns);
		b = cp_hash_u64(b ^ r->samples.items[i].weight_ns) + r->samples.items[i].stack;
	}
	for (i = 0; i < r->call_chunks.count; i++)
		a = cp_hash_u64(a ^ cp_hash_bytes(r->call_chunks.items[i].bytes,
						  r->call_chunks.items[i].stored));
	for (i = 0; i < r->annotations.count; i++)
		b = cp_hash_u64(b ^ r->annotations.items[i].ts_ns) + r->annotations.items[i].id;
	memcpy(r->id, &a, sizeof(a));
	memcpy(r->id + sizeof(a), &b, sizeof(b));
}

static struct cp_error *load(struct loader *l)
{
	size_t have = fill(&l->in, CP_RECORD_PREAMBLE_SIZE);
	struct cp_error *err = read_preamble(l, have);

	if (err)
		return err;
	if (!l->preamble && have < CP_RECORD_PREAMBLE_SIZE)
		return not_a_recording(l, have);
	/* Who has lost its id gets one by what is in it. */
	if (l->has_id && l->in.from_start && !cp_record_keep_file(l->record, l->in.fd))
		return cp_error_nomem();
	read_chunks(l);
	if (l->decoder.no_memory || l->in.no_memory)
		return cp_error_nomem();
	if (!l->preamble && !l->any_chunk)
		return not_a_recording(l, have);
	if (!l->has_id)
		make_id(l->record);
	return cp_record_build(&l->decoder);
}

static struct cp_error *load_input(struct input in, const char *name, struct cp_record **ret)
{
	struct loader l = { .in = in, .name = name };
	struct cp_error *err;

	l.record = calloc(1, sizeof(*l.record));
	if (!l.record)
		return cp_error_nomem();
	l.record->info = cp_record_no_info();
	l.decoder.record = l.record;
	err = load(&l);
	cp_record_decoder_deinit(&l.decoder);
	cp_buf_free(&l.raw);
	if (in.fd >= 0)
		free(l.in.bytes);
	if (err)
		cp_record_destroy(l.record);
	else
		*ret = l.record;
	return err;
}

CP_ERROR cp_record_load_bytes(const void *bytes, size_t size, const char *name,
			      struct cp_record **ret)
{
	struct input in = {
		.fd = -1,
		.bytes = (uint8_t *)(uintptr_t)bytes, /* only read, with eof set */
		.end = size,
		.capacity = size,
		.eof = true,
	};

	return load_input(in, name, ret);
}

bool cp_record_is(int fd)
{
	char bytes[8];

	return cp_pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
	       !memcmp(bytes, CP_RECORD_MAGIC, sizeof(bytes));
}

CP_ERROR cp_record_load(const char *path, struct cp_record **ret)
{
	bool std = !strcmp(path, "-");
	CP_CLOSE int fd = std ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct input in = { .fd = std ? STDIN_FILENO : fd, .from_start = !std };

	if (in.fd < 0)
		return cp_error_new(errno == ENOENT   ? CP_ERR_NOT_FOUND
				    : errno == EACCES ? CP_ERR_PERMISSION
						      : CP_ERR_IO,
				    errno, "opening %s", path);
	return load_input(in, std ? "standard input" : path, ret);
}
