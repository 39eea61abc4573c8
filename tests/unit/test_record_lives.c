/* SPDX-License-Identifier: MIT
 *
 * Lives of processes and threads that go into a recording come out of it: the
 * last word on each, in the order told, of merged recordings too.
 */
#include <string.h>
#include <unistd.h>

#include "record/merge.h"
#include "base/error.h"
#include "base/types.h"
#include "record/lives.h"
#include "record/load.h"
#include "record/reader.h"
#include "record_model.h"
#include "test.h"

#define COUNT 500

static struct cp_record_life made(uint32_t n, bool over)
{
	static const char *const names[] = { "", "sh", "a name\n\033[31m" };

	return (struct cp_record_life){
		.number = n,
		.thread = n % 3 == 1,
		.begin = (enum cp_record_life_begin)(n % CP_LIFE_BEGINS),
		.end = over ? (enum cp_record_life_end)(n % CP_LIFE_ENDS) : CP_LIFE_LASTS,
		.pid = (int32_t)(1000 + n / 3),
		.tid = n % 3 == 1 ? (int32_t)(5000 + n) : 0,
		.parent = n % 3 == 1 ? 0 : (int32_t)(n % 5),
		.start_ns = model_info.start_ns + n,
		.end_ns = over ? model_info.start_ns + 2 * n : 0,
		.wait_status = over ? (int32_t)(n % 256) << 8 : 0,
		.cpu_ns = over ? 17 * n : 0,
		.name = names[n % 3],
		.exe = n % 2 ? "/usr/bin/sh" : "",
	};
}

static int written(uint32_t first, bool ends)
{
	struct cp_record_writer *w;
	int fd = scratch_file();
	uint32_t i;

	CHECK_OK(cp_record_writer_create(dup(fd), &model_info, NULL, &w));
	for (i = 0; i < COUNT; i++) {
		struct cp_record_life life = made(first + i, false);

		if (i % 4) /* others are told at their end alone */
			cp_record_life(w, &life);
		if (i % 50 == 0)
			cp_record_flush(w);
	}
	for (i = 0; ends && i < COUNT; i++) {
		struct cp_record_life life = made(first + i, true);

		cp_record_life(w, &life);
	}
	cp_record_writer_destroy(w, NULL);
	return fd;
}

static void same(const struct cp_record_life *got, const struct cp_record_life *want,
		 uint64_t shift)
{
	CHECK_U64(got->number, want->number);
	CHECK(got->thread == want->thread && got->begin == want->begin && got->end == want->end);
	CHECK(got->pid == want->pid && got->tid == want->tid && got->parent == want->parent);
	CHECK_U64(got->start_ns, want->start_ns + shift);
	CHECK_U64(got->end_ns, want->end_ns ? want->end_ns + shift : 0);
	CHECK(got->wait_status == want->wait_status);
	CHECK_U64(got->cpu_ns, want->cpu_ns);
	CHECK_STR(got->name, want->name);
	CHECK_STR(got->exe, want->exe);
}

/* Those told as they began come first. */
static uint32_t number_at(uint32_t place, bool ends)
{
	uint32_t began = COUNT - (COUNT + 3) / 4;

	CHECK(ends || place < began);
	return place < began ? place / 3 * 4 + place % 3 + 1 : (place - began) * 4;
}

static void test_round_trip(bool ends)
{
	int fd = written(0, ends);
	struct cp_record *r = load_file(fd);
	uint32_t i;

	CHECK_U64(cp_record_life_count(r), ends ? COUNT : COUNT - (COUNT + 3) / 4);
	for (i = 0; i < cp_record_life_count(r); i++) {
		struct cp_record_life want = made(number_at(i, ends), ends);

		same(cp_record_get_life(r, i), &want, 0);
	}
	cp_record_destroy(r);
	close(fd);
}

static struct cp_buf merged(struct cp_record *a, struct cp_record *b)
{
	struct cp_record *both[] = { a, b };
	int fd = scratch_file();
	struct cp_buf bytes;

	CHECK_OK(cp_record_merge(both, 2, dup(fd)));
	bytes = file_bytes(fd);
	close(fd);
	return bytes;
}

static void test_merged(void)
{
	int fds[] = { written(0, true), written(7000, true) };
	struct cp_record *a = load_file(fds[0]), *b = load_file(fds[1]), *r;
	struct cp_buf ab = merged(a, b), ba = merged(b, a), again;
	uint64_t shift = model_info.start_real_ns - model_info.start_ns;
	size_t i, from_a = 0;

	CHECK(ab.size == ba.size && !memcmp(ab.bytes, ba.bytes, ab.size));
	CHECK_OK(cp_record_load_bytes(ab.bytes, ab.size, "merged", &r));
	CHECK_U64(cp_record_life_count(r), 2 * COUNT);
	for (i = 0; i < cp_record_life_count(r); i++) {
		const struct cp_record_life *got = cp_record_get_life(r, (uint32_t)i);
		struct cp_record_life want = made(got->number, true);

		from_a += got->number < COUNT;
		same(got, &want, shift);
	}
	CHECK_U64(from_a, COUNT);
	again = merged(r, a);
	CHECK(ab.size == again.size && !memcmp(ab.bytes, again.bytes, ab.size));
	cp_record_destroy(a);
	cp_record_destroy(b);
	cp_record_destroy(r);
	cp_buf_free(&ab);
	cp_buf_free(&ba);
	cp_buf_free(&again);
	close(fds[0]);
	close(fds[1]);
}

/* Cut anywhere: what is left is a beginning. */
static void test_cut(void)
{
	int fd = written(0, true);
	struct cp_buf bytes = file_bytes(fd);
	size_t cut, i, most = 0;

	for (cut = 200; cut < bytes.size; cut += 61) {
		struct cp_record *r;

		CHECK_OK(cp_record_load_bytes(bytes.bytes, cut, "cut", &r));
		for (i = 0; i < cp_record_life_count(r); i++) {
			const struct cp_record_life *got = cp_record_get_life(r, (uint32_t)i);
			struct cp_record_life want =
				made(got->number, got->end_ns || got->end != CP_LIFE_LASTS);

			same(got, &want, 0);
		}
		most = cp_record_life_count(r) > most ? cp_record_life_count(r) : most;
		cp_record_destroy(r);
	}
	CHECK(most > 0);
	cp_buf_free(&bytes);
	close(fd);
}

int main(void)
{
	test_round_trip(true);
	test_round_trip(false);
	test_merged();
	test_cut();
	TEST_MAIN_END;
}
