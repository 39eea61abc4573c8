/* SPDX-License-Identifier: MIT
 *
 * What goes into a recording comes out of it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "base/types.h"
#include "record/format.h"
#include "record/kept.h"
#include "record/load.h"
#include "record/reader.h"
#include "record/record.h"
#include "record/summed_samples.h"
#include "test.h"
#include "record_model.h"

static void test_empty(void)
{
	struct cp_record_writer *w;
	struct cp_record *r;
	struct cp_error *err = NULL;
	int fd = scratch_file();

	CHECK_OK(cp_record_writer_create(dup(fd), &model_info, NULL, &w));
	cp_record_writer_destroy(w, &err);
	CHECK_OK(err);
	r = load_file(fd);
	CHECK(r != NULL);
	CHECK_U64(cp_record_sample_count(r), 0);
	CHECK(!cp_record_damage(r)->no_end);
	CHECK_STR(cp_record_info(r)->host, model_info.host);
	CHECK(cp_record_get_thread(r, 0) == NULL);
	cp_record_destroy(r);
	close(fd);
}

/* Bit by bit. */
static uint32_t slow_crc(const uint8_t *p, size_t size)
{
	uint32_t crc = UINT32_MAX;
	unsigned bit;

	for (; size; p++, size--) {
		crc ^= *p;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static void test_crc(void)
{
	static uint8_t bytes[40000];
	size_t i;

	/* RFC 3720, B.4: CRC-32C of 32 zeros, and the usual check value. */
	CHECK_U64(cp_record_crc(bytes, 32), 0x8a9136aa);
	CHECK_U64(cp_record_crc("123456789", 9), 0xe3069283);
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i >> 5 ^ i);
	for (i = 0; i < 40; i++) {
		CHECK_U64(cp_record_crc(bytes, i), slow_crc(bytes, i));
		CHECK_U64(cp_record_crc(bytes + i, 16370 + i), slow_crc(bytes + i, 16370 + i));
		CHECK_U64(cp_record_crc(bytes, 30000 + i), slow_crc(bytes, 30000 + i));
	}
}

static void test_info_kept(void)
{
	int fd = scratch_file();
	struct cp_record *r;
	const struct cp_record_info *i;

	model_write(dup(fd), 1, 10);
	r = load_file(fd);
	i = cp_record_info(r);
	CHECK_U64(i->holds, model_info.holds);
	CHECK_STR(i->cprof_version, model_info.cprof_version);
	CHECK_STR(i->machine, model_info.machine);
	CHECK_STR(i->kernel, model_info.kernel);
	CHECK_STR(i->boot_id, model_info.boot_id);
	CHECK_STR(i->command[0], model_info.command[0]);
	CHECK_STR(i->command[1], "");
	CHECK_STR(i->command[2], model_info.command[2]);
	CHECK(i->command[3] == NULL && i->merged == NULL);
	CHECK(i->attached && i->pid == model_info.pid && i->clock == model_info.clock);
	CHECK(i->hz == model_info.hz && i->cpus == model_info.cpus);
	CHECK_U64(i->start_ns, model_info.start_ns);
	CHECK_U64(i->start_real_ns, model_info.start_real_ns);
	CHECK_U64(cp_record_part_count(r), 1);
	CHECK(strlen(cp_record_get_part(r, 0)->id) == 32);
	cp_record_destroy(r);
	close(fd);
}

static void test_round_trip(void)
{
	struct model m;
	struct cp_record *r;
	int fd = scratch_file();

	model_write(dup(fd), 7, 5000);
	model_make(&m, 7, 5000);
	r = load_file(fd);
	CHECK(r != NULL);
	CHECK(model_contains(&m, r));
	CHECK_U64(cp_record_sample_count(r), 5000);
	CHECK_U64(cp_record_damage(r)->bad_chunks, 0);
	CHECK_U64(cp_record_damage(r)->dropped, 0);
	CHECK_U64(cp_record_damage(r)->lost, 0);
	CHECK_U64(cp_record_damage(r)->missing_bytes, 0);
	CHECK_U64(cp_record_final(r)->samples, 5000);
	CHECK(cp_record_final(r)->ended && cp_record_final(r)->wait_status == 0x8b);
	cp_record_destroy(r);
	model_free(&m);
	close(fd);
}

struct compared {
	const struct cp_record_sample *with;
	size_t count, same;
};

static bool compare_sample(void *ctx, const struct cp_record_sample *s)
{
	struct compared *c = ctx;
	const struct cp_record_sample *with = &c->with[c->count++];

	c->same += s->ts_ns == with->ts_ns && s->thread == with->thread &&
		   s->stack == with->stack && s->count == with->count &&
		   s->weight_ns == with->weight_ns && s->flags == with->flags;
	return c->count < 100000;
}

/* Samples of a large file stay there, until somebody needs all of them at once. */
static void test_large(void)
{
	struct cp_record *r, *whole = NULL;
	struct compared c = { 0 };
	struct cp_error *err;
	struct cp_buf bytes;
	struct model m;
	int fd = scratch_file();

	model_write(dup(fd), 7, 600000);
	bytes = file_bytes(fd);
	CHECK(bytes.size >= CP_RECORD_LARGE);
	CHECK_OK(cp_record_load_bytes(bytes.bytes, bytes.size, "memory", &whole));
	r = load_file(fd);
	CHECK(r && whole && r->file && !cp_record_samples(r));
	CHECK_U64(cp_record_sample_count(r), 600000);
	CHECK_U64(cp_record_samples_end(r), cp_record_samples_end(whole));
	c.with = cp_record_samples(whole);
	CHECK_OK(cp_record_each_sample(r, compare_sample, &c));
	CHECK_U64(c.count, 100000); /* it had enough */
	CHECK_U64(c.same, c.count);
	CHECK_OK(cp_record_need_samples(r));
	model_make(&m, 7, 600000);
	CHECK(model_contains(&m, r));
	model_free(&m);
	cp_record_destroy(r);
	r = load_file(fd);
	CHECK(!ftruncate(fd, (off_t)bytes.size / 2));
	err = cp_record_need_samples(r);
	CHECK(err && err->code == CP_ERR_IO && !cp_record_samples(r));
	cp_error_free(err);
	cp_record_destroy(r);
	cp_record_destroy(whole);
	cp_buf_free(&bytes);
	close(fd);
}

struct summed {
	struct cp_sample_sums sums; /* of all samples, one by one */
	size_t told, same;
};

static bool sum_sample(void *ctx, const struct cp_record_sample *s)
{
	const struct cp_record_sample_sum one = cp_sample_sum_of(s);
	struct summed *c = ctx;

	CHECK(cp_sample_sums_add(&c->sums, &one));
	return true;
}

static bool compare_sum(void *ctx, const struct cp_record_sample_sum *sum)
{
	struct summed *c = ctx;
	const struct cp_record_sample_sum *with = &c->sums.rows.items[c->told++];

	c->same += sum->thread == with->thread && sum->stack == with->stack &&
		   sum->flags == with->flags && sum->count == with->count &&
		   sum->weight_ns == with->weight_ns;
	return c->told < c->sums.rows.count;
}

/* A large file's samples are known as what they add up to, be that written, as it is of the first
 * ones, or not. */
static void test_sums(size_t alike)
{
	struct summed c = { 0 };
	struct cp_record *r;
	int fd = scratch_file();
	struct model m;
	size_t i;

	model_make(&m, 7, 600000);
	for (i = 0; i < m.count; i++) {
		if (i < alike) {
			m.samples[i].stack %= 2;
			m.samples[i].thread %= 2;
			m.samples[i].flags = 0;
		}
		m.samples[i].weight_ns = i * UINT64_C(0x9e3779b97f4a7c15) >> 16;
	}
	CHECK_OK(model_write_to(&m, dup(fd), NULL, NULL));
	r = load_file(fd);
	CHECK(r && r->file && !r->sample_sums_unknown);
	CHECK_OK(cp_record_each_sample(r, sum_sample, &c));
	CHECK_U64(r->sample_sums.rows.count, c.sums.rows.count);
	CHECK_OK(cp_record_each_sample_sum(r, compare_sum, &c));
	CHECK(c.told > 100 && c.told == c.sums.rows.count);
	CHECK_U64(c.same, c.told);
	cp_sample_sums_free(&c.sums);
	model_free(&m);
	cp_record_destroy(r);
	close(fd);
}

/* Rounded times lose nothing of a thread's weights. */
static void test_resolution(void)
{
	struct cp_record_info info = model_info;
	struct cp_record_process p = { .pid = 1 };
	struct cp_record_thread t = { .tid = 1 };
	struct cp_record_sample s = { .count = 1 };
	uint64_t given[2] = { 0 }, got[2] = { 0 };
	struct cp_record_writer *w;
	struct cp_record *r;
	uint32_t threads[2];
	int fd = scratch_file();
	size_t i;

	info.resolution_ns = 1000;
	CHECK_OK(cp_record_writer_create(dup(fd), &info, NULL, &w));
	t.process = cp_record_process(w, &p);
	threads[0] = cp_record_thread(w, &t);
	t.tid = 2;
	threads[1] = cp_record_thread(w, &t);
	for (i = 0; i < 1001; i++) {
		s.ts_ns = 5000000999 + i * 10101;
		s.thread = threads[i % 2];
		s.weight_ns = i % 3 ? 123457 * i : 7;
		given[i % 2] += s.weight_ns;
		cp_record_sample(w, &s);
	}
	cp_record_writer_destroy(w, NULL);
	r = load_file(fd);
	CHECK_U64(cp_record_info(r)->resolution_ns, 1000);
	CHECK_U64(cp_record_sample_count(r), 1001);
	for (i = 0; i < cp_record_sample_count(r); i++) {
		s = cp_record_samples(r)[i];
		CHECK_U64(s.ts_ns, (5000000999 + i * 10101) / 1000 * 1000);
		CHECK_U64(s.weight_ns % 1000, 0);
		got[s.thread] += s.weight_ns;
	}
	CHECK(given[0] - got[0] + 1000 < 2000 && given[1] - got[1] + 1000 < 2000);
	cp_record_destroy(r);
	close(fd);
}

/* Each location is named once, and never by the thread that records. */
static void test_resolver(void)
{
	struct model_calls calls = { 0 };
	struct model m;
	int fd = scratch_file();
	size_t i, named = 0;

	model_make(&m, 3, 3000);
	CHECK_OK(model_write_to(&m, fd, &calls, NULL));
	for (i = 0; i < MODEL_LOCATIONS; i++) {
		CHECK(calls.count[i] <= 1);
		named += calls.count[i];
	}
	CHECK(named > MODEL_LOCATIONS / 2);
	CHECK_U64(calls.unknown, 0);
	CHECK_U64(calls.same_thread, 0);
	model_free(&m);
}

/* Who wants no numbers comes to where those do who read them, or to nothing, as they do:
 * whatever the bytes are. */
static void test_passed_columns(void)
{
	uint64_t seed = 1, values[64];
	uint8_t bytes[80];
	int round;

	for (round = 0; round < 200000; round++) {
		size_t size, count, i;
		struct cp_cursor read, passed;
		unsigned long_ones;

		seed = cp_hash_u64(seed + 1);
		size = seed % (sizeof(bytes) + 1);
		count = (seed >> 8) % 64;
		long_ones = (unsigned)(seed >> 16) % 16;
		for (i = 0; i < size; i++) {
			seed = cp_hash_u64(seed + 1);
			bytes[i] = (uint8_t)(seed % 15 < long_ones ? seed >> 8 | 0x80
								   : (seed >> 8) & 0x7f);
		}
		if (size)
			bytes[0] &= 7; /* how they are written */
		read = passed = cp_cursor(bytes, size);
		cp_record_get_column(&read, values, count);
		cp_record_pass_column(&passed, count);
		CHECK(read.bad == passed.bad);
		CHECK(read.bad || read.at == passed.at);
	}
}

int main(void)
{
	test_crc();
	test_empty();
	test_info_kept();
	test_round_trip();
	test_large();
	test_sums(0);
	test_sums(300000);
	test_resolution();
	test_resolver();
	test_passed_columns();
	TEST_MAIN_END;
}
