/* SPDX-License-Identifier: MIT */
#include "record/block_count.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "base/thread.h"
#include "record/call_decode.h"
#include "record/kept.h"

#define WORKERS_MAX 4 /* each has a chunk in memory */
#define CHUNKS_A_WORKER 4 /* with fewer there is nothing to share */

/* What was found in a block. */
struct found {
	uint64_t dropped, end_ns;
	uint32_t kept;
	bool broken;
};

struct counting {
	const struct cp_record *r;
	struct found *found; /* owned; by block */
	pthread_mutex_t lock; /* of what follows */
	size_t next; /* block */
	bool no_memory;
};

/* Who reads blocks. */
struct worker {
	struct counting *all;
	pthread_t thread;
	struct cp_buf raw; /* the chunk that it reads */
	struct cp_call_block_reader reader;
	struct cp_record_call call;
	bool no_memory;
};

/* ---- a block ---- */

static inline void count(const struct cp_record *r, struct cp_record_call *call, uint64_t end_ns,
			 uint32_t events, struct found *to)
{
	if (!cp_record_call_resolve(r, call)) {
		to->dropped += events;
		return;
	}
	to->kept += events;
	to->end_ns = end_ns > to->end_ns ? end_ns : to->end_ns;
}

/* To its end, or up to what makes no sense. */
static enum cp_call_read count_events(struct worker *w, struct found *to)
{
	const struct cp_record *r = w->all->r;
	struct cp_record_leaf leaf;
	enum cp_call_read got;
	uint64_t ts_ns;

	for (;;) {
		got = cp_call_block_next_leaf(&w->reader, &w->call, &leaf);
		ts_ns = w->call.ts_ns;
		if (got == CP_CALL_READ)
			count(r, &w->call, ts_ns, 1, to);
		else if (got == CP_CALL_READ_LEAF)
			count(r, &w->call, leaf.end_ns > ts_ns ? leaf.end_ns : ts_ns, 2, to);
		else
			return got;
	}
}

static void count_block(struct worker *w, const struct cp_record_call_block_at *at,
			struct found *to)
{
	enum cp_call_read got = CP_CALL_READ_BROKEN;

	*to = (struct found){ 0 };
	if (cp_call_block_open(&w->reader, w->raw.bytes + at->offset, at->size))
		got = count_events(w, to);
	to->broken = got != CP_CALL_READ_END;
	w->no_memory |= got == CP_CALL_READ_NOMEM;
}

/* ---- all of them ---- */

/* The blocks of the next chunk, which stand together; false: there are no more. */
static bool take(struct worker *w, size_t *from_ret, size_t *to_ret)
{
	struct counting *c = w->all;
	size_t count = c->r->call_blocks.count, from, to;

	pthread_mutex_lock(&c->lock);
	c->no_memory |= w->no_memory;
	from = to = c->no_memory ? count : c->next;
	while (to < count &&
	       c->r->call_blocks.items[to].chunk == c->r->call_blocks.items[from].chunk)
		to++;
	c->next = to;
	pthread_mutex_unlock(&c->lock);
	*from_ret = from;
	*to_ret = to;
	return from < to;
}

static void *work(void *data)
{
	struct worker *w = data;
	size_t i, to;

	while (take(w, &i, &to)) {
		const struct cp_record_call_block_at *blocks = w->all->r->call_blocks.items;
		bool ok = cp_record_unpack_kept(w->all->r, blocks[i].chunk, &w->raw, &w->no_memory);

		for (; i < to; i++) {
			if (ok)
				count_block(w, &blocks[i], &w->all->found[i]);
			else
				w->all->found[i] = (struct found){ .broken = true };
		}
	}
	cp_buf_free(&w->raw);
	cp_call_block_reader_free(&w->reader);
	return NULL;
}

static size_t workers_for(const struct cp_record *r)
{
	size_t most = r->call_chunks.count / CHUNKS_A_WORKER;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	most = most < WORKERS_MAX ? most : WORKERS_MAX;
	most = cpus > 0 && most > (size_t)cpus ? (size_t)cpus : most;
	return most ? most : 1;
}

/* The caller is one of those who count. */
static void count_all(struct counting *c)
{
	struct worker workers[WORKERS_MAX] = { 0 };
	size_t want = workers_for(c->r), started = 1, i;

	for (i = 0; i < want; i++)
		workers[i].all = c;
	while (started < want &&
	       !cp_thread_start(&workers[started].thread, work, &workers[started]))
		started++;
	work(&workers[0]);
	for (i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
}

/* Those that make no sense go. */
static void settle(struct cp_record *r, const struct found *found)
{
	size_t kept = 0, i;

	for (i = 0; i < r->call_blocks.count; i++) {
		struct cp_record_call_block_at at = r->call_blocks.items[i];

		if (found[i].broken) {
			r->own.bad_chunks++;
			r->own.lost += at.count;
			continue;
		}
		at.kept = found[i].kept;
		r->call_blocks.items[kept++] = at;
		r->own.dropped += found[i].dropped;
		r->call_counts[CP_RECORD_OF_CALLS] += at.kept;
		if (found[i].end_ns > r->calls_end_ns)
			r->calls_end_ns = found[i].end_ns;
	}
	r->call_blocks.count = kept;
}

/* What a file claims beyond what it holds is not told, whoever made it. */
static void believe(struct cp_record *r)
{
	struct cp_record_call_block_at *at;

	cp_vec_for_each(&r->call_blocks, at) {
		at->kept = at->count;
		r->call_counts[CP_RECORD_OF_CALLS] += at->count;
	}
}

bool cp_record_count_blocks(struct cp_record *r, bool whole)
{
	struct counting c = { .r = r, .lock = PTHREAD_MUTEX_INITIALIZER };
	bool ok;

	if (!r->call_blocks.count)
		return true;
	if (whole) {
		believe(r);
		return true;
	}
	c.found = calloc(r->call_blocks.count, sizeof(*c.found));
	if (!c.found)
		return false;
	count_all(&c);
	ok = !c.no_memory;
	if (ok)
		settle(r, c.found);
	free(c.found);
	pthread_mutex_destroy(&c.lock);
	return ok;
}
