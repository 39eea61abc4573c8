/* SPDX-License-Identifier: MIT
 *
 * The same events into two recordings: one keeps them, the other what they add up to.
 * Both have to say the same of functions, callers and threads.
 */
#include "record/merge.h"
#include "test.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "record/sums.h"
#include "report/events/calls.h"
#include "report/profile/create.h"

#define START_NS (100 * CP_NS_PER_S)
#define THREADS 5u
#define FUNCTIONS 12u
#define DEPTH 40u
#define WIDTH 0.0313 /* of a bucket */

/* A call that the program is in. */
struct frame {
	uint32_t function;
	uint64_t ts_ns;
};

struct program {
	struct cp_record_writer *events, *summary;
	struct cp_sums sums;
	uint32_t threads[2][THREADS], functions[2][FUNCTIONS], processes[2][2];
	struct frame stacks[THREADS][DEPTH];
	uint32_t depth[THREADS];
	uint64_t now_ns, count;
};

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((seed >> 33) % n);
}

/* ---- the program ---- */

static void resolve(void *ctx, uint64_t key, uint64_t address, struct cp_record_names *names)
{
	char name[32];
	const struct cp_record_frame frame = { .function = name };

	(void)ctx, (void)key;
	snprintf(name, sizeof(name), "f%u", (unsigned)address / 16);
	cp_record_name_frame(names, &frame);
}

static void make_tables(struct program *p, unsigned side, struct cp_record_writer *w)
{
	struct cp_record_image image = { .path = "/bin/p", .build_id = "", .debug_path = "" };
	uint32_t i, of = cp_record_image(w, 1, &image);

	for (i = 0; i < 2; i++) {
		struct cp_record_process process = { .pid = 7 + (int32_t)i,
						     .ns_pid = 7 + (int32_t)i,
						     .name = "p",
						     .exe = "/bin/p",
						     .start_ns = START_NS };

		p->processes[side][i] = cp_record_process(w, &process);
	}
	for (i = 0; i < THREADS; i++) {
		struct cp_record_thread thread = { .process = p->processes[side][i % 2],
						   .tid = 7 + (int32_t)i,
						   .ns_tid = 7 + (int32_t)i,
						   .name = "t",
						   .start_ns = START_NS };

		p->threads[side][i] = cp_record_thread(w, &thread);
	}
	for (i = 0; i < FUNCTIONS; i++) /* other numbers there, and two of the same name */
		p->functions[side][side ? i : FUNCTIONS - 1 - i] =
			cp_record_location(w, of, 16 * (side ? i : FUNCTIONS - 1 - i), 0);
}

static void begin(struct program *p, int fds[2])
{
	char *const command[] = { NULL };
	struct cp_record_info info = { .holds = CP_RECORD_HAS_CALLS,
				       .cprof_version = "test",
				       .host = "",
				       .machine = "",
				       .kernel = "",
				       .boot_id = "",
				       .command = command,
				       .start_ns = START_NS };
	const struct cp_record_resolver resolver = { .resolve = resolve };

	*p = (struct program){ .now_ns = START_NS + 5, .sums.spans.start_ns = START_NS };
	fds[0] = memfd_create("events", 0);
	fds[1] = memfd_create("summary", 0);
	CHECK_OK(cp_record_writer_create(dup(fds[0]), &info, &resolver, &p->events));
	info.holds = CP_RECORD_HAS_CALL_SUMS;
	CHECK_OK(cp_record_writer_create(dup(fds[1]), &info, &resolver, &p->summary));
	make_tables(p, 0, p->events);
	make_tables(p, 1, p->summary);
}

static void tell(struct program *p, struct cp_record_call call, uint32_t thread, uint32_t function)
{
	call.target = call.stack = call.entered_by = CP_RECORD_NONE;
	call.thread = p->threads[0][thread];
	call.function = p->functions[0][function];
	cp_record_call(p->events, &call);
	call.thread = p->threads[1][thread];
	call.function = p->functions[1][function];
	CHECK_OK(cp_sums_event(&p->sums, p->processes[1][thread % 2], &call));
	if (call.kind == CP_RECORD_DISARMED)
		cp_record_call(p->summary, &call);
	p->count++;
}

