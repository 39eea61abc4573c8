/* SPDX-License-Identifier: MIT
 *
 * Merging: whatever the order, however often, however grouped, the same file
 * to the byte; and in it every sample of every part.
 */
#include <errno.h>
#include <unistd.h>

#include "record/merge.h"
#include "base/create.h"
#include "base/error.h"
#include "record/load.h"
#include "record/reader.h"
#include "record/sink.h"
#include "record_model.h"
#include "test.h"

struct text_list {
	CP_VEC(char *) items;
};

static struct cp_record *model(uint64_t seed, size_t samples)
{
	struct cp_record *r;
	int fd = scratch_file();

	model_write(dup(fd), seed, samples);
	r = load_file(fd);
	close(fd);
	return r;
}

/* Merges the recordings that follow, up to NULL, and loads the result. */
static struct cp_record *merged(struct cp_buf *bytes_ret, struct cp_record *const *inputs)
{
	struct cp_record *r;
	int fd = scratch_file();
	size_t n = 0;

	while (inputs[n])
		n++;
	CHECK_OK(cp_record_merge(inputs, n, dup(fd)));
	r = load_file(fd);
	if (bytes_ret)
		*bytes_ret = file_bytes(fd);
	close(fd);
	CHECK(r != NULL);
	return r;
}

#define MERGED(bytes, ...) merged((bytes), (struct cp_record *[]){ __VA_ARGS__, NULL })

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All samples in words, sorted; times shifted. */
static void add_texts(struct text_list *list, struct cp_record *r, uint64_t shift)
{
	struct cp_buf text = { 0 };
	size_t i;

	for (i = 0; i < r->threads.count; i++)
		r->threads.items[i].start_ns += shift;
	for (i = 0; i < r->processes.count; i++)
		r->processes.items[i].start_ns += shift;
	for (i = 0; i < r->samples.count; i++) {
		r->samples.items[i].ts_ns += shift;
		record_text(r, i, &text);
		cp_vec_push(&list->items, strdup(text.bytes));
	}
	cp_buf_free(&text);
}

static void sort_texts(struct text_list *list)
{
	qsort(list->items.items, list->items.count, sizeof(char *), compare);
}

static void free_texts(struct text_list *list)
{
	size_t i;

	for (i = 0; i < list->items.count; i++)
		free(list->items.items[i]);
	cp_vec_free(&list->items);
}

static void test_content(void)
{
	uint64_t shift = model_info.start_real_ns - model_info.start_ns;
	struct cp_record *a = model(1, 900), *b = model(2, 700), *m = MERGED(NULL, a, b);
	struct text_list want = { 0 }, got = { 0 };
	size_t i, wrong = 0;

	CHECK_U64(cp_record_sample_count(m), 1600);
	CHECK_U64(cp_record_final(m)->samples, 1600);
	CHECK_U64(cp_record_final(m)->end_ns, 77 + shift);
	CHECK_U64(cp_record_part_count(m), 2);
	CHECK(cp_record_info(m)->merged[0] && cp_record_info(m)->merged[1] &&
	      !cp_record_info(m)->merged[2]);
	CHECK_STR(cp_record_info(m)->host, model_info.host);
	CHECK_STR(cp_record_info(m)->command[0], model_info.command[0]);
	CHECK_U64(cp_record_info(m)->start_ns, model_info.start_real_ns);
	CHECK(!cp_record_damage(m)->no_end);
	/* The same program: nothing is there twice. */
	CHECK_U64(cp_record_process_count(m), 2);
	CHECK_U64(cp_record_thread_count(m), MODEL_THREADS);
	CHECK_U64(cp_record_image_count(m), MODEL_IMAGES);
	CHECK(cp_record_location_count(m) <= MODEL_LOCATIONS);
	add_texts(&want, a, shift);
	add_texts(&want, b, shift);
	add_texts(&got, m, 0);
	sort_texts(&want);
	sort_texts(&got);
	for (i = 0; i < want.items.count && i < got.items.count; i++)
		wrong += strcmp(want.items.items[i], got.items.items[i]) != 0;
	CHECK_U64(wrong, 0);
	free_texts(&want);
	free_texts(&got);
	cp_record_destroy(a);
	cp_record_destroy(b);
	cp_record_destroy(m);
}

static void check_same(struct cp_buf *want, struct cp_record *r, struct cp_buf got)
{
	CHECK(want->size == got.size && !memcmp(want->bytes, got.bytes, got.size));
	cp_record_destroy(r);
	cp_buf_free(&got);
}

