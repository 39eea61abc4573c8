/* SPDX-License-Identifier: MIT
 *
 * Events of all threads are in the file in the order in which they were served. Those in
 * blocks are of one thread each, so what is told is merged of the former and of each
 * thread's blocks, by time:
 *
 *     sections   e.....e....e...........e
 *     thread 1   [ block ][ block ]
 *     thread 2      [   block   ][ block ]
 *
 * A recording without blocks is told as it stands, whatever its times say.
 */
#include "record/call_walk.h"

#include <string.h>

#include "record/call_decode.h"
#include "record/kept.h"

/* Something that has events in their order. */
struct stream {
	struct cp_call_sections *sections; /* NULL: it is the blocks of a thread */
	size_t next; /* its next block; merging's `to`: there is none */
	size_t last; /* while streams are made: its last one so far */
	struct cp_buf bytes; /* of the block being read */
	struct cp_call_block_reader reader;
	struct cp_record_call call; /* its next event */
	struct cp_record_leaf leaf; /* the one behind that, if `is_leaf` */
	bool is_leaf;
	const struct cp_record_call *head; /* `call`; NULL: it is over */
};

/* Threads go from chunk to chunk one after the other, in the order of time: while some are
 * in the next one, others still are in the one before. */
#define CHUNKS 2

struct unpacked {
	struct cp_buf raw;
	size_t chunk; /* + 1; 0: none */
};

struct merging {
	const struct cp_record *r;
	uint32_t part;
	bool values; /* are told */
	cp_record_leaf_fn leaf; /* NULL: all events are told one by one */
	size_t from, to; /* its blocks */
	CP_VEC(struct stream) streams;
	CP_VEC(size_t) heap; /* of streams, the earliest event first */
	struct cp_map threads; /* thread -> stream */
	size_t *nexts; /* owned; by block, from `from` on: the next one of its thread */
	struct unpacked chunks[CHUNKS];
	bool no_memory;
};

/* ---- blocks ---- */

/* NULL: it can't be had. */
static const char *unpack(struct merging *m, size_t chunk)
{
	struct unpacked *oldest = &m->chunks[0], *it;
	const struct cp_buf *raw =
		m->streams.count ? cp_call_sections_raw(m->streams.items[0].sections, chunk) : NULL;

	if (raw)
		return raw->bytes;
	for (it = m->chunks; it < m->chunks + CHUNKS; it++) {
		if (it->chunk == chunk + 1)
			return it->raw.bytes;
		oldest = it->chunk < oldest->chunk ? it : oldest;
	}
	oldest->chunk = 0;
	if (!cp_record_unpack_kept(m->r, chunk, &oldest->raw, &m->no_memory))
		return NULL;
	oldest->chunk = chunk + 1;
	return oldest->raw.bytes;
}

static bool load_block(struct merging *m, struct stream *s,
		       const struct cp_record_call_block_at *at)
{
	const char *raw = unpack(m, at->chunk);

	if (!raw)
		return false;
	cp_buf_clear(&s->bytes);
	cp_buf_add(&s->bytes, raw + at->offset, at->size);
	m->no_memory |= s->bytes.failed;
	s->reader.bare = !m->values;
	return !s->bytes.failed && cp_call_block_open(&s->reader, s->bytes.bytes, s->bytes.size);
}

static bool next_block(struct merging *m, struct stream *s)
{
	while (s->next < m->to && !m->no_memory) {
		const struct cp_record_call_block_at *at = &m->r->call_blocks.items[s->next];

		s->next = m->nexts[s->next - m->from];
		if (load_block(m, s, at))
			return true;
	}
	return false;
}

static void next_of_blocks(struct merging *m, struct stream *s)
{
	enum cp_call_read got;

	s->head = NULL;
	while (!s->head && !m->no_memory) {
		got = m->leaf ? cp_call_block_next_leaf(&s->reader, &s->call, &s->leaf)
			      : cp_call_block_next(&s->reader, &s->call);
		s->is_leaf = got == CP_CALL_READ_LEAF;
		if (got <= CP_CALL_READ_LEAF) {
			if (cp_record_call_resolve(m->r, &s->call))
				s->head = &s->call;
			continue;
		}
		m->no_memory |= got == CP_CALL_READ_NOMEM;
		if (!next_block(m, s))
			break;
	}
}

