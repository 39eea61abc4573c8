/* SPDX-License-Identifier: MIT
 *
 * Recordings that were cut, changed, killed, or met a full disk: what is
 * there is shown, what is not is told, nothing is made up. The judge is the
 * model that was recorded. With CPROF_TEST_LONG every byte has its turn.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/create.h"
#include "base/error.h"
#include "record/info.h"
#include "record/load.h"
#include "record/reader.h"
#include "record/sink.h"
#include "record_model.h"
#include "test.h"

#define SAMPLES 1000

static bool every_byte;

/* Lets the writer's thread catch up, so that each flush is a chunk. */
static void one_chunk_each(struct cp_record_writer *w, size_t samples)
{
	static uint64_t last;

	if (samples <= MODEL_CHUNK)
		last = CP_RECORD_PREAMBLE_SIZE;
	while (!cp_record_error(w) && cp_record_bytes(w) == last)
		sched_yield();
	last = cp_record_bytes(w);
}

static struct cp_buf recorded(const struct model *m)
{
	int fd = scratch_file();
	struct cp_buf bytes;

	CHECK_OK(model_write_to(m, dup(fd), NULL, one_chunk_each));
	bytes = file_bytes(fd);
	close(fd);
	return bytes;
}

static uint64_t total(const struct cp_record_damage *d)
{
	return d->no_end + d->bad_chunks + d->missing_bytes + d->dropped + d->lost;
}

static void test_cut(void)
{
	struct model m;
	struct cp_buf bytes;
	size_t n, last = 0;

	model_make(&m, 11, SAMPLES);
	bytes = recorded(&m);
	for (n = 0; n < bytes.size; n += every_byte || n < 100 ? 1 : 1 + n * 7 % 61) {
		char *copy = malloc(n ? n : 1); /* so that a sanitizer sees the end */
		struct cp_record *r = NULL;
		struct cp_error *err;

		memcpy(copy, bytes.bytes, n);
		err = cp_record_load_bytes(copy, n, "cut", &r);
		CHECK((err != NULL) == (n < CP_RECORD_PREAMBLE_SIZE));
		if (r) {
			CHECK(model_contains(&m, r));
			CHECK(cp_record_damage(r)->no_end);
			CHECK_U64(cp_record_damage(r)->bad_chunks, 0);
			CHECK_U64(cp_record_sample_count(r) % MODEL_CHUNK, 0);
			CHECK(cp_record_sample_count(r) >= last);
			last = cp_record_sample_count(r);
		}
		cp_error_free(err);
		cp_record_destroy(r);
		free(copy);
	}
	CHECK_U64(last, SAMPLES);
	cp_buf_free(&bytes);
	model_free(&m);
}

/* The chunk that holds byte `n`, cut short there, says how much is missing. */
static void test_missing_bytes(void)
{
	struct model m;
	struct cp_buf bytes;
	struct cp_record *r = NULL;

	model_make(&m, 11, SAMPLES);
	bytes = recorded(&m);
	CHECK_OK(cp_record_load_bytes(bytes.bytes, bytes.size - 3, "cut", &r));
	CHECK_U64(cp_record_damage(r)->missing_bytes, 3);
	CHECK_U64(cp_record_damage(r)->lost, 0);
	cp_record_destroy(r);
	cp_buf_free(&bytes);
	model_free(&m);
}

static void test_flip(void)
{
	struct model m;
	struct cp_buf bytes;
	size_t n, whole = 0;

	model_make(&m, 12, SAMPLES);
	bytes = recorded(&m);
	for (n = 0; n < bytes.size; n += every_byte || n < 100 ? 1 : 1 + n * 7 % 61) {
		struct cp_record *r = NULL;
		const struct cp_record_damage *d;

		bytes.bytes[n] ^= (char)(1 + n * 31 % 255);
		CHECK_OK(cp_record_load_bytes(bytes.bytes, bytes.size, "flipped", &r));
		bytes.bytes[n] ^= (char)(1 + n * 31 % 255);
		if (!r)
			continue;
		d = cp_record_damage(r);
		CHECK(model_contains(&m, r));
		CHECK(total(d) > 0);
		CHECK_U64(d->missing_bytes, 0);
		CHECK_STR(cp_record_info(r)->host, model_info.host);
		if (!d->no_end)
			CHECK_U64(cp_record_sample_count(r) + d->dropped + d->lost, SAMPLES);
		whole += cp_record_sample_count(r) == SAMPLES;
		cp_record_destroy(r);
	}
	CHECK(whole > 0); /* damage to the header, the end: every sample is there */
	cp_buf_free(&bytes);
	model_free(&m);
}