static void test_properties(void)
{
	struct cp_record *a = model(1, 300), *b = model(2, 2000), *c = model(3, 10);
	struct cp_record *ab = MERGED(NULL, a, b), *bc = MERGED(NULL, b, c);
	struct cp_buf want, got = { 0 };
	struct cp_record *abc = MERGED(&want, a, b, c), *r;

	r = MERGED(&got, c, b, a);
	check_same(&want, r, got);
	r = MERGED(&got, a, b, c, a, b, c);
	check_same(&want, r, got);
	r = MERGED(&got, ab, c);
	check_same(&want, r, got);
	r = MERGED(&got, c, ab, a);
	check_same(&want, r, got);
	r = MERGED(&got, ab, bc);
	check_same(&want, r, got);
	r = MERGED(&got, bc, ab, abc);
	check_same(&want, r, got);
	r = MERGED(&got, abc);
	check_same(&want, r, got);
	cp_record_destroy(a);
	cp_record_destroy(b);
	cp_record_destroy(c);
	cp_record_destroy(ab);
	cp_record_destroy(bc);
	cp_record_destroy(abc);
	cp_buf_free(&want);
}

/* Of a recording and a copy that was cut, the recording counts, whatever the
 * order; the cut copy alone brings its damage along. */
static void test_damaged(void)
{
	struct cp_record *whole, *cut = NULL, *other = model(6, 50), *m;
	struct cp_buf bytes, want, got;
	int fd = scratch_file();

	model_write(dup(fd), 5, 3000);
	bytes = file_bytes(fd);
	whole = load_file(fd);
	CHECK_OK(cp_record_load_bytes(bytes.bytes, bytes.size - 20, "cut", &cut));
	m = MERGED(NULL, cut, other);
	CHECK(cp_record_damage(m)->no_end && cp_record_damage(m)->missing_bytes > 0);
	cp_record_destroy(cut);
	cut = m;
	m = MERGED(&want, whole, other);
	CHECK(!cp_record_damage(m)->no_end);
	CHECK_U64(cp_record_sample_count(m), 3050);
	cp_record_destroy(m);
	m = MERGED(&got, cut, whole);
	check_same(&want, m, got);
	m = MERGED(&got, whole, cut);
	check_same(&want, m, got);
	cp_record_destroy(whole);
	cp_record_destroy(cut);
	cp_record_destroy(other);
	cp_buf_free(&want);
	cp_buf_free(&bytes);
	close(fd);
}

/* Recordings of other machines, commands, versions. */
static void test_several(void)
{
	struct cp_record *a = model(1, 5), *b = model(2, 5), *m;
	struct cp_error *err;

	b->info.host = "other";
	b->info.hz = 1000;
	b->info.start_real_ns += 5;
	b->info.command = (char *[]){ b->info.command[2], NULL };
	m = MERGED(NULL, b, a);
	CHECK_STR(cp_record_info(m)->host, "(several)");
	CHECK_STR(cp_record_info(m)->command[0], "(several)");
	CHECK_STR(cp_record_info(m)->kernel, model_info.kernel);
	CHECK_U64(cp_record_info(m)->hz, 0);
	CHECK_U64(cp_record_info(m)->start_ns, model_info.start_real_ns);
	/* Started at other times: not the same processes. */
	CHECK_U64(cp_record_process_count(m), 4);
	cp_record_destroy(m);
	b->info.clock = CP_RECORD_CLOCK_WALL;
	err = cp_record_merge((struct cp_record *[]){ a, b }, 2, scratch_file());
	CHECK(err && err->code == CP_ERR_USAGE && err->hint);
	cp_error_free(err);
	err = cp_record_merge(NULL, 0, scratch_file());
	CHECK(err && err->code == CP_ERR_USAGE);
	cp_error_free(err);
	cp_record_destroy(a);
	cp_record_destroy(b);
}

static void test_full(void)
{
	struct cp_record *a = model(1, 5000);
	struct cp_error *err;
	int fds[2], fd = -1;

	CHECK_OK(cp_create(CP_CREATE_RECORDING, "/dev/full", &fd));
	err = cp_record_merge(&a, 1, fd);
	CHECK(err && err->errnum == ENOSPC);
	cp_error_free(err);
	CHECK(!pipe(fds));
	close(fds[0]);
	err = cp_record_merge(&a, 1, fds[1]); /* no SIGPIPE, now or later */
	CHECK(err && err->errnum == EPIPE);
	cp_error_free(err);
	cp_record_destroy(a);
}

int main(void)
{
	test_content();
	test_properties();
	test_damaged();
	test_several();
	test_full();
	TEST_MAIN_END;
}