static void next_event(struct merging *m, struct stream *s)
{
	if (!s->sections) {
		next_of_blocks(m, s);
		return;
	}
	if (!cp_call_sections_next(s->sections, &s->head, &m->no_memory))
		s->head = NULL;
}

/* ---- by time ---- */

static uint64_t time_of(const struct merging *m, size_t place)
{
	return m->streams.items[m->heap.items[place]].head->ts_ns;
}

/* At the same time the stream that began first comes first. */
static bool before(const struct merging *m, size_t a, size_t b)
{
	uint64_t x = time_of(m, a), y = time_of(m, b);

	return x < y || (x == y && m->heap.items[a] < m->heap.items[b]);
}

static void sift(struct merging *m, size_t at)
{
	for (;;) {
		size_t least = at, child;

		for (child = 2 * at + 1; child <= 2 * at + 2 && child < m->heap.count; child++)
			if (before(m, child, least))
				least = child;
		if (least == at)
			return;
		child = m->heap.items[at];
		m->heap.items[at] = m->heap.items[least];
		m->heap.items[least] = child;
		at = least;
	}
}

static bool add_stream(struct merging *m, struct stream s)
{
	if (!cp_vec_push(&m->streams, s)) {
		cp_call_sections_close(s.sections);
		return false;
	}
	return true;
}

/* A stream for each thread, and which blocks are of it. */
static bool add_threads(struct merging *m)
{
	size_t i;

	m->nexts = calloc(m->to - m->from + 1, sizeof(*m->nexts));
	if (!m->nexts)
		return false;
	for (i = m->from; i < m->to; i++) {
		uint32_t thread = m->r->call_blocks.items[i].thread;
		const uint64_t *known = cp_map_get(&m->threads, thread);
		struct stream s = { .next = i, .last = i };

		m->nexts[i - m->from] = m->to;
		if (known) {
			m->nexts[m->streams.items[*known].last - m->from] = i;
			m->streams.items[*known].last = i;
		} else if (!cp_map_put(&m->threads, thread, m->streams.count) ||
			   !add_stream(m, s)) {
			return false;
		}
	}
	return true;
}

static bool add_streams(struct merging *m)
{
	struct stream plain = { .sections = cp_call_sections_open(m->r, m->part, m->values) };
	size_t i;

	if (!plain.sections || !add_stream(m, plain) || !add_threads(m))
		return false;
	for (i = 0; i < m->streams.count && !m->no_memory; i++) {
		next_event(m, &m->streams.items[i]);
		if (m->streams.items[i].head && !cp_vec_push(&m->heap, i))
			return false;
	}
	for (i = m->heap.count; i--;)
		sift(m, i);
	return !m->no_memory;
}

static void merging_free(struct merging *m)
{
	struct stream *s;
	size_t i;

	cp_vec_for_each(&m->streams, s) {
		cp_call_sections_close(s->sections);
		cp_buf_free(&s->bytes);
		cp_call_block_reader_free(&s->reader);
	}
	cp_vec_free(&m->streams);
	cp_vec_free(&m->heap);
	cp_map_free(&m->threads);
	for (i = 0; i < CHUNKS; i++)
		cp_buf_free(&m->chunks[i].raw);
	free(m->nexts);
}

/* Others come before its end. */
static void open_leaf(struct stream *s)
{
	s->is_leaf = false;
	cp_record_leaf_leave(&s->leaf, &s->call);
}