/* Without its first samples' chunk, a longer recording is readable again
 * from the next epoch on. */
static void test_lost_first_chunk(void)
{
	struct model m;
	struct cp_buf bytes;
	struct cp_record *r = NULL;
	struct cp_record_chunk info, first;
	size_t at = CP_RECORD_PREAMBLE_SIZE;

	model_make(&m, 13, 20000);
	bytes = recorded(&m);
	CHECK(cp_record_get_chunk((uint8_t *)bytes.bytes + at, &info));
	at += CP_RECORD_HEADER_SIZE + info.stored;
	CHECK(cp_record_get_chunk((uint8_t *)bytes.bytes + at, &first));
	CHECK(first.type == CP_RECORD_CHUNK_DATA);
	memset(bytes.bytes + at, 0xff, CP_RECORD_HEADER_SIZE + first.stored);
	CHECK_OK(cp_record_load_bytes(bytes.bytes, bytes.size, "first lost", &r));
	CHECK(model_contains(&m, r));
	CHECK_U64(cp_record_damage(r)->bad_chunks, 1);
	CHECK_U64(cp_record_damage(r)->lost, MODEL_CHUNK);
	CHECK(cp_record_damage(r)->dropped > 0);
	CHECK_U64(cp_record_sample_count(r) + cp_record_damage(r)->dropped, 20000 - MODEL_CHUNK);
	CHECK(cp_record_sample_count(r) > 10000);
	cp_record_destroy(r);
	cp_buf_free(&bytes);
	model_free(&m);
}

static void test_no_recording(void)
{
	static const char elf[4096] = "\177ELF";
	struct cp_record *r = NULL;
	struct cp_error *err;

	err = cp_record_load_bytes(elf, sizeof(elf), "elf", &r);
	CHECK(err && err->code == CP_ERR_FORMAT && err->hint);
	cp_error_free(err);
	err = cp_record_load("/dev/zero", &r); /* has no end */
	CHECK(err && err->code == CP_ERR_FORMAT);
	cp_error_free(err);
	err = cp_record_load("/", &r);
	CHECK(err && err->errnum == EISDIR);
	cp_error_free(err);
	err = cp_record_load("/nonexistent", &r);
	CHECK(err && err->code == CP_ERR_NOT_FOUND);
	cp_error_free(err);
}

static void test_newer(void)
{
	struct cp_record_preamble p = { .major = CP_RECORD_MAJOR + 1 };
	struct cp_buf bytes = { 0 };
	struct cp_record *r = NULL;
	struct cp_error *err;

	cp_record_put_preamble(&bytes, &p);
	err = cp_record_load_bytes(bytes.bytes, bytes.size, "newer", &r);
	CHECK(err && err->code == CP_ERR_UNSUPPORTED && err->hint);
	cp_error_free(err);
	cp_buf_free(&bytes);
}

/* Later versions may add chunks, sections, columns, fields. */
static void test_additions(void)
{
	struct cp_record_preamble preamble = {
		.major = CP_RECORD_MAJOR,
		.minor = CP_RECORD_MINOR + 1,
	};
	struct cp_record_totals totals = { .samples = 5 };
	struct cp_buf payload = { 0 }, longer = { 0 };
	struct cp_record_sink sink;
	struct cp_record *r;
	int fd = scratch_file();

	CHECK_OK(cp_record_sink_init(&sink, dup(fd)));
	cp_record_sink_preamble(&sink, &preamble);
	cp_record_put_info(&payload, &model_info, NULL);
	cp_record_put_field(&payload, 99, "new", 3);
	cp_record_sink_chunk(&sink, CP_RECORD_CHUNK_INFO, &payload);
	cp_record_sink_chunk(&sink, 77, &payload);
	cp_buf_clear(&payload);
	cp_record_put_field(&payload, 99, "new", 3);
	cp_record_put_totals(&longer, &totals);
	cp_buf_str(&longer, "and more");
	cp_record_put_field(&payload, CP_RECORD_TOTALS, longer.bytes, longer.size);
	cp_record_sink_chunk(&sink, CP_RECORD_CHUNK_DATA, &payload);
	cp_buf_clear(&payload);
	cp_record_sink_chunk(&sink, CP_RECORD_CHUNK_END, &payload);
	cp_record_sink_deinit(&sink);
	r = load_file(fd);
	CHECK(r && !total(cp_record_damage(r)));
	CHECK_U64(r ? cp_record_final(r)->samples : 0, 5);
	CHECK_STR(r ? cp_record_info(r)->host : "", model_info.host);
	cp_record_destroy(r);
	cp_buf_free(&payload);
	cp_buf_free(&longer);
	close(fd);
}