static void enter(struct program *p, uint32_t thread, unsigned kind)
{
	uint32_t depth = p->depth[thread];
	struct cp_record_call call = { .kind = (uint8_t)kind, .ts_ns = p->now_ns, .depth = depth };
	uint32_t function =
		below(3) || !depth ? below(FUNCTIONS) : p->stacks[thread][depth - 1].function;

	p->stacks[thread][depth] = (struct frame){ function, p->now_ns };
	p->depth[thread]++;
	tell(p, call, thread, function);
}

/* The innermost one, or, as if coroutines took turns, another. */
static void leave(struct program *p, uint32_t thread)
{
	static const uint8_t kinds[] = { CP_RECORD_LEAVE, CP_RECORD_LEAVE, CP_RECORD_LEAVE,
					 CP_RECORD_TAIL_CALL, CP_RECORD_UNWIND };
	uint32_t depth = p->depth[thread] - 1, at = below(50) ? depth : below(depth + 1);
	struct frame frame = p->stacks[thread][at];
	struct cp_record_call call = { .kind = kinds[below(5)],
				       .ts_ns = p->now_ns,
				       .depth = at,
				       .duration_ns = p->now_ns - frame.ts_ns };

	if (call.kind == CP_RECORD_UNWIND)
		call.flags = below(2) ? CP_RECORD_CALL_ENDED : 0;
	call.overhead_ns = below(4) ? call.duration_ns / (1 + below(9)) : call.duration_ns + 9;
	call.uncertain_ns = below(3) ? 0 : below(4000);
	call.cpu_ns = call.duration_ns / 2;
	p->depth[thread] = at;
	tell(p, call, thread, frame.function);
}

static void step(struct program *p)
{
	uint32_t thread = below(THREADS), *depth = &p->depth[thread];

	p->now_ns += below(8) ? below(3000) : below(3000000);
	if (p->count % 997 == 500) {
		struct cp_record_call call = { .kind = CP_RECORD_DISARMED,
					       .ts_ns = p->now_ns,
					       .count = 5000 };

		tell(p, call, thread, below(FUNCTIONS));
	} else if (*depth < DEPTH && (!*depth || below(2))) {
		enter(p, thread, below(100) ? CP_RECORD_ENTER : CP_RECORD_INHERITED);
	} else {
		leave(p, thread);
	}
}

static void end(struct program *p, bool over)
{
	struct cp_record_totals totals = { .end_ns = p->now_ns + 1000 };
	size_t bytes;

	if (over) { /* what was open when cprof began to leave is no longer for that */
		totals.left_ns = p->now_ns + 100;
		totals.end_ns += 600 * CP_NS_PER_MS;
		CHECK_OK(cp_sums_end(&p->sums, totals.left_ns - START_NS));
	}
	CHECK_OK(cp_sums_write(&p->sums, totals.end_ns - START_NS, p->summary, &bytes));
	CHECK(bytes > 0);
	cp_record_totals(p->events, &totals);
	cp_record_totals(p->summary, &totals);
	cp_record_writer_destroy(p->events, NULL);
	cp_record_writer_destroy(p->summary, NULL);
	cp_sums_deinit(&p->sums);
}

/* ---- what is said of it ---- */

struct told {
	struct cp_record *record;
	struct cp_profile *profile;
	struct cp_calls calls;
};

static struct told load(int fd, int32_t pid)
{
	const struct cp_profile_filter filter = { .pid = pid };
	struct told t = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_OK(cp_record_load(path, &t.record));
	CHECK_OK(cp_profile_create(t.record, &filter, &t.profile));
	CHECK_OK(cp_calls_build(t.profile, &t.calls));
	return t;
}

static void unload(struct told *t)
{
	cp_calls_deinit(&t->calls);
	cp_profile_destroy(t->profile);
	cp_record_destroy(t->record);
}

static bool near(double a, double b, double share)
{
	return fabs(a - b) <= share * fmax(fabs(a), fabs(b)) + 1;
}