/* Tells of the first stream as long as it is that. False when `each` has had enough. */
static bool tell_first(struct merging *m, cp_record_call_fn each, void *ctx)
{
	struct stream *s = &m->streams.items[m->heap.items[0]];
	size_t next = m->heap.count > 2 && before(m, 2, 1) ? 2 : 1;
	bool alone = m->heap.count < 2;
	uint64_t until_ns = alone ? UINT64_MAX : time_of(m, next);

	/* At the same time it is first if it was before. */
	until_ns += !alone && m->heap.items[0] < m->heap.items[next];
	do {
		if (s->is_leaf && (alone || s->leaf.end_ns < until_ns)) {
			if (!m->leaf(ctx, s->head, &s->leaf))
				return false;
			next_event(m, s);
			continue;
		}
		if (!each(ctx, s->head))
			return false;
		if (s->is_leaf)
			open_leaf(s);
		else
			next_event(m, s);
	} while (s->head && !m->no_memory && (alone || s->head->ts_ns < until_ns));
	if (!s->head)
		m->heap.items[0] = m->heap.items[--m->heap.count];
	return true;
}

/* All of a part by time. False when `each` has had enough. */
static bool merge(struct merging *m, cp_record_call_fn each, void *ctx)
{
	bool more = true;

	if (!add_streams(m)) {
		m->no_memory = true;
		return false;
	}
	while (more && m->heap.count && !m->no_memory) {
		more = tell_first(m, each, ctx);
		if (m->heap.count > 1)
			sift(m, 0);
	}
	return more;
}

/* ---- what others use ---- */

void cp_record_blocks_of(const struct cp_record *r, uint32_t part, size_t *from_ret, size_t *to_ret)
{
	*from_ret = cp_vec_partition(&r->call_blocks, it, it->part < part);
	*to_ret = cp_vec_partition(&r->call_blocks, it, it->part <= part);
}

static struct cp_error *each_plain(const struct cp_record *r, uint32_t part, bool values,
				   cp_record_call_fn each, void *ctx)
{
	struct cp_call_sections *s = cp_call_sections_open(r, part, values);
	const struct cp_record_call *call;
	bool no_memory = !s;

	while (s && cp_call_sections_next(s, &call, &no_memory) && each(ctx, call))
		continue;
	cp_call_sections_close(s);
	return no_memory ? cp_error_nomem() : cp_record_kept_check(r);
}

CP_ERROR cp_record_each_plain_call_of(const struct cp_record *r, uint32_t part,
				      cp_record_call_fn each, void *ctx)
{
	return each_plain(r, part, true, each, ctx);
}

static struct cp_error *each_of(const struct cp_record *r, uint32_t part, bool values,
				cp_record_call_fn each, cp_record_leaf_fn leaf, void *ctx)
{
	uint32_t first = part == CP_RECORD_NONE ? 0 : part, i;
	size_t last = part == CP_RECORD_NONE ? cp_record_part_count(r) : (size_t)part + 1;
	bool no_memory = false, more = true;

	if (!r->call_blocks.count)
		return each_plain(r, part, values, each, ctx);
	for (i = first; more && i < last; i++) {
		struct merging m = { .r = r, .part = i, .values = values, .leaf = leaf };

		cp_record_blocks_of(r, i, &m.from, &m.to);
		more = merge(&m, each, ctx);
		no_memory |= m.no_memory;
		merging_free(&m);
	}
	return no_memory ? cp_error_nomem() : cp_record_kept_check(r);
}

CP_ERROR cp_record_each_call_of(const struct cp_record *r, uint32_t part, cp_record_call_fn each,
				void *ctx)
{
	return each_of(r, part, true, each, NULL, ctx);
}

CP_ERROR cp_record_each_call(const struct cp_record *r, cp_record_call_fn each, void *ctx)
{
	return each_of(r, CP_RECORD_NONE, true, each, NULL, ctx);
}

CP_ERROR cp_record_each_single_call(const struct cp_record *r, cp_record_call_fn each, void *ctx)
{
	return each_plain(r, CP_RECORD_NONE, true, each, ctx);
}

CP_ERROR cp_record_each_bare_call(const struct cp_record *r, cp_record_call_fn each, void *ctx)
{
	return each_of(r, CP_RECORD_NONE, false, each, NULL, ctx);
}

CP_ERROR cp_record_each_bare_leaf(const struct cp_record *r, cp_record_call_fn each,
				  cp_record_leaf_fn leaf, void *ctx)
{
	return each_of(r, CP_RECORD_NONE, false, each, leaf, ctx);
}
