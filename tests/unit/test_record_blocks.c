/* SPDX-License-Identifier: MIT
 *
 * The same calls as single events and in blocks of a thread: both recordings have to tell
 * the same, thread by thread and in the order of time, merged and damaged, too.
 */
#include "record/merge.h"
#include "test.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "record/call_block.h"
#include "record/load.h"
#include "record/sums.h"
#include "record_model.h"

#define START_NS (104 * CP_NS_PER_S) /* a multiple of the unit */
#define THREADS 4u
#define FUNCTIONS 30u
#define DEEP 5000u

struct frame {
	uint64_t ts_ns, inner;
	uint32_t function;
};

struct thread {
	struct frame *frames;
	uint32_t depth;
	struct cp_call_entry *entries; /* not told yet */
	size_t count;
};

struct program {
	struct cp_record_writer *events, *blocks;
	struct thread threads[THREADS];
	uint64_t now_ns;
	uint32_t most; /* depth */
	struct cp_sums sums;
};

static const struct cp_call_costs costs = {
	.own_ps = 12300, .inner_ps = 41700, .own_doubt_ps = 900, .inner_doubt_ps = 2100
};

/* What is certain, and how much more it may be; or the middle, if that is right to a tenth. */
static void add_costs(struct cp_record_call *call, uint64_t inner)
{
	uint64_t least = (costs.own_ps + inner * costs.inner_ps) / 1000;
	uint64_t most = least + (costs.own_doubt_ps + inner * costs.inner_doubt_ps) / 1000;
	uint64_t lasted = call->duration_ns, half;

	least = least > lasted ? lasted : least;
	most = most > lasted ? lasted : most;
	half = (most - least) / 2;
	call->overhead_ns = least;
	if (10 * half <= lasted - least - half)
		call->overhead_ns += half;
	else
		call->uncertain_ns = most - least;
}

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((seed >> 33) % n);
}

static void make_tables(struct cp_record_writer *w)
{
	const struct cp_record_image image = { .path = "/bin/p", .build_id = "", .debug_path = "" };
	const struct cp_record_process process = {
		.pid = 7, .ns_pid = 7, .name = "p", .exe = "/bin/p", .start_ns = START_NS
	};
	uint32_t of = cp_record_image(w, 1, &image), p = cp_record_process(w, &process), i;

	for (i = 0; i < THREADS; i++) {
		const struct cp_record_thread thread = { .process = p,
							 .tid = 7 + (int32_t)i,
							 .ns_tid = 7 + (int32_t)i,
							 .name = "t",
							 .start_ns = START_NS };

		cp_record_thread(w, &thread);
	}
	for (i = 0; i < FUNCTIONS; i++)
		cp_record_location(w, of, 16 * i, 0);
}

/* ---- the program ---- */

static void tell(struct program *p, uint32_t t, struct cp_record_call call)
{
	struct thread *thread = &p->threads[t];
	const struct cp_call_entry entry = {
		.ts_ns = call.ts_ns,
		.duration_ns = call.duration_ns,
		.function = call.function,
		.depth = call.depth,
		.target = call.count ? call.count : call.target,
		.kind = call.kind,
		.flags = call.flags,
	};

	call.thread = t;
	call.stack = call.entered_by = CP_RECORD_NONE;
	cp_record_call(p->events, &call);
	thread->entries[thread->count++] = entry;
}

static void enter(struct program *p, uint32_t t)
{
	struct thread *thread = &p->threads[t];
	struct cp_record_call call = { .kind = CP_RECORD_ENTER,
				       .ts_ns = p->now_ns,
				       .function = below(4) ? below(6) : below(FUNCTIONS),
				       .depth = thread->depth,
				       .target = CP_RECORD_NONE };

	if (!below(40)) {
		call.flags = CPROF_INVOKER_SIGNAL << 2;
		call.count = 1 + below(64);
	} else if (!below(40)) {
		call.flags = CPROF_INVOKER_CODE << 2;
		call.target = below(FUNCTIONS);
	}
	thread->frames[thread->depth++] =
		(struct frame){ .ts_ns = p->now_ns, .function = call.function };
	tell(p, t, call);
}

/* The innermost call, or, as if coroutines took turns, another. */
static void leave(struct program *p, uint32_t t)
{
	static const uint8_t kinds[] = { CP_RECORD_LEAVE, CP_RECORD_LEAVE, CP_RECORD_LEAVE,
					 CP_RECORD_TAIL_CALL, CP_RECORD_UNWIND };
	struct thread *thread = &p->threads[t];
	uint32_t at = below(60) || thread->depth < 2 ? thread->depth - 1 : thread->depth - 2;
	struct frame *frame = &thread->frames[at];
	struct cp_record_call call = { .kind = kinds[below(5)],
				       .ts_ns = p->now_ns,
				       .function = frame->function,
				       .depth = at,
				       .duration_ns = p->now_ns - frame->ts_ns,
				       .target = CP_RECORD_NONE };
	bool deep = at >= CP_CALL_BLOCK_DEPTH;
	uint64_t inner = deep ? 0 : frame->inner;

	if (call.kind == CP_RECORD_TAIL_CALL && below(3))
		call.target = below(FUNCTIONS);
	if (call.kind == CP_RECORD_UNWIND && below(2))
		call.flags = CP_RECORD_CALL_ENDED;
	add_costs(&call, inner);
	thread->depth = at;
	if (at)
		thread->frames[at - 1].inner += inner + 1;
	tell(p, t, call);
}