static void same_sum(const struct cp_net_sum *a, const struct cp_net_sum *b)
{
	CHECK_U64((uint64_t)a->likely_ns, (uint64_t)b->likely_ns);
	CHECK(near(a->room, b->room, 1e-6));
}

static void same_time(struct cp_net_time a, struct cp_net_time b, double share)
{
	CHECK(near((double)a.ns, (double)b.ns, share));
	CHECK(a.at_most == b.at_most || share > 0.01);
}

static void same_calls(const struct cp_call_sum *a, const struct cp_call_sum *b)
{
	CHECK_U64(a->calls, b->calls);
	CHECK_U64(a->inherited, b->inherited);
	CHECK_U64(a->unwound, b->unwound);
	CHECK_U64(a->tail_calls, b->tail_calls);
	CHECK_U64(a->open, b->open);
	CHECK_U64(a->overhead_ns, b->overhead_ns);
	CHECK_U64(a->cpu_ns, b->cpu_ns);
	CHECK_U64(cp_call_sum_over(a), cp_call_sum_over(b));
	CHECK_U64(a->least.ns, b->least.ns);
	CHECK_U64(a->most.ns, b->most.ns);
	CHECK(a->bounds == b->bounds);
	same_sum(&a->whole, &b->whole);
	same_sum(&a->self, &b->self);
}

static const char *name_of(const struct told *t, uint32_t function)
{
	return function == CP_RECORD_NONE ? "" : t->profile->functions.items[function].name;
}

static const struct cp_call_edge *edge_like(const struct told *t, const char *caller,
					    const char *callee)
{
	const struct cp_call_edge *e;

	cp_vec_for_each(&t->calls.edges, e)
		if (!strcmp(name_of(t, e->caller), caller) &&
		    !strcmp(name_of(t, e->callee), callee))
			return e;
	return NULL;
}

/* What is shown of a function's calls agrees, bounds or not. */
static void is_consistent(const struct cp_called *f)
{
	uint64_t least = cp_called_quantile(f, 0).ns, most = cp_called_quantile(f, 1).ns;

	if (!cp_call_sum_over(&f->sum))
		return;
	CHECK(least <= f->average.ns && f->average.ns <= most);
	CHECK(f->self.ns <= f->total.ns);
}

static void same_functions(const struct told *a, const struct told *b)
{
	static const double shares[] = { 0, 0.1, 0.5, 0.9, 0.99, 0.999, 1 };
	const struct cp_called *f, *other;
	uint32_t number;
	size_t i;

	CHECK_U64(a->calls.functions.count, b->calls.functions.count);
	cp_vec_for_each(&a->calls.functions, f) {
		CHECK_OK(cp_calls_find(&b->calls, name_of(a, f->function), &number));
		other = cp_calls_of(&b->calls, number);
		same_calls(&f->sum, &other->sum);
		is_consistent(f);
		is_consistent(other);
		same_time(f->total, other->total, 1e-6);
		same_time(f->self, other->self, 1e-6);
		CHECK(f->disarmed == other->disarmed && f->starved == other->starved);
		CHECK(!other->durations.count && f->durations.count == cp_call_sum_over(&f->sum));
		for (i = 0; i < sizeof(shares) / sizeof(*shares); i++)
			same_time(cp_called_quantile(f, shares[i]),
				  cp_called_quantile(other, shares[i]), WIDTH);
	}
}

