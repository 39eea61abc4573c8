/* SPDX-License-Identifier: MIT
 *
 * Recordings made to break their reader. Each is a well-formed file around a
 * payload that lies.
 */
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "record/kept.h"
#include "record/load.h"
#include "record/reader.h"
#include "record/sink.h"
#include "record/summed_samples.h"
#include "record_model.h"
#include "test.h"

struct file {
	struct cp_record_sink sink;
	struct cp_buf payload, body;
	int fd;
};

static void begin(struct file *f)
{
	struct cp_record_preamble p = { .major = CP_RECORD_MAJOR, .minor = CP_RECORD_MINOR };

	*f = (struct file){ .fd = scratch_file() };
	CHECK_OK(cp_record_sink_init(&f->sink, dup(f->fd)));
	cp_record_sink_preamble(&f->sink, &p);
}

/* A section with these rows: each a number and `width` values. */
static void table(struct file *f, uint64_t tag, const uint64_t *rows, size_t count, size_t width)
{
	uint64_t *column = calloc(count + 1, sizeof(*column));
	size_t i, k;

	cp_buf_clear(&f->body);
	cp_buf_uleb(&f->body, count);
	for (k = 0; k <= width; k++) {
		for (i = 0; i < count; i++)
			column[i] = rows[i * (width + 1) + k];
		cp_record_put_column(&f->body, column, count);
	}
	cp_record_put_field(&f->payload, tag, f->body.bytes, f->body.size);
	free(column);
}

#define ROWS(f, tag, width, ...) \
	do { \
		uint64_t rows_[] = { __VA_ARGS__ }; \
		table((f), (tag), rows_, CP_ARRAY_SIZE(rows_) / ((width) + 1), (width)); \
	} while (0)

/* `count` samples of thread `thread` with stacks `first`, first + 1, ... */
static void samples(struct file *f, uint64_t thread, uint64_t first, size_t count)
{
	uint64_t *column = calloc(count + 1, sizeof(*column));
	size_t i, k;

	cp_buf_clear(&f->body);
	cp_buf_uleb(&f->body, 0);
	cp_buf_uleb(&f->body, 0);
	cp_buf_uleb(&f->body, count);
	for (k = 0; k < 6; k++) {
		for (i = 0; i < count; i++)
			column[i] = k == 1 ? thread : k == 2 ? first + i + 1 : k == 3 ? 1 : 0;
		if (k == 5)
			cp_buf_u8(&f->body, CP_RECORD_WEIGHT_PLAIN);
		cp_record_put_column(&f->body, column, count);
	}
	cp_record_put_field(&f->payload, CP_RECORD_SAMPLES, f->body.bytes, f->body.size);
	free(column);
}

static void chunk(struct file *f)
{
	cp_record_sink_chunk(&f->sink, CP_RECORD_CHUNK_DATA, &f->payload);
	cp_buf_clear(&f->payload);
}

static struct cp_record *end(struct file *f)
{
	struct cp_record *r;

	if (f->payload.size)
		chunk(f);
	cp_record_sink_chunk(&f->sink, CP_RECORD_CHUNK_END, &f->payload);
	CHECK(!cp_record_sink_failed(&f->sink));
	cp_record_sink_deinit(&f->sink);
	r = load_file(f->fd);
	CHECK(r != NULL);
	close(f->fd);
	cp_buf_free(&f->payload);
	cp_buf_free(&f->body);
	return r;
}

/* A process, its thread, and the rest of what a sample needs. */
static void basics(struct file *f)
{
	ROWS(f, CP_RECORD_PROCESSES, 6, 0, 1, 1, 1, 0, 0, 0);
	ROWS(f, CP_RECORD_THREADS, 5, 0, 1, 1, 1, 0, 0);
	ROWS(f, CP_RECORD_LOCATIONS, 5, 0, 0, 0x1000, 0, 0, 0);
}

/* What `count` samples of a thread and a stack are said to add up to. */
static void sums(struct file *f, uint64_t count, uint64_t thread, uint64_t stack)
{
	const uint64_t row[] = { thread, stack + 1, 0, count, 77 };
	size_t i;

	cp_buf_clear(&f->body);
	cp_buf_uleb(&f->body, count);
	cp_buf_uleb(&f->body, 99);
	cp_buf_uleb(&f->body, 1);
	for (i = 0; i < CP_ARRAY_SIZE(row); i++)
		cp_record_put_column(&f->body, &row[i], 1);
	cp_record_put_field(&f->payload, CP_RECORD_SAMPLE_SUMS, f->body.bytes, f->body.size);
}

/* Makes the file a large one. */
static void pad(struct file *f)
{
	size_t size = CP_RECORD_LARGE + 1, i;
	uint8_t *bytes = malloc(size);
	uint64_t x = 1;

	for (i = 0; i < size; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		bytes[i] = (uint8_t)(x >> 56);
	}
	cp_record_put_field(&f->payload, 9999, bytes, size);
	free(bytes);
	chunk(f);
}