/* In a child, because limits and signals are the whole process's. */
static void limited_child(int fd)
{
	struct rlimit limit = { 20000, 20000 };
	struct model m;
	struct cp_error *err;

	setrlimit(RLIMIT_FSIZE, &limit); /* SIGXFSZ is not even ignored */
	model_make(&m, 15, 20000);
	err = model_write_to(&m, fd, NULL, one_chunk_each);
	_exit(err && err->errnum == EFBIG && err->hint ? 0 : 1);
}

static void test_file_limit(void)
{
	int fd = scratch_file(), status = -1;
	struct cp_record *r;
	struct model m;
	pid_t pid = fork();
	struct stat st;

	if (!pid)
		limited_child(fd);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(!fstat(fd, &st) && st.st_size > 10000 && st.st_size < 20000);
	model_make(&m, 15, 20000);
	r = load_file(fd);
	CHECK(r && model_contains(&m, r));
	CHECK(r && cp_record_sample_count(r) > 0);
	CHECK(r && cp_record_damage(r)->no_end && total(cp_record_damage(r)) == 1);
	cp_record_destroy(r);
	model_free(&m);
	close(fd);
}

static void test_full_device(void)
{
	struct cp_error *err;
	struct model m;
	int fd = -1;

	model_make(&m, 16, SAMPLES);
	CHECK_OK(cp_create(CP_CREATE_RECORDING, "/dev/full", &fd));
	err = model_write_to(&m, fd, NULL, NULL);
	CHECK(err && err->errnum == ENOSPC && err->hint);
	cp_error_free(err);
	model_free(&m);
}

static void test_broken_pipe(void)
{
	struct cp_error *err;
	struct model m;
	int fds[2];

	model_make(&m, 17, SAMPLES);
	CHECK(!pipe2(fds, O_CLOEXEC));
	close(fds[0]);
	err = model_write_to(&m, fds[1], NULL, NULL); /* no SIGPIPE either */
	CHECK(err && err->errnum == EPIPE);
	cp_error_free(err);
	model_free(&m);
}

/* Reads a pipe a few bytes at a time. */
static void *slow_reader(void *arg)
{
	struct cp_buf *bytes = arg;
	int fd = (int)bytes->capacity;
	char some[97];
	ssize_t n;

	*bytes = (struct cp_buf){ 0 };
	while ((n = read(fd, some, sizeof(some))) > 0)
		cp_buf_add(bytes, some, (size_t)n);
	close(fd);
	return NULL;
}

static void test_pipe(void)
{
	struct cp_record *r = NULL;
	struct cp_buf bytes = { 0 };
	pthread_t reader;
	struct model m;
	int fds[2];

	model_make(&m, 18, 20000);
	CHECK(!pipe2(fds, O_CLOEXEC));
	fcntl(fds[1], F_SETPIPE_SZ, 4096);
	fcntl(fds[1], F_SETFL, O_NONBLOCK); /* short writes and EAGAIN */
	bytes.capacity = (size_t)fds[0];
	CHECK(!pthread_create(&reader, NULL, slow_reader, &bytes));
	CHECK_OK(model_write_to(&m, fds[1], NULL, NULL));
	pthread_join(reader, NULL);
	CHECK_OK(cp_record_load_bytes(bytes.bytes, bytes.size, "pipe", &r));
	CHECK(r && cp_record_sample_count(r) == 20000 && model_contains(&m, r));
	CHECK(r && !total(cp_record_damage(r)));
	cp_record_destroy(r);
	cp_buf_free(&bytes);
	model_free(&m);
}

