/* SPDX-License-Identifier: MIT
 *
 * What it takes to record calls: bench-record-calls RECORDING [ROUNDS]. The calls of a
 * recording are recorded again, so many times: event by event, in blocks, and as what
 * they add up to. CPU time of the whole process, and bytes of the file, an event.
 *
 * Between events of a traced program lie the stops that told of them. So that times are
 * those of a program that nothing stops, the time between two is what it was less 20 µs,
 * or, as it is nearly always, a made-up one below 400 ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "record/call_block.h"
#include "record/sums.h"

struct thread {
	CP_VEC(struct cp_call_entry) entries;
};

struct bench {
	const struct cp_record *r;
	CP_VEC(struct cp_record_call) calls;
	struct thread *threads;
	uint64_t last_ns, now_ns, seed;
};

static bool take(void *ctx, const struct cp_record_call *call)
{
	struct bench *b = ctx;
	struct cp_record_call it = *call;
	uint64_t gap = it.ts_ns - b->last_ns;

	if (it.kind > CP_RECORD_UNWIND)
		return true;
	b->seed = b->seed * UINT64_C(6364136223846793005) + 1;
	b->last_ns = it.ts_ns;
	b->now_ns += gap > 120000 ? gap - 20000 : 8 + (b->seed >> 40) % 64 * (b->seed >> 55) % 392;
	it.ts_ns = b->now_ns;
	it.values = NULL;
	it.value_count = it.result_count = it.changed_count = 0;
	it.stack = CP_RECORD_NONE;
	it.flags &= it.kind == CP_RECORD_UNWIND ? CP_RECORD_CALL_ENDED : 0;
	if (it.kind == CP_RECORD_ENTER)
		it.target = CP_RECORD_NONE;
	return cp_vec_push(&b->calls, it) &&
	       cp_vec_push(&b->threads[it.thread].entries,
			   (struct cp_call_entry){ .ts_ns = it.ts_ns,
						   .function = it.function,
						   .depth = it.depth,
						   .target = it.target,
						   .kind = it.kind,
						   .flags = it.flags });
}

static struct cp_record_writer *begin(const struct bench *b, int *fd_ret)
{
	struct cp_record_writer *w = NULL;
	uint32_t i;

	*fd_ret = memfd_create("bench", 0);
	cp_error_free(cp_record_writer_create(dup(*fd_ret), cp_record_info(b->r), NULL, &w));
	for (i = 0; i < cp_record_process_count(b->r); i++)
		cp_record_process(w, cp_record_get_process(b->r, i));
	for (i = 0; i < cp_record_thread_count(b->r); i++)
		cp_record_thread(w, cp_record_get_thread(b->r, i));
	for (i = 0; i < cp_record_image_count(b->r); i++)
		cp_record_image(w, i, cp_record_get_image(b->r, i));
	for (i = 0; i < cp_record_location_count(b->r); i++) {
		const struct cp_record_location *l = cp_record_get_location(b->r, i);

		cp_record_location(w, l->image, l->address, l->flags);
	}
	return w;
}

static void by_events(const struct bench *b, struct cp_record_writer *w, unsigned rounds)
{
	const struct cp_record_call *call;
	uint64_t shift = 0;

	for (; rounds--; shift += b->now_ns) {
		cp_vec_for_each(&b->calls, call) {
			struct cp_record_call it = *call;

			it.ts_ns += shift;
			cp_record_call(w, &it);
		}
		cp_record_flush(w);
	}
}

/* As they come from the rings of threads. */
static void by_blocks(const struct bench *b, struct cp_record_writer *w, unsigned rounds)
{
	const struct cp_call_costs costs = { .own_ps = 12000, .inner_ps = 21000 };
	size_t threads = cp_record_thread_count(b->r), i, at;

	for (; rounds--; cp_record_flush(w)) {
		for (i = 0; i < threads; i++) {
			const struct thread *t = &b->threads[i];

			for (at = 0; at < t->entries.count; at += 16384)
				cp_record_call_block(w, (uint32_t)i, &costs, t->entries.items + at,
						     t->entries.count - at < 16384
							     ? t->entries.count - at
							     : 16384);
		}
	}
}

static void by_sums(const struct bench *b, struct cp_record_writer *w, unsigned rounds)
{
	const struct cp_call_costs costs = { .own_ps = 12000, .inner_ps = 21000 };
	size_t threads = cp_record_thread_count(b->r), bytes, i;
	struct cp_sums sums = { 0 };

	while (rounds--)
		for (i = 0; i < threads; i++)
			cp_error_free(cp_sums_block(&sums, 0, (uint32_t)i, &costs,
						    b->threads[i].entries.items,
						    b->threads[i].entries.count));
	cp_error_free(cp_sums_write(&sums, b->now_ns, w, &bytes));
	cp_sums_deinit(&sums);
}

static void measure(const struct bench *b, const char *name, unsigned rounds,
		    void (*how)(const struct bench *b, struct cp_record_writer *w, unsigned rounds))
{
	double events = (double)b->calls.count * rounds;
	struct cp_error *err = NULL;
	uint64_t before, after;
	off_t empty, size;
	int fd;
	struct cp_record_writer *w = begin(b, &fd);

	cp_record_flush(w);
	empty = (off_t)cp_record_bytes(w);
	before = cp_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	how(b, w, rounds);
	cp_record_writer_destroy(w, &err);
	after = cp_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	size = lseek(fd, 0, SEEK_END);
	printf("  %-8s %8.1f ns  %8.1f M/s  %8.3f bytes an event%s\n", name,
	       (double)(after - before) / events, 1000 * events / (double)(after - before),
	       (double)(size - empty) / events, err ? "  (failed)" : "");
	cp_error_free(err);
	close(fd);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
	struct cp_record *r = NULL;
	struct bench b = { .seed = 7, .now_ns = 1000 };

	if (argc < 2 || cp_record_load(argv[1], &r))
		return 2;
	b.r = r;
	b.threads = calloc(cp_record_thread_count(r) + 1, sizeof(*b.threads));
	if (!b.threads || cp_record_each_call(r, take, &b) || !b.calls.count)
		return 2;
	printf("%zu events, %u times, %zu functions\n", b.calls.count, rounds,
	       cp_record_location_count(r));
	measure(&b, "events", rounds, by_events);
	measure(&b, "blocks", rounds, by_blocks);
	measure(&b, "sums", rounds, by_sums);
	return 0;
}