static bool count_ticks(void *ctx, const struct cp_record_sample_sum *sum)
{
	*(uint64_t *)ctx += sum->count;
	return true;
}

/* Sums of what is not there, of other samples than those that follow, of none that do. */
static void test_lying_sums(void)
{
	static const struct {
		uint64_t count, thread, stack, said_count, said_thread, said_stack, known, ticks;
	} cases[] = {
		{ 3, 0, 0, 3, 0, 0, 3, 3 }, /* stacks 0, 1, 2: two of them are none */
		{ 1, 0, 0, 1, 0, 5, 1, 1 },
		{ 1, 0, 0, 1, 1, 0, 1, 1 },
		{ 1, 0, 0, 1, UINT64_MAX, UINT64_MAX, 1, 1 },
		{ 1, 0, 0, 2, 0, 0, 1, 1 },
		{ 1, 1, 0, 1, 0, 0, 1, 1 },
	};
	struct cp_error *err;
	struct cp_record *r;
	struct file f;
	uint64_t ticks;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(cases); i++) {
		begin(&f);
		basics(&f);
		ROWS(&f, CP_RECORD_NODES, 2, 0, 0, 1);
		ROWS(&f, CP_RECORD_STACKS, 2, 0, 1, 0);
		pad(&f);
		sums(&f, cases[i].said_count, cases[i].said_thread, cases[i].said_stack);
		samples(&f, cases[i].thread, cases[i].stack, cases[i].count);
		sums(&f, 1, 0, 0);
		r = end(&f);
		CHECK(r->file != NULL);
		CHECK_U64(cp_record_sample_count(r), cases[i].known);
		ticks = 0;
		CHECK_OK(cp_record_each_sample_sum(r, count_ticks, &ticks));
		CHECK_U64(ticks, cases[i].ticks);
		/* Who needs them themselves finds out. */
		err = cp_record_need_samples(r);
		CHECK((err && err->code == CP_ERR_FORMAT) == (i == 0 || i == 5));
		CHECK(!err == (cp_record_samples(r) != NULL));
		cp_error_free(err);
		cp_record_destroy(r);
	}
}

static void test_references(void)
{
	struct file f;
	struct cp_record *r;

	begin(&f);
	basics(&f);
	/* No process; one that is not there; a location of a missing image. */
	ROWS(&f, CP_RECORD_THREADS, 5, 1, 0, 2, 2, 0, 0, 2, 99, 2, 2, 0, 0);
	ROWS(&f, CP_RECORD_LOCATIONS, 5, 1, 7, 0x1000, 0, 0, 0);
	/* Good; itself; a later one; a bad location; none; the last number. */
	ROWS(&f, CP_RECORD_NODES, 2, 0, 0, 1, 1, 2, 1, 2, 4, 1, 3, 0, 2, 4, 0, 0, UINT64_MAX,
	     UINT64_MAX, 1);
	ROWS(&f, CP_RECORD_STACKS, 2, 0, 1, 0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5, 0);
	samples(&f, 0, 0, 5);
	samples(&f, 1, 0, 1);
	samples(&f, 2, 0, 1);
	samples(&f, UINT64_MAX, 0, 1);
	samples(&f, CP_RECORD_NONE, 0, 1);
	samples(&f, 0, UINT64_MAX - 2, 3);
	samples(&f, 0, CP_RECORD_NONE, 1);
	r = end(&f);
	CHECK_U64(cp_record_sample_count(r), 1);
	CHECK_U64(cp_record_damage(r)->dropped, 4 + 4 + 3 + 1);
	CHECK_U64(cp_record_thread_count(r), 1);
	cp_record_destroy(r);
}

/* Of a process earlier versions wrote six columns; the seventh is what it was started
 * as. Of one program by two names neither counts. */
static void test_started_as(void)
{
	static const char texts[] = "/bin/tool\0/bin/other\0/usr/bin/t1\0/usr/bin/t2";
	static const uint64_t numbers[] = { 0, 1, 2, 3 };
	struct file f;
	struct cp_record *r;

	begin(&f);
	cp_buf_uleb(&f.body, 4);
	cp_record_put_column(&f.body, numbers, 4);
	cp_buf_add(&f.body, texts, sizeof(texts));
	cp_record_put_field(&f.payload, CP_RECORD_STRINGS, f.body.bytes, f.body.size);
	ROWS(&f, CP_RECORD_IMAGES, 3, 0, 1, 0, 0, 1, 2, 0, 0);
	ROWS(&f, CP_RECORD_PROCESSES, 6, 0, 1, 1, 0, 1, 1, 5);
	ROWS(&f, CP_RECORD_PROCESSES, 7, 1, 2, 2, 0, 1, 1, 5, 3, 2, 3, 3, 0, 1, 2, 5, 3, 3, 4, 4, 0,
	     1, 2, 5, 4, 4, 5, 5, 0, 1, 2, 5, 99);
	r = end(&f);
	CHECK_U64(cp_record_process_count(r), 4); /* of the last a string is missing */
	CHECK_STR(cp_record_get_process(r, 0)->started_as, "");
	CHECK_U64(cp_record_get_process(r, 0)->start_ns, 5);
	CHECK_STR(cp_record_get_process(r, 1)->started_as, "/usr/bin/t1");
	CHECK_STR(cp_record_image_name(cp_record_get_image(r, 0)), "t1");
	CHECK_STR(cp_record_image_name(cp_record_get_image(r, 1)), "other");
	cp_record_destroy(r);
}

