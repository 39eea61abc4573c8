/* SPDX-License-Identifier: MIT
 *
 * Calls that go into a recording come out of it, whatever happens to others.
 */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/merge.h"
#include "base/error.h"
#include "base/types.h"
#include "call_model.h"
#include "record/encode_kinds.h"
#include "record/format.h"
#include "record/info.h"
#include "record/kept.h"
#include "record/load.h"
#include "record/reader.h"
#include "record_model.h"
#include "test.h"

/* With those of exceptions and locks, which are among them. */
static uint64_t events_of(const struct cp_record *r)
{
	return cp_record_call_count(r) + cp_record_exception_count(r) + cp_record_wait_count(r) +
	       cp_record_heap_count(r);
}

static struct cp_record *made(uint64_t seed, size_t count, struct cp_buf *text)
{
	int fd = scratch_file();
	struct cp_record *r;

	call_model_write(dup(fd), seed, count, text);
	r = load_file(fd);
	close(fd);
	return r;
}

/* Says where the first difference is. */
static bool same_text(const struct cp_buf *want, const struct cp_buf *got)
{
	size_t i;

	for (i = 0; i < want->size && i < got->size && want->bytes[i] == got->bytes[i]; i++)
		;
	if (i == want->size && i == got->size)
		return true;
	while (i && want->bytes[i - 1] != '\n')
		i--;
	fprintf(stderr, "expected: %.*s\n     got: %.*s\n", 200, want->bytes + i, 200,
		got->bytes + i);
	return false;
}

static void test_round_trip(void)
{
	static const size_t counts[] = { 1, 99, 101, 5000 };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(counts); i++) {
		struct cp_buf want = { 0 }, got = { 0 };
		struct cp_record *r = made(i + 1, counts[i], &want);

		CHECK_U64(events_of(r), counts[i]);
		CHECK_U64(cp_record_final(r)->calls, cp_record_call_count(r));
		CHECK_U64(cp_record_damage(r)->dropped, 0);
		CHECK_U64(cp_record_damage(r)->lost, 0);
		CHECK_U64(cp_record_damage(r)->bad_chunks, 0);
		call_text(r, &got);
		CHECK(same_text(&want, &got));
		cp_buf_free(&want);
		cp_buf_free(&got);
		cp_record_destroy(r);
	}
}

/* Each line of `part` is one of `whole`, in order, or has at least no values
 * (" (...") that it had not; how many lines. */
static size_t lines_of(const struct cp_buf *part, const struct cp_buf *whole)
{
	const char *at = part->bytes, *in = whole->bytes, *end;
	size_t lines = 0, size;

	for (; at && *at; at = end + 1, lines++) {
		end = strchr(at, '\n');
		size = (size_t)(end - at);
		for (; in && strncmp(in, at, strcspn(at, " ")); in = strchr(in, '\n') + 1)
			if (!strchr(in, '\n')[1])
				return SIZE_MAX;
		if (strncmp(in, at, size + 1) && memchr(at, '(', size)) {
			fprintf(stderr, "not there: %.*s\n", (int)size, at);
			return SIZE_MAX;
		}
	}
	return lines;
}

/* One DATA chunk after another is broken: the events of the others stay, and
 * those that can't be told are counted. */