static void same(int fds[2], int32_t pid)
{
	struct told a = load(fds[0], pid), b = load(fds[1], pid);
	const struct cp_call_edge *e, *other;
	size_t i;

	CHECK_U64(a.calls.calls, b.calls.calls);
	CHECK_U64(cp_record_call_count(a.record),
		  cp_record_summed_count(b.record) + cp_record_call_count(b.record));
	CHECK(cp_record_call_count(b.record) < 10); /* no longer traced */
	CHECK_U64(cp_record_final(a.record)->calls, cp_record_final(b.record)->calls);
	CHECK(a.calls.upper_bound == b.calls.upper_bound);
	same_time(a.calls.outermost, b.calls.outermost, 1e-6);
	same_functions(&a, &b);
	CHECK_U64(a.calls.edges.count, b.calls.edges.count);
	cp_vec_for_each(&a.calls.edges, e) {
		other = edge_like(&b, name_of(&a, e->caller), name_of(&a, e->callee));
		CHECK(other);
		if (other)
			same_calls(&e->sum, &other->sum);
	}
	CHECK_U64(a.calls.threads.count, b.calls.threads.count);
	for (i = 0; i < a.calls.threads.count && i < b.calls.threads.count; i++) {
		CHECK_U64(a.calls.threads.items[i].calls, b.calls.threads.items[i].calls);
		same_sum(&a.calls.threads.items[i].sum, &b.calls.threads.items[i].sum);
	}
	unload(&a);
	unload(&b);
}

/* ---- */

static void test_same(uint64_t start, uint32_t events, uint32_t beat, bool over)
{
	struct program p;
	size_t bytes;
	int fds[2];
	uint32_t i;

	seed = start;
	begin(&p, fds);
	for (i = 0; i < events; i++) {
		step(&p);
		if (i % beat != beat - 1)
			continue;
		CHECK_OK(cp_sums_write(&p.sums, p.now_ns - START_NS, p.summary, &bytes));
		cp_record_flush(p.summary);
	}
	end(&p, over);
	same(fds, 0);
	same(fds, 7);
	close(fds[0]);
	close(fds[1]);
}

static void test_spread(void)
{
	struct cp_spread s = { 0 };
	uint32_t bucket, i;

	for (bucket = 0; bucket < CP_SPREAD_BUCKETS; bucket++) {
		uint64_t low = cp_spread_low(bucket), high = cp_spread_high(bucket);

		CHECK(cp_spread_bucket(low) == bucket && cp_spread_bucket(high) == bucket);
		CHECK(!bucket || cp_spread_high(bucket - 1) == low - 1);
		CHECK((double)(high - low) <= (double)low / 32);
	}
	CHECK_U64(cp_spread_high(CP_SPREAD_BUCKETS - 1), UINT64_MAX);
	for (i = 0; i < 1000; i++)
		CHECK(cp_spread_add(&s, i * 7919 % CP_SPREAD_BUCKETS, i));
	for (i = 0; i < 1000; i++)
		CHECK_U64(cp_spread_count(&s, i * 7919 % CP_SPREAD_BUCKETS), i);
	CHECK_U64(s.total, 999 * 1000 / 2);
	cp_spread_free(&s);
}

/* Merged with itself and with another it is what both are. */
static void test_merged(void)
{
	struct program p;
	struct cp_record *inputs[3];
	struct told all, one;
	int fds[2], more[2], merged = memfd_create("merged", 0);
	char path[64];
	size_t i;

	for (i = 0; i < 2; i++) {
		int *to = i ? more : fds;

		seed = 40 + i;
		begin(&p, to);
		while (p.count < 2000)
			step(&p);
		end(&p, i);
	}
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", i ? more[2 - i] : fds[1]);
		CHECK_OK(cp_record_load(path, &inputs[i]));
	}
	CHECK_OK(cp_record_merge(inputs, 3, dup(merged)));
	for (i = 0; i < 3; i++)
		cp_record_destroy(inputs[i]);
	all = load(merged, 0);
	one = load(fds[1], 0);
	CHECK_U64(cp_record_summed_count(all.record) + cp_record_call_count(all.record), 6000);
	for (i = 0; i < 3; i++) {
		all.calls.calls -= one.calls.calls;
		unload(&one);
		one = load(i ? more[0] : more[1], 0);
	}
	CHECK_U64(all.calls.calls, 0);
	unload(&one);
	close(fds[0]);
	close(fds[1]);
	close(more[0]);
	close(more[1]);
	close(merged);
	unload(&all);
}

int main(void)
{
	uint64_t i;

	test_spread();
	for (i = 1; i <= 6; i++)
		test_same(i, 3000, 250 * (uint32_t)i, i % 2);
	test_same(77, 1, 1, false);
	test_merged();
	TEST_MAIN_END;
}