/* A row that comes again replaces threads, processes and locations; nothing
 * else, or there would be cycles. */
static void test_again(void)
{
	struct file f;
	struct cp_record *r;
	size_t count;

	begin(&f);
	basics(&f);
	ROWS(&f, CP_RECORD_NODES, 2, 0, 0, 1, 1, 1, 1);
	ROWS(&f, CP_RECORD_STACKS, 2, 0, 1, 0);
	chunk(&f);
	ROWS(&f, CP_RECORD_THREADS, 5, 0, 1, 77, 1, 0, 0);
	ROWS(&f, CP_RECORD_LOCATIONS, 5, 0, 0, 0x2000, 0, 0, 0);
	ROWS(&f, CP_RECORD_NODES, 2, 0, 2, 1); /* would be a cycle */
	ROWS(&f, CP_RECORD_STACKS, 2, 0, 2, 0);
	samples(&f, 0, 0, 1);
	r = end(&f);
	CHECK_U64(cp_record_sample_count(r), 1);
	CHECK(cp_record_get_thread(r, 0)->tid == 77);
	CHECK_U64(cp_record_get_location(r, 0)->address, 0x2000);
	cp_record_get_stack(r, 0, &count, NULL);
	CHECK_U64(count, 1);
	CHECK(cp_record_damage(r)->bad_chunks == 0);
	cp_record_destroy(r);
}

static void test_counts(void)
{
	static const uint64_t counts[] = { 2, 1000, UINT32_MAX, UINT64_MAX / 8, UINT64_MAX };
	struct file f;
	struct cp_record *r;
	uint64_t tag;
	size_t i;

	begin(&f);
	for (tag = 1; tag <= CP_RECORD_COUNTS; tag++) {
		for (i = 0; i < CP_ARRAY_SIZE(counts); i++) {
			cp_buf_clear(&f.body);
			cp_buf_uleb(&f.body, counts[i]);
			cp_buf_uleb(&f.body, counts[i]);
			cp_buf_uleb(&f.body, counts[i]);
			cp_buf_str(&f.body, "\1\1\1\1");
			cp_record_put_field(&f.payload, tag, f.body.bytes, f.body.size);
			chunk(&f);
		}
	}
	cp_buf_str(&f.payload, "\1\177"); /* a section beyond the chunk's end */
	chunk(&f);
	r = end(&f);
	CHECK(cp_record_damage(r)->bad_chunks > 50);
	CHECK_U64(cp_record_sample_count(r), 0);
	cp_record_destroy(r);
}

/* `depth` nodes in a row, then `leaves` nodes below the last; a stack and a
 * sample for each leaf, and for every `every`th node of the row. */
static struct cp_record *deep(uint64_t depth, uint64_t leaves, uint64_t every)
{
	uint64_t *nodes = calloc(3 * (depth + leaves), sizeof(*nodes)), i, n = 0;
	uint64_t *stacks = calloc(3 * (depth + leaves), sizeof(*stacks));
	struct cp_record *r;
	struct file f;

	for (i = 0; i < depth + leaves; i++) {
		nodes[3 * i] = i;
		nodes[3 * i + 1] = i < depth ? i : depth;
		nodes[3 * i + 2] = 1;
		if (i < depth && (!every || i % every))
			continue;
		stacks[3 * n] = n;
		stacks[3 * n + 1] = i + 1;
		n++;
	}
	begin(&f);
	basics(&f);
	table(&f, CP_RECORD_NODES, nodes, depth + leaves, 2);
	table(&f, CP_RECORD_STACKS, stacks, n, 2);
	samples(&f, 0, 0, n);
	r = end(&f);
	CHECK_U64(cp_record_sample_count(r) + cp_record_damage(r)->dropped, n);
	free(nodes);
	free(stacks);
	return r;
}