static void test_lost_chunk(void)
{
	struct cp_buf want = { 0 }, file;
	int fd = scratch_file();
	size_t at, n = 0;

	call_model_write(dup(fd), 5, 2000, &want);
	file = file_bytes(fd);
	close(fd);
	for (at = CP_RECORD_PREAMBLE_SIZE; at < file.size; n++) {
		struct cp_record_chunk chunk;
		struct cp_buf got = { 0 };
		struct cp_record *r;
		size_t lines;

		CHECK(cp_record_get_chunk((uint8_t *)file.bytes + at, &chunk));
		file.bytes[at + CP_RECORD_HEADER_SIZE + chunk.stored / 2] ^= 1;
		CHECK_OK(cp_record_load_bytes(file.bytes, file.size, "broken", &r));
		call_text(r, &got);
		lines = lines_of(&got, &want);
		CHECK_U64(lines, events_of(r));
		if (chunk.type == CP_RECORD_CHUNK_DATA) {
			CHECK(lines < 2000 && lines >= 1300);
			CHECK(lines + cp_record_damage(r)->lost <= 2000);
			CHECK(lines + cp_record_damage(r)->lost + cp_record_damage(r)->dropped >=
			      2000);
		}
		file.bytes[at + CP_RECORD_HEADER_SIZE + chunk.stored / 2] ^= 1;
		at += CP_RECORD_HEADER_SIZE + chunk.stored;
		cp_buf_free(&got);
		cp_record_destroy(r);
	}
	CHECK(n > 20);
	cp_buf_free(&want);
	cp_buf_free(&file);
}

/* Cut anywhere: what is whole is there, and the rest is said to be missing. */
static void test_cut(void)
{
	struct cp_buf want = { 0 }, file;
	int fd = scratch_file();
	size_t size;

	call_model_write(dup(fd), 6, 700, &want);
	file = file_bytes(fd);
	close(fd);
	for (size = CP_RECORD_PREAMBLE_SIZE; size < file.size; size += 61) {
		uint8_t *exact = malloc(size);
		struct cp_buf got = { 0 };
		struct cp_record *r;

		memcpy(exact, file.bytes, size);
		CHECK_OK(cp_record_load_bytes(exact, size, "cut", &r));
		free(exact);
		call_text(r, &got);
		CHECK_U64(got.size ? lines_of(&got, &want) : 0, events_of(r));
		CHECK(cp_record_damage(r)->no_end);
		cp_buf_free(&got);
		cp_record_destroy(r);
	}
	cp_buf_free(&want);
	cp_buf_free(&file);
}

/* A later cprof's kinds of values are left out, not misread. */
static void test_later_kinds(void)
{
	static const uint64_t shape[] = { 99, 0, 4, 0, 0 };
	const struct cp_record_info info = model_info;
	struct cp_record_sink sink;
	struct cp_record_encoder e;
	cprof_value v = { .kind = CPROF_VALUE_INT, .u.i = 7 };
	struct cp_record_call c = { .values = &v, .value_count = 1, .stack = CP_RECORD_NONE };
	const struct cp_record_preamble preamble = { CP_RECORD_MAJOR, CP_RECORD_MINOR, 2, { 1 } };
	uint64_t values[CP_RECORD_WIDTH_MAX] = { 0 };
	struct cp_record *r;
	struct cp_buf bytes = { 0 };
	size_t n = 0;
	int fd = scratch_file();

	CHECK_OK(cp_record_sink_init(&sink, dup(fd)));
	cp_record_encoder_init(&e, &sink, cp_record_encode_kinds);
	cp_record_put_info(&bytes, &info, preamble.id);
	cp_record_sink_preamble(&sink, &preamble);
	cp_record_encode_row(&e, CP_RECORD_PROCESSES, 0, values);
	values[CP_THREAD_PROCESS] = 1;
	cp_record_encode_row(&e, CP_RECORD_THREADS, 0, values);
	values[CP_THREAD_PROCESS] = 0;
	cp_record_encode_row(&e, CP_RECORD_LOCATIONS, 0, values);
	cp_record_encode_call(&e, 0, &c);
	/* The row that the event's value has got becomes one of a kind unknown. */
	memcpy(e.tables[CP_RECORD_SHAPES].values.items, shape, sizeof(shape));
	for (n = 0; n < CP_ARRAY_SIZE(shape); n++)
		e.tables[CP_RECORD_SHAPES].pending[n + 1].v.items[0] = shape[n];
	cp_record_encode_flush(&e);
	cp_record_sink_end(&sink, &bytes);
	cp_record_encoder_deinit(&e);
	cp_record_sink_deinit(&sink);
	cp_buf_free(&bytes);
	r = load_file(fd);
	CHECK_U64(cp_record_call_count(r), 1);
	CHECK_U64(cp_record_damage(r)->dropped, 1);
	CHECK_U64(cp_record_damage(r)->bad_chunks, 0);
	call_text(r, &bytes);
	CHECK(bytes.size && !memchr(bytes.bytes, '(', bytes.size));
	cp_buf_free(&bytes);
	cp_record_destroy(r);
	close(fd);
}