static void test_killed(void)
{
	int fd = scratch_file(), round;
	struct cp_record *r;
	struct stat st = { 0 };
	struct model m;
	pid_t pid;

	model_make(&m, 19, 100000);
	for (round = 0; round < (every_byte ? 200 : 5); round++) {
		CHECK(!ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
		pid = fork();
		if (!pid) {
			struct cp_error *err = model_write_to(&m, fd, NULL, one_chunk_each);

			_exit(err ? 1 : 0);
		}
		do
			sched_yield();
		while (!fstat(fd, &st) && st.st_size < 3000 + 997 * round);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		r = load_file(fd);
		CHECK(r && cp_record_damage(r)->no_end);
		CHECK(r && cp_record_sample_count(r) > 0 && model_contains(&m, r));
		CHECK(r && cp_record_damage(r)->bad_chunks == 0 &&
		      cp_record_damage(r)->dropped == 0);
		CHECK_U64(r ? cp_record_final(r)->samples : 0, r ? cp_record_sample_count(r) : 1);
		cp_record_destroy(r);
	}
	model_free(&m);
	close(fd);
}

/* A resolver that waits until it is told to go on: flushing does not wait for
 * it, and nothing is lost. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t open;
	bool is_open;
};

static void open_gate(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->is_open = true;
	pthread_cond_signal(&gate->open);
	pthread_mutex_unlock(&gate->lock);
}

static void wait_at_gate(void *ctx, uint64_t key, uint64_t address, struct cp_record_names *names)
{
	struct cp_record_frame frame = { .function = "late" };
	struct gate *gate = ctx;

	(void)key, (void)address;
	pthread_mutex_lock(&gate->lock);
	while (!gate->is_open)
		pthread_cond_wait(&gate->open, &gate->lock);
	pthread_mutex_unlock(&gate->lock);
	cp_record_name_frame(names, &frame);
}

static void fill(struct cp_record_writer *w, size_t count)
{
	struct cp_record_process p = { .pid = 1, .name = "p" };
	struct cp_record_thread t = { .tid = 1 };
	struct cp_record_sample s = { .count = 1 };
	uint32_t location;
	size_t i;

	t.process = cp_record_process(w, &p);
	s.thread = cp_record_thread(w, &t);
	for (i = 0; i < count; i++) {
		location = cp_record_location(w, CP_RECORD_NONE, i % 100, 0);
		s.stack = cp_record_stack(w, &location, 1, 0);
		s.ts_ns = i;
		cp_record_sample(w, &s);
		if (i % 50 == 0)
			cp_record_flush(w);
	}
}

static void test_slow_resolver(size_t count, bool too_much)
{
	struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	struct cp_record_resolver resolver = { wait_at_gate, &gate };
	struct cp_record_writer *w = NULL;
	struct cp_error *err = NULL;
	struct cp_record *r;
	int fd = scratch_file();

	CHECK_OK(cp_record_writer_create(dup(fd), &model_info, &resolver, &w));
	fill(w, count);
	open_gate(&gate);
	cp_record_writer_destroy(w, &err);
	CHECK_OK(err);
	r = load_file(fd);
	CHECK(r && !total(cp_record_damage(r)));
	CHECK((r && cp_record_final(r)->samples_lost > 0) == too_much);
	CHECK_U64(r ? cp_record_sample_count(r) + cp_record_final(r)->samples_lost : 0, count);
	cp_record_destroy(r);
	close(fd);
}

static size_t named(const struct cp_record *r)
{
	size_t sum = 0;
	uint32_t i;

	for (i = 0; i < cp_record_location_count(r); i++)
		sum += cp_record_get_location(r, i)->frame_count;
	return sum;
}

/* Samples are in the file while names are still waited for. */
static void test_late_names(void)
{
	struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
	struct cp_record_resolver resolver = { wait_at_gate, &gate };
	struct cp_record_writer *w = NULL;
	struct cp_error *err = NULL;
	struct cp_record *r = NULL;
	int fd = scratch_file();

	CHECK_OK(cp_record_writer_create(dup(fd), &model_info, &resolver, &w));
	fill(w, 500);
	cp_record_flush(w);
	do {
		cp_record_destroy(r);
		while (cp_record_bytes(w) < CP_RECORD_PREAMBLE_SIZE)
			sched_yield();
		r = load_file(fd);
	} while (!r || cp_record_sample_count(r) < 500);
	CHECK_U64(named(r), 0);
	cp_record_destroy(r);
	open_gate(&gate);
	cp_record_writer_destroy(w, &err);
	CHECK_OK(err);
	r = load_file(fd);
	CHECK(r && !total(cp_record_damage(r)));
	CHECK_U64(r ? cp_record_sample_count(r) : 0, 500);
	CHECK_U64(r ? cp_record_location_count(r) : 0, 100);
	CHECK_U64(r ? named(r) : 0, 100);
	cp_record_destroy(r);
	close(fd);
}

int main(int argc, char **argv)
{
	every_byte = getenv("CPROF_TEST_LONG") || (argc > 1 && !strcmp(argv[1], "--long"));
	test_cut();
	test_missing_bytes();
	test_flip();
	test_lost_first_chunk();
	test_no_recording();
	test_newer();
	test_additions();
	test_file_limit();
	test_full_device();
	test_broken_pipe();
	test_pipe();
	test_killed();
	test_slow_resolver(5000, false);
	test_late_names();
	if (every_byte)
		test_slow_resolver(6000000, true);
	TEST_MAIN_END;
}
