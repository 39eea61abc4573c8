/* SPDX-License-Identifier: MIT
 *
 * Annotations that go into a recording come out of it, whatever happens to
 * others.
 */
#include <string.h>
#include <unistd.h>

#include "record/merge.h"
#include "annotation_model.h"
#include "base/error.h"
#include "base/types.h"
#include "record/load.h"
#include "record/reader.h"
#include "record_model.h"
#include "test.h"

static struct cp_record *made(uint64_t seed, size_t count, struct cp_buf *text)
{
	int fd = scratch_file();
	struct cp_record *r;

	annotation_model_write(dup(fd), seed, count, text);
	r = load_file(fd);
	close(fd);
	return r;
}

static void test_round_trip(void)
{
	static const size_t counts[] = { 1, 99, 101, 20000 };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(counts); i++) {
		struct cp_buf want = { 0 }, got = { 0 };
		struct cp_record *r = made(i + 1, counts[i], &want);

		CHECK_U64(cp_record_annotation_count(r), counts[i]);
		CHECK_U64(cp_record_final(r)->annotations, counts[i]);
		CHECK_U64(cp_record_final(r)->annotations_lost, 3);
		CHECK_U64(cp_record_damage(r)->dropped + cp_record_damage(r)->lost, 0);
		annotation_text(r, &got);
		CHECK(want.size == got.size && !memcmp(want.bytes, got.bytes, got.size));
		cp_buf_free(&want);
		cp_buf_free(&got);
		cp_record_destroy(r);
	}
}

/* Is each line of `got` one of `want`, in order? */
static bool within(struct cp_buf *want, struct cp_buf *got)
{
	char *from = want->bytes, *rest = got->bytes, *line;

	while (rest && (line = strsep(&rest, "\n")) && *line) {
		from = strstr(from, line);
		if (!from)
			return false;
	}
	return true;
}

/* Cut anywhere: what is left is a beginning, and what is missing is said. */
static void test_cut(void)
{
	struct cp_buf want = { 0 }, bytes;
	int fd = scratch_file();
	size_t cut, before = 0;

	annotation_model_write(dup(fd), 5, 1000, &want);
	bytes = file_bytes(fd);
	for (cut = 200; cut < bytes.size; cut += 997) {
		struct cp_buf got = { 0 };
		struct cp_record *r;

		CHECK_OK(cp_record_load_bytes(bytes.bytes, cut, "cut", &r));
		CHECK(cp_record_damage(r)->no_end);
		CHECK(cp_record_annotation_count(r) >= before);
		before = cp_record_annotation_count(r);
		annotation_text(r, &got);
		CHECK(!got.size || !memcmp(want.bytes, got.bytes, got.size));
		cp_buf_free(&got);
		cp_record_destroy(r);
	}
	CHECK(before > 0);
	cp_buf_free(&bytes);
	cp_buf_free(&want);
	close(fd);
}

/* A byte changed anywhere takes a chunk, and no event becomes another. */
static void test_damage(void)
{
	struct cp_buf want = { 0 }, bytes;
	int fd = scratch_file();
	size_t at;

	annotation_model_write(dup(fd), 6, 1000, &want);
	bytes = file_bytes(fd);
	for (at = 500; at < bytes.size; at += 1499) {
		struct cp_buf got = { 0 };
		struct cp_record *r;

		bytes.bytes[at] ^= 0x40;
		CHECK_OK(cp_record_load_bytes(bytes.bytes, bytes.size, "damaged", &r));
		annotation_text(r, &got);
		CHECK(!got.size || within(&want, &got));
		CHECK_U64(cp_record_annotation_count(r) + cp_record_damage(r)->dropped +
				  cp_record_damage(r)->lost,
			  1000);
		cp_buf_free(&got);
		cp_record_destroy(r);
		bytes.bytes[at] ^= 0x40;
	}
	cp_buf_free(&bytes);
	cp_buf_free(&want);
	close(fd);
}

/* Two into one, in either order and again: the same file. */
static void test_merge(void)
{
	struct cp_record *a = made(7, 500, NULL), *b = made(8, 700, NULL), *all, *again;
	struct cp_record *ab[] = { a, b }, *ba[] = { b, a };
	int one = scratch_file(), two = scratch_file(), three = scratch_file();
	struct cp_buf x, y;

	CHECK_OK(cp_record_merge(ab, 2, dup(one)));
	CHECK_OK(cp_record_merge(ba, 2, dup(two)));
	x = file_bytes(one);
	y = file_bytes(two);
	CHECK(x.size == y.size && !memcmp(x.bytes, y.bytes, x.size));
	cp_buf_free(&y);
	all = load_file(one);
	CHECK_U64(cp_record_annotation_count(all), 1200);
	CHECK_U64(cp_record_final(all)->annotations, 1200);
	CHECK_U64(cp_record_final(all)->annotations_lost, 6);
	CHECK_OK(cp_record_merge((struct cp_record *[]){ all, a }, 2, dup(three)));
	y = file_bytes(three);
	CHECK(x.size == y.size && !memcmp(x.bytes, y.bytes, x.size));
	again = load_file(three);
	CHECK_U64(cp_record_annotation_count(again), 1200);
	cp_buf_free(&x);
	cp_buf_free(&y);
	cp_record_destroy(a);
	cp_record_destroy(b);
	cp_record_destroy(all);
	cp_record_destroy(again);
	close(one);
	close(two);
	close(three);
}

/* Of spans as programs make them, a few bytes each. */
static void test_size(void)
{
	struct cp_record_process process = { .pid = 7, .ns_pid = 7, .name = "p", .exe = "/p" };
	struct cp_record_annotation a = { .ts_ns = model_info.start_ns, .category = "main.c" };
	static const char *const names[] = { "frame", "update", "draw", "swap" };
	struct cp_record_writer *w;
	struct cp_error *err = NULL;
	int fd = scratch_file();
	struct cp_buf bytes;
	uint64_t seed = 1;
	size_t i;

	CHECK_OK(cp_record_writer_create(dup(fd), &model_info, NULL, &w));
	a.thread = cp_record_thread(w, &(struct cp_record_thread){
					       .process = cp_record_process(w, &process),
					       .tid = 7,
					       .ns_tid = 7,
					       .name = "t",
				       });
	for (i = 0; i < 100000; i++) {
		seed = seed * 6364136223846793005u + 1;
		a.ts_ns += 300 + (seed >> 54);
		a.kind = i & 1 ? CP_RECORD_SPAN_END : CP_RECORD_SPAN_BEGIN;
		a.id = i / 2 + 1;
		a.name = a.kind ? NULL : names[i / 2 % 4];
		a.category = a.kind ? NULL : "main.c";
		cp_record_annotation(w, &a);
	}
	cp_record_writer_destroy(w, &err);
	CHECK_OK(err);
	bytes = file_bytes(fd);
	if (bytes.size > 400000)
		fprintf(stderr, "%zu bytes\n", bytes.size);
	CHECK(bytes.size < 400000);
	cp_buf_free(&bytes);
	close(fd);
}

int main(void)
{
	test_round_trip();
	test_cut();
	test_damage();
	test_merge();
	test_size();
	return test_failures != 0;
}