static struct cp_buf merged(struct cp_record *const *inputs, size_t count)
{
	int fd = scratch_file();
	struct cp_buf bytes;

	CHECK_OK(cp_record_merge(inputs, count, dup(fd)));
	bytes = file_bytes(fd);
	close(fd);
	return bytes;
}

static struct cp_record *loaded(const struct cp_buf *bytes)
{
	struct cp_record *r = NULL;

	CHECK_OK(cp_record_load_bytes(bytes->bytes, bytes->size, "merged", &r));
	return r;
}

static void check_same(struct cp_buf *a, struct cp_buf b)
{
	CHECK_U64(a->size, b.size);
	CHECK(a->size == b.size && !memcmp(a->bytes, b.bytes, b.size));
	cp_buf_free(&b);
}

static void test_merge(void)
{
	struct cp_record *a = made(11, 700, NULL), *b = made(12, 1300, NULL),
			 *c = made(13, 5, NULL);
	struct cp_buf all = merged((struct cp_record *[]){ a, b, c }, 3);
	struct cp_buf ab_bytes = merged((struct cp_record *[]){ a, b }, 2);
	struct cp_record *ab = loaded(&ab_bytes), *abc = loaded(&all);
	const struct cp_record_damage *damage = cp_record_damage(abc);

	check_same(&all, merged((struct cp_record *[]){ c, b, a }, 3));
	check_same(&all, merged((struct cp_record *[]){ c, ab }, 2));
	check_same(&all, merged((struct cp_record *[]){ ab, c, b }, 3));
	check_same(&all, merged((struct cp_record *[]){ abc }, 1));
	CHECK_U64(events_of(abc), 2005);
	CHECK_U64(cp_record_final(abc)->calls, cp_record_call_count(abc));
	CHECK_U64(damage->lost + damage->dropped + damage->bad_chunks, 0);
	cp_buf_free(&all);
	cp_buf_free(&ab_bytes);
	cp_record_destroy(a);
	cp_record_destroy(b);
	cp_record_destroy(c);
	cp_record_destroy(ab);
	cp_record_destroy(abc);
}

/* What merging changes of an event: its time becomes a real one. */
static void test_merge_content(void)
{
	struct cp_record *r = made(21, 900, NULL), *m;
	struct cp_buf bytes = merged(&r, 1), before = { 0 }, after = { 0 };
	size_t lines = 0;
	char *a, *b;

	m = loaded(&bytes);
	call_text(r, &before);
	call_text(m, &after);
	for (a = before.bytes, b = after.bytes; a && *a && *b; lines++) {
		uint64_t ta = strtoull(a, &a, 10), tb = strtoull(b, &b, 10);
		size_t size = strcspn(a, "\n") + 1;

		CHECK_U64(tb - ta, model_info.start_real_ns - model_info.start_ns);
		CHECK(!strncmp(a, b, size));
		a += size;
		b += size;
	}
	CHECK_U64(lines, 900);
	cp_buf_free(&bytes);
	cp_buf_free(&before);
	cp_buf_free(&after);
	cp_record_destroy(r);
	cp_record_destroy(m);
}

static bool count_to(void *ctx, const struct cp_record_call *call)
{
	(void)call;
	return ++*(size_t *)ctx < 150;
}

static void test_stops_when_told(void)
{
	struct cp_record *r = made(31, 1000, NULL);
	size_t seen = 0;

	CHECK_OK(cp_record_each_call(r, count_to, &seen));
	CHECK_U64(seen, 150);
	cp_record_destroy(r);
}