static void test_deep_stacks(void)
{
	struct cp_record *r = deep(60000, 0, 1); /* recursion: all of it */
	struct rusage usage;
	size_t count;

	CHECK_U64(cp_record_damage(r)->dropped, 0);
	cp_record_get_stack(r, 59999, &count, NULL);
	CHECK_U64(count, 60000);
	cp_record_destroy(r);
	r = deep(60000, 60000, 0); /* 14 GB, if one let it */
	CHECK(cp_record_sample_count(r) > 100 && cp_record_damage(r)->dropped > 50000);
	cp_record_destroy(r);
	r = deep(70000, 0, 100); /* deeper than allowed */
	CHECK(cp_record_sample_count(r) > 600 && cp_record_damage(r)->dropped > 0);
	cp_record_destroy(r);
	CHECK(!getrusage(RUSAGE_SELF, &usage) && usage.ru_maxrss < 1 << 20);
}

/* Locations whose inlined frames are too many keep their addresses. */
static void test_deep_frames(void)
{
	uint64_t rows[2000 * 5], i;
	struct cp_record *r;
	struct file f;

	begin(&f);
	ROWS(&f, CP_RECORD_FUNCTIONS, 4, 0, 0, 0, 0, 0);
	for (i = 0; i < 2000; i++) {
		rows[5 * i] = i;
		rows[5 * i + 1] = i;
		rows[5 * i + 2] = 1;
		rows[5 * i + 3] = rows[5 * i + 4] = 0;
	}
	table(&f, CP_RECORD_FRAMES, rows, 2000, 4);
	ROWS(&f, CP_RECORD_LOCATIONS, 5, 0, 0, 1, 0, 0, 2000, 1, 0, 2, 0, 0, 1024);
	r = end(&f);
	CHECK_U64(cp_record_location_count(r), 2);
	CHECK_U64(cp_record_get_location(r, 0)->frame_count, 0);
	CHECK_U64(cp_record_get_location(r, 1)->frame_count, 1024);
	CHECK_U64(cp_record_damage(r)->bad_chunks, 1);
	cp_record_destroy(r);
}

/* Headers that claim what is not so, with good checksums. */
static void test_headers(void)
{
	static const struct cp_record_chunk bad[] = {
		{ .type = 2, .codec = 0, .sequence = 0, .stored = 4, .raw = 5 },
		{ .type = 2, .codec = 1, .sequence = 1, .stored = 4, .raw = 4 },
		{ .type = 2, .codec = 9, .sequence = 2, .stored = 4, .raw = 4 },
		{ .type = 2, .codec = 0, .sequence = 0, .stored = 4, .raw = 4 },
		{ .type = 2, .codec = 1, .sequence = 3, .stored = 4, .raw = 64 << 20 },
		{ .type = 2, .codec = 0, .sequence = 4, .stored = UINT32_MAX, .raw = UINT32_MAX },
		{ .type = 2, .codec = 0, .sequence = 5, .stored = 64 << 20, .raw = 64 << 20 },
	};
	struct cp_record_preamble p = { .major = CP_RECORD_MAJOR };
	struct cp_buf file = { 0 };
	struct cp_record *r = NULL;
	size_t i;

	cp_record_put_preamble(&file, &p);
	for (i = 0; i < CP_ARRAY_SIZE(bad); i++) {
		struct cp_record_chunk c = bad[i];

		c.payload_crc = cp_record_crc("abcd", 4);
		cp_record_put_chunk(&file, &c);
		cp_buf_str(&file, "abcd");
	}
	CHECK_OK(cp_record_load_bytes(file.bytes, file.size, "headers", &r));
	CHECK(cp_record_damage(r)->bad_chunks >= 6);
	CHECK_U64(cp_record_damage(r)->missing_bytes, (64 << 20) - 4);
	cp_record_destroy(r);
	cp_buf_free(&file);
}

/* 64 MiB that pack into a few KiB, many times. */
static void test_bomb(void)
{
	struct cp_record *r;
	struct rusage usage;
	struct file f;
	int i;

	begin(&f);
	f.body.failed = !cp_vec_grow((void **)&f.body.bytes, &f.body.capacity, 63 << 20, 1);
	memset(f.body.bytes, 0, 63 << 20);
	f.body.size = 63 << 20;
	cp_record_put_field(&f.payload, 99, f.body.bytes, f.body.size);
	for (i = 0; i < 20; i++)
		cp_record_sink_chunk(&f.sink, CP_RECORD_CHUNK_DATA, &f.payload);
	cp_buf_clear(&f.payload);
	r = end(&f);
	CHECK_U64(cp_record_damage(r)->bad_chunks, 0);
	cp_record_destroy(r);
	CHECK(!getrusage(RUSAGE_SELF, &usage) && usage.ru_maxrss < 1 << 20);
}

int main(void)
{
	test_references();
	test_lying_sums();
	test_started_as();
	test_again();
	test_counts();
	test_deep_stacks();
	test_deep_frames();
	test_headers();
	test_bomb();
	TEST_MAIN_END;
}