static void flush(struct program *p, uint32_t t)
{
	struct thread *thread = &p->threads[t];

	cp_record_call_block(p->blocks, t, &costs, thread->entries, thread->count);
	CHECK_OK(cp_sums_block(&p->sums, 0, t, &costs, thread->entries, thread->count));
	thread->count = 0;
}

static void run(struct program *p, size_t events, uint32_t stride)
{
	uint32_t t;
	size_t i;

	for (i = 0; i < events; i++) {
		t = below(THREADS);
		p->now_ns += 8 * (below(20) ? below(30) : below(1000000));
		if (p->threads[t].depth < p->most && (!p->threads[t].depth || below(5) < 3))
			enter(p, t);
		else
			leave(p, t);
		if (!below(stride))
			flush(p, below(THREADS));
		if (!below(4 * stride)) {
			cp_record_flush(p->events);
			cp_record_flush(p->blocks);
		}
	}
	for (t = 0; t < THREADS; t++)
		flush(p, t);
}

/* `sums` may be NULL. */
static void record(uint64_t start, size_t events, uint32_t stride, uint32_t most, int fds[2],
		   struct cp_sums *sums)
{
	char *const command[] = { NULL };
	const struct cp_record_info info = { .holds = CP_RECORD_HAS_CALLS,
					     .cprof_version = "test",
					     .host = "",
					     .machine = "",
					     .kernel = "",
					     .boot_id = "",
					     .command = command,
					     .start_ns = START_NS };
	const struct cp_record_totals totals = { .end_ns = START_NS + 1 };
	struct program p = { .now_ns = START_NS, .most = most };
	uint32_t t;

	seed = start;
	fds[0] = scratch_file();
	fds[1] = scratch_file();
	CHECK_OK(cp_record_writer_create(dup(fds[0]), &info, NULL, &p.events));
	CHECK_OK(cp_record_writer_create(dup(fds[1]), &info, NULL, &p.blocks));
	make_tables(p.events);
	make_tables(p.blocks);
	for (t = 0; t < THREADS; t++) {
		p.threads[t].frames = calloc(most + 1, sizeof(*p.threads[t].frames));
		p.threads[t].entries = calloc(events + 1, sizeof(*p.threads[t].entries));
	}
	run(&p, events, stride);
	cp_record_totals(p.events, &totals);
	cp_record_totals(p.blocks, &totals);
	cp_record_writer_destroy(p.events, NULL);
	cp_record_writer_destroy(p.blocks, NULL);
	if (sums)
		*sums = p.sums;
	else
		cp_sums_deinit(&p.sums);
	for (t = 0; t < THREADS; t++) {
		free(p.threads[t].frames);
		free(p.threads[t].entries);
	}
}

/* ---- what is told of it ---- */

struct telling {
	const struct cp_record *r;
	struct cp_buf text[THREADS];
	uint64_t last_ns, count;
	bool in_order;
};

static bool add(void *ctx, const struct cp_record_call *call)
{
	struct telling *t = ctx;
	uint32_t thread = (uint32_t)cp_record_get_thread(t->r, call->thread)->tid - 7;
	const struct cp_record_location *target =
		call->target == CP_RECORD_NONE ? NULL : cp_record_get_location(t->r, call->target);

	t->in_order &= call->ts_ns >= t->last_ns;
	t->last_ns = call->ts_ns;
	t->count++;
	cp_buf_printf(&t->text[thread],
		      "%" PRIu64 " %u %u f%" PRIu64 " %u > %" PRId64 " %u %" PRIu64 " %" PRIu64
		      " %" PRIu64 "\n",
		      call->ts_ns, call->kind, call->flags,
		      cp_record_get_location(t->r, call->function)->address / 16, call->depth,
		      target ? (int64_t)target->address / 16 : -1, call->count, call->duration_ns,
		      call->overhead_ns, call->uncertain_ns);
	return true;
}

static struct telling told(struct cp_record *r)
{
	struct telling t = { .r = r, .in_order = true };

	CHECK_OK(cp_record_each_call(r, add, &t));
	CHECK_U64(t.count, cp_record_call_count(r));
	return t;
}