static bool check_limits(void *ctx, const struct cp_record_call *call)
{
	size_t *n = ctx;
	const cprof_value *v;
	size_t depth = 0;

	switch ((*n)++) {
	case 0: /* a value that contains itself */
		for (v = call->values; v->items; v = v->items)
			depth++;
		CHECK(v->kind == CPROF_VALUE_ERROR && v->error == CPROF_VALUE_TOO_DEEP);
		CHECK(depth >= 8 && depth < 100);
		break;
	case 1: /* more than fits */
		CHECK(call->value_count == 4096 && call->values[4095].u.i == 4095);
		break;
	case 2: /* bad numbers are none */
		CHECK(call->target == CP_RECORD_NONE && call->kind == CP_RECORD_TAIL_CALL);
		break;
	case 3:
		CHECK(call->stack == CP_RECORD_NONE && isnan(call->values[0].u.f));
		CHECK(call->values[1].kind == CPROF_VALUE_ERROR);
		break;
	default:
		CHECK(false);
	}
	return true;
}

static void test_limits(void)
{
	static cprof_value many[5000];
	cprof_value knot = { .kind = CPROF_VALUE_POINTER, .count = 1, .items = &knot };
	cprof_value odd[2] = { { .kind = CPROF_VALUE_FLOAT, .u.f = NAN }, { .kind = 200 } };
	struct cp_record_call c = { .values = &knot, .value_count = 1 };
	struct cp_record_writer *w;
	int fd = scratch_file();
	struct cp_record *r;
	size_t i, n = 0;

	CHECK_OK(cp_record_writer_create(dup(fd), &model_info, NULL, &w));
	cp_record_process(w, &(struct cp_record_process){ .pid = 1 });
	cp_record_thread(w, &(struct cp_record_thread){ .tid = 1 });
	cp_record_location(w, CP_RECORD_NONE, 1, 0);
	cp_record_call(w, &c);
	for (i = 0; i < CP_ARRAY_SIZE(many); i++)
		many[i] = (cprof_value){ .kind = CPROF_VALUE_INT, .u.i = (int64_t)i };
	c.values = many;
	c.value_count = CP_ARRAY_SIZE(many);
	cp_record_call(w, &c);
	c = (struct cp_record_call){ .kind = CP_RECORD_TAIL_CALL, .target = 7 };
	cp_record_call(w, &c);
	c = (struct cp_record_call){ .stack = 7, .values = odd, .value_count = 2 };
	cp_record_call(w, &c);
	c.thread = 1;
	cp_record_call(w, &c); /* no such thread: lost */
	cp_record_writer_destroy(w, NULL);
	r = load_file(fd);
	CHECK_U64(cp_record_call_count(r), 4);
	CHECK_U64(cp_record_final(r)->calls_lost, 1);
	CHECK_OK(cp_record_each_call(r, check_limits, &n));
	CHECK_U64(n, 4);
	cp_record_destroy(r);
	close(fd);
}

