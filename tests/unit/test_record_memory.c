/* SPDX-License-Identifier: MIT
 *
 * Memory runs out: at each allocation in turn, once and for good. Recording
 * ends early, loading and merging answer an error; nothing crashes, nothing is
 * made up. (A sanitizer's build finds what leaks.)
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "record/merge.h"
#include "base/error.h"
#include "record/load.h"
#include "record/reader.h"
#include "record_model.h"
#include "test.h"

/* The linker sends our allocations here (-Wl,--wrap). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);

static atomic_long left = -1; /* allocations until they fail; below 0: never */
static bool for_good;

static bool fails(void)
{
	long before;

	if (atomic_load(&left) < 0)
		return false;
	before = atomic_fetch_sub(&left, 1);
	if (before == 0 && for_good)
		atomic_store(&left, 0);
	return before == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

/* Whether memory did run out since arm(). */
static bool disarm(void)
{
	bool ran_out = atomic_load(&left) <= 0;

	atomic_store(&left, -1);
	return ran_out;
}

static void arm(long after)
{
	atomic_store(&left, after);
}

static struct model m;
static struct cp_buf file;

/* Each of these runs with memory running out after `after` allocations and
 * tells whether it came that far. */
static bool write_once(long after)
{
	int fd = scratch_file();
	struct cp_record *r = NULL;
	struct cp_error *err, *load_err;
	struct cp_buf bytes;
	bool ran_out;

	arm(after);
	err = model_write_to(&m, dup(fd), NULL, NULL);
	ran_out = disarm();
	bytes = file_bytes(fd);
	load_err = cp_record_load_bytes(bytes.bytes, bytes.size, "written", &r);
	CHECK(r || err); /* without a word nothing goes missing */
	if (r) {
		CHECK(model_contains(&m, r));
		CHECK(err ||
		      (!cp_record_damage(r)->no_end &&
		       cp_record_sample_count(r) + cp_record_final(r)->samples_lost == m.count));
	}
	cp_error_free(err);
	cp_error_free(load_err);
	cp_record_destroy(r);
	cp_buf_free(&bytes);
	close(fd);
	return ran_out;
}

static bool load_once(long after)
{
	struct cp_record *r = NULL;
	struct cp_error *err;
	bool ran_out;

	arm(after);
	err = cp_record_load_bytes(file.bytes, file.size, "file", &r);
	ran_out = disarm();
	CHECK(!err == (r != NULL));
	CHECK(!err || err->code == CP_ERR_NOMEM);
	CHECK(!r || (cp_record_sample_count(r) == m.count && model_contains(&m, r)));
	cp_error_free(err);
	cp_record_destroy(r);
	return ran_out;
}

static bool merge_once(long after)
{
	struct cp_record *r = NULL;
	struct cp_error *err;
	bool ran_out;

	CHECK_OK(cp_record_load_bytes(file.bytes, file.size, "file", &r));
	arm(after);
	err = cp_record_merge(&r, 1, open("/dev/null", O_WRONLY | O_CLOEXEC));
	ran_out = disarm();
	CHECK(!err || err->code == CP_ERR_NOMEM);
	cp_error_free(err);
	cp_record_destroy(r);
	return ran_out;
}

static void each(const char *what, bool (*once)(long after))
{
	long n = 0, step;

	for (step = 0; step < 2; step++) {
		for_good = step;
		for (n = 0; once(n); n += 1 + n / 100)
			;
	}
	printf("%s: %ld allocations\n", what, n);
	CHECK(n > 50);
}

int main(void)
{
	int fd = scratch_file();

	model_make(&m, 21, 300);
	CHECK(!model_write_to(&m, dup(fd), NULL, NULL));
	file = file_bytes(fd);
	each("recording", write_once);
	each("loading", load_once);
	each("merging", merge_once);
	model_free(&m);
	cp_buf_free(&file);
	close(fd);
	TEST_MAIN_END;
}