static void same_text(const char *a, const char *b)
{
	const char *from = a;

	if (!strcmp(a, b)) {
		CHECK(true);
		return;
	}
	for (; *a == *b; a++, b++)
		from = *a == '\n' ? a + 1 : from;
	CHECK(!"texts differ");
	fprintf(stderr, "%.*s\n", (int)strcspn(from, "\n"), from);
	fprintf(stderr, "%.*s\n", (int)strcspn(b - (a - from), "\n"), b - (a - from));
}

static void same(struct cp_record *x, struct cp_record *y)
{
	struct telling a = told(x), b = told(y);
	uint32_t t;

	CHECK_U64(a.count, b.count);
	CHECK(b.in_order);
	for (t = 0; t < THREADS; t++) {
		same_text(a.text[t].bytes ? a.text[t].bytes : "",
			  b.text[t].bytes ? b.text[t].bytes : "");
		cp_buf_free(&a.text[t]);
		cp_buf_free(&b.text[t]);
	}
}

static bool add_up(void *ctx, const struct cp_record_call *call)
{
	CHECK_OK(cp_sums_event(ctx, 0, call));
	return true;
}

/* What blocks add up to is what the events that are told of them do. Calls deeper than
 * blocks expect have other overheads. */
static void same_sums(struct cp_record *r, struct cp_sums *got, bool deep)
{
	struct cp_sums want = { 0 };
	size_t i, k;

	CHECK_OK(cp_record_each_call(r, add_up, &want));
	CHECK_OK(cp_sums_end(&want, START_NS + 1));
	CHECK_OK(cp_sums_end(got, START_NS + 1));
	CHECK_U64(got->edges.count, want.edges.count);
	for (i = 0; !deep && i < want.edges.count; i++) {
		const struct cp_sums_edge *a = &want.edges.items[i], *b = NULL;

		for (k = 0; k < got->edges.count; k++)
			if (got->edges.items[k].caller == a->caller &&
			    got->edges.items[k].callee == a->callee)
				b = &got->edges.items[k];
		CHECK(b && b->sum.calls == a->sum.calls && b->sum.open == a->sum.open &&
		      b->sum.whole.likely_ns == a->sum.whole.likely_ns &&
		      b->sum.self.likely_ns == a->sum.self.likely_ns &&
		      b->sum.overhead_ns == a->sum.overhead_ns &&
		      b->sum.unwound == a->sum.unwound && b->sum.least.ns == a->sum.least.ns &&
		      b->sum.most.ns == a->sum.most.ns);
	}
	cp_sums_deinit(&want);
	cp_sums_deinit(got);
}

static void test_same(uint64_t start, size_t events, uint32_t stride, uint32_t most)
{
	struct cp_record *r[2], *merged[2];
	struct cp_sums sums;
	int fds[2], to[2], i;

	record(start, events, stride, most, fds, &sums);
	for (i = 0; i < 2; i++) {
		r[i] = load_file(fds[i]);
		CHECK_U64(cp_record_damage(r[i])->bad_chunks + cp_record_damage(r[i])->lost, 0);
		CHECK_U64(cp_record_final(r[i])->calls, events);
	}
	same(r[0], r[1]);
	same_sums(r[1], &sums, most > CP_CALL_BLOCK_DEPTH);
	for (i = 0; i < 2; i++) {
		to[i] = scratch_file();
		CHECK_OK(cp_record_merge(&r[i], 1, dup(to[i])));
		merged[i] = load_file(to[i]);
	}
	same(merged[0], merged[1]);
	for (i = 0; i < 2; i++) {
		cp_record_destroy(r[i]);
		cp_record_destroy(merged[i]);
		close(fds[i]);
		close(to[i]);
	}
}

/* Without some bytes, the rest is told, and that something is missing. */
static void test_damaged(void)
{
	struct cp_record *r;
	struct telling t;
	struct cp_buf bytes;
	int fds[2], i;

	record(99, 20000, 300, 40, fds, NULL);
	bytes = file_bytes(fds[1]);
	for (i = 1; i < 40; i++) {
		char *at = bytes.bytes + bytes.size * (size_t)i / 40, was = *at;

		*at = (char)(was + 1);
		CHECK_OK(cp_record_load_bytes(bytes.bytes, bytes.size, "damaged", &r));
		t = told(r);
		CHECK(t.in_order && cp_record_damage(r)->bad_chunks);
		CHECK(t.count < 20000 &&
		      t.count + cp_record_damage(r)->lost + cp_record_damage(r)->dropped >= 20000);
		for (uint32_t n = 0; n < THREADS; n++)
			cp_buf_free(&t.text[n]);
		cp_record_destroy(r);
		*at = was;
	}
	cp_buf_free(&bytes);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	uint64_t i;

	for (i = 1; i <= 8; i++)
		test_same(i, 20000, (uint32_t)(40 << i), 4u << i);
	test_same(20, 200000, 200000, 50); /* blocks that are full */
	test_same(21, 60000, 20000, DEEP);
	test_damaged();
	TEST_MAIN_END;
}
