/* SPDX-License-Identifier: MIT
 *
 * How large recordings are, in bytes a sample, and that they stay so small.
 * The programs are made up, after real ones: a tree of calls in which a few
 * paths are hot, ticks that come some microseconds early or late.
 */
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/map.h"
#include "record/record.h"
#include "record_model.h"
#include "test.h"

struct scenario {
	const char *what;
	uint32_t threads, hz, seconds;
	bool idle; /* threads hardly ever run: the same stack again and again */
	uint32_t resolution_ns;
	double limit; /* bytes a sample, all in all */
};

static uint64_t state;

static uint64_t pick(uint64_t below)
{
	state += UINT64_C(0x9e3779b97f4a7c15);
	return cp_hash_u64(state) % below;
}

/* Small numbers are likelier. */
static uint64_t pick_hot(uint64_t below)
{
	uint64_t n = pick(below), m = pick(below);

	n = n < m ? n : m;
	m = pick(below);
	return n < m ? n : m;
}

static void resolve(void *ctx, uint64_t key, uint64_t address, struct cp_record_names *names)
{
	struct cp_record_frame f = { .file = "src/parser/expression.cc", .line = address % 700 };
	char name[64];

	(void)ctx, (void)key;
	snprintf(name, sizeof(name), "ns::Parser::parse_%llx(Token const&, int)",
		 (unsigned long long)(address >> 9));
	f.function = f.linkage = name;
	cp_record_name_frame(names, &f);
}

/* One thread's stack: some frames leave, others come. */
struct stack {
	uint64_t addresses[40]; /* root first */
	size_t depth;
};

static void descend(struct stack *s)
{
	uint64_t at;

	s->depth -= s->depth ? pick_hot(s->depth) : 0;
	at = s->depth ? s->addresses[s->depth - 1] : 0x400000;
	while (s->depth < 40 && (s->depth < 8 || pick(8))) {
		/* the callee, and where it is now */
		at = 0x400000 + cp_hash_u64(at / 512 * 8 + pick_hot(5)) % 1500 * 512;
		s->addresses[s->depth++] = at + pick_hot(6) * 20;
	}
}

/* Three of four are one that was there before, as in lua5.4 sorting strings
 * (24,415 samples, 6,399 stacks). */
static void step(struct stack *s)
{
	static struct stack seen[1024];
	struct stack *known = &seen[pick_hot(CP_ARRAY_SIZE(seen))];

	if (known->depth && pick(4)) {
		*s = *known;
		return;
	}
	descend(s);
	*known = *s;
}

static uint32_t write_stack(struct cp_record_writer *w, uint32_t image, const struct stack *s)
{
	uint32_t locations[40];
	size_t i;

	for (i = 0; i < s->depth; i++)
		locations[i] = cp_record_location(w, image, s->addresses[s->depth - 1 - i], 0);
	return cp_record_stack(w, locations, s->depth, 0);
}

static void tick(struct cp_record_writer *w, const struct scenario *sc, uint64_t now,
		 uint32_t image, const uint32_t *threads, struct stack *stacks, uint64_t *last)
{
	struct cp_record_sample s = { .count = 1 };
	uint32_t i;

	for (i = 0; i < sc->threads; i++) {
		s.ts_ns = now + i * (sc->idle ? 1700 : 11000) + pick(700);
		s.thread = threads[i];
		if (!sc->idle || !last[i] || !pick(200))
			step(&stacks[i]);
		else
			s.flags = CP_RECORD_SAMPLE_REPEAT | CP_RECORD_SAMPLE_BLOCKED;
		s.stack = write_stack(w, image, &stacks[i]);
		s.weight_ns = last[i] ? s.ts_ns - last[i] - (sc->idle ? 0 : pick(3000)) : 1000000;
		last[i] = s.ts_ns;
		cp_record_sample(w, &s);
	}
}

static void run(const struct scenario *sc, int fd)
{
	struct cp_record_process p = { .pid = 100, .name = "program", .exe = "/usr/bin/program" };
	struct cp_record_thread t = { .tid = 100, .name = "worker" };
	struct cp_record_image image = { "/usr/bin/program", "00112233445566778899aabb", "" };
	struct cp_record_resolver resolver = { resolve, NULL };
	uint64_t now = 123456789012345, period = CP_NS_PER_S / sc->hz, i, *last;
	uint64_t bytes = 0, flushed = now, ticks = (uint64_t)sc->hz * sc->seconds;
	struct stack *stacks = calloc(sc->threads, sizeof(*stacks));
	struct cp_record_totals totals = { .stops = 1 };
	uint32_t *threads = calloc(sc->threads, sizeof(*threads)), number;
	struct cp_record_info info = model_info;
	struct cp_record_writer *w;

	info.resolution_ns = sc->resolution_ns;
	last = calloc(sc->threads, sizeof(*last));
	CHECK_OK(cp_record_writer_create(fd, &info, &resolver, &w));
	t.process = cp_record_process(w, &p);
	for (i = 0; i < sc->threads; i++, t.tid++)
		threads[i] = cp_record_thread(w, &t);
	number = cp_record_image(w, 1, &image);
	for (i = 0; i < ticks; i++, now += period) {
		tick(w, sc, now + pick(60000), number, threads, stacks, last);
		if (now - flushed < CP_NS_PER_S)
			continue;
		totals.samples = i * sc->threads;
		totals.stopped_ns += pick(10000000);
		totals.stops = i * 3;
		totals.cpu_ns = now;
		totals.tracer_cpu_ns = now / 1000;
		cp_record_totals(w, &totals);
		number = cp_record_image(w, 1, &image);
		cp_record_flush(w);
		flushed = now;
		while (cp_record_bytes(w) == bytes) /* a chunk each second, as live */
			sched_yield();
		bytes = cp_record_bytes(w);
	}
	cp_record_writer_destroy(w, NULL);
	free(stacks);
	free(threads);
	free(last);
}

int main(void)
{
	static const struct scenario scenarios[] = {
		{ "1 busy thread, 99 Hz, 5 min", 1, 99, 300, false, 1, 17 },
		{ "the same in microseconds", 1, 99, 300, false, 1000, 14 },
		{ "1 busy thread, 1 kHz, 1 min", 1, 1000, 60, false, 1, 13.5 },
		{ "the same in microseconds", 1, 1000, 60, false, 1000, 10.2 },
		{ "8 busy threads, 1 kHz, 10 s", 8, 1000, 10, false, 1000, 8.5 },
		{ "1,000 idle threads, 100 Hz, 5 s, wall", 1000, 100, 5, true, 1, 2.5 },
		{ "the same in microseconds", 1000, 100, 5, true, 1000, 0.8 },
	};
	struct cp_record *r;
	struct stat st;
	size_t i;
	double each;

	for (i = 0; i < CP_ARRAY_SIZE(scenarios); i++) {
		int fd = scratch_file();

		state = i;
		run(&scenarios[i], dup(fd));
		r = load_file(fd);
		CHECK(r && !fstat(fd, &st));
		each = (double)st.st_size / (double)cp_record_sample_count(r);
		printf("%-40s %7zu samples %6zu stacks %8lld bytes: %.2f a sample\n",
		       scenarios[i].what, cp_record_sample_count(r), cp_record_stack_count(r),
		       (long long)st.st_size, each);
		CHECK(each < scenarios[i].limit);
		cp_record_destroy(r);
		close(fd);
	}
	TEST_MAIN_END;
}