/* A program that looks hosts up, a call in 20 us: how many bytes an event? */
static void test_size(void)
{
	static const char *const hosts[] = { "localhost", "db-1.internal", "db-2.internal",
					     "cache.internal", "www.example.org" };
	const size_t count = 200000;
	struct cp_record_writer *w;
	int fd = scratch_file();
	uint64_t seed = 1, ts = model_info.start_ns, entered = 0;
	struct cp_buf bytes;
	size_t i;

	CHECK_OK(cp_record_writer_create(dup(fd), &model_info, NULL, &w));
	cp_record_process(w, &(struct cp_record_process){ .pid = 1 });
	cp_record_thread(w, &(struct cp_record_thread){ .tid = 1 });
	for (i = 0; i < 4; i++)
		cp_record_location(w, CP_RECORD_NONE, i, 0);
	for (i = 0; i < count; i++) {
		uint64_t r = cp_hash_u64(seed++);
		const char *host = hosts[r % 5];
		cprof_value result = { .kind = CPROF_VALUE_STRING,
				       .type = "char *",
				       .address = 0x55550000 + r % 1024 * 16,
				       .u.text = { "10.0.0.7", 8 } };
		cprof_value args[] = {
			{ .kind = CPROF_VALUE_STRING,
			  .name = "host",
			  .type = "const char *",
			  .address = 0x7fff1000,
			  .u.text = { host, (uint32_t)strlen(host) } },
			{ .kind = CPROF_VALUE_INT,
			  .name = "family",
			  .type = "int",
			  .size = 4,
			  .u.i = (int)(r / 64 % 3) },
			{ .kind = CPROF_VALUE_UINT,
			  .name = "serial",
			  .type = "unsigned",
			  .size = 4,
			  .u.u = i / 2 },
		};
		bool enter = i % 2 == 0;
		struct cp_record_call c = { .ts_ns = ts,
					    .target = CP_RECORD_NONE,
					    .stack = CP_RECORD_NONE,
					    .function = (uint32_t)(r / 8 % 4) };

		ts += 11000 + r / 1024 % 4000;
		c.kind = enter ? CP_RECORD_ENTER : CP_RECORD_LEAVE;
		c.values = enter ? args : &result;
		c.value_count = enter ? 3 : 1;
		c.result_count = !enter;
		if (enter)
			entered = c.ts_ns;
		c.function = enter ? c.function : (uint32_t)(cp_hash_u64(seed - 2) / 8 % 4);
		c.duration_ns = enter ? 0 : c.ts_ns - entered;
		c.overhead_ns = enter ? 0 : 9000 + r / 4096 % 1000;
		cp_record_call(w, &c);
		if (i % 50000 == 49999)
			cp_record_flush(w);
	}
	cp_record_writer_destroy(w, NULL);
	bytes = file_bytes(fd);
	printf("%.2f bytes an event with arguments\n", (double)bytes.size / (double)count);
	CHECK(bytes.size < 12 * count);
	cp_buf_free(&bytes);
	close(fd);
}

static bool count_event(void *ctx, const struct cp_record_call *call)
{
	(void)call;
	++*(uint64_t *)ctx;
	return true;
}

/* Of a large file the calls are read again where they are; what changed there since is an
 * error, and no call less. */
static void test_large(void)
{
	struct cp_buf want = { 0 }, got = { 0 };
	int fd = scratch_file();
	struct cp_record *r, *again = NULL;
	struct cp_error *err;
	struct cp_buf bytes;
	uint64_t seen = 0;

	call_model_write(dup(fd), 11, 250000, &want);
	r = load_file(fd);
	bytes = file_bytes(fd);
	CHECK(bytes.size >= CP_RECORD_LARGE);
	CHECK(r && r->file && !r->call_chunks.items[0].bytes);
	call_text(r, &got);
	CHECK(same_text(&want, &got));
	/* From memory it is the same. */
	CHECK_OK(cp_record_load_bytes(bytes.bytes, bytes.size, "memory", &again));
	CHECK(again && !again->file);
	cp_buf_clear(&got);
	call_text(again, &got);
	CHECK(same_text(&want, &got));
	cp_record_destroy(again);
	CHECK(pwrite(fd, "x", 1, (off_t)r->call_chunks.items[1].offset + 3) == 1);
	err = cp_record_each_call(r, count_event, &seen);
	CHECK(err && err->code == CP_ERR_IO && seen && seen < events_of(r));
	cp_error_free(err);
	CHECK(!ftruncate(fd, 1000));
	err = cp_record_each_call(r, count_event, &seen);
	CHECK(err != NULL);
	cp_error_free(err);
	cp_record_destroy(r);
	cp_buf_free(&bytes);
	cp_buf_free(&want);
	cp_buf_free(&got);
	close(fd);
}

int main(void)
{
	test_round_trip();
	test_lost_chunk();
	test_cut();
	test_later_kinds();
	test_merge();
	test_merge_content();
	test_stops_when_told();
	test_limits();
	test_size();
	test_large();
	TEST_MAIN_END;
}
