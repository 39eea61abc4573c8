/* SPDX-License-Identifier: MIT
 *
 * Coverage in a recording: what comes out is what went in, whatever is written
 * again; and of a damaged or hostile file nothing that is not so.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "record/coverage_encode.h"
#include "record/load.h"
#include "record/reader.h"
#include "record/sink.h"
#include "record_model.h"
#include "test.h"

/* A made-up image; its arrays have room for these. */
#define FUNCTIONS 3000
#define FILES 20

struct program {
	uint64_t seed;
	struct cp_coverage_image c;
	char names[FUNCTIONS][32], files[FILES][32];
	const char *file_list[FILES];
	CP_VEC(struct cp_coverage_function) functions;
	CP_VEC(struct cp_coverage_block) blocks;
	CP_VEC(struct cp_coverage_row) rows;
	CP_VEC(struct cp_coverage_branch) branches;
	CP_VEC(struct cp_coverage_inline) inlines;
};

static uint64_t next(struct program *p, uint64_t below)
{
	p->seed += UINT64_C(0x9e3779b97f4a7c15);
	return cp_hash_u64(p->seed) % below;
}

static uint64_t count(struct program *p)
{
	uint64_t r = next(p, 20);

	if (p->c.flags & CP_COVERAGE_COUNTED)
		return r == 19 ? UINT64_C(1) << 50 : r;
	return r < 18 ? r % 2 : CP_COVERAGE_UNKNOWN;
}

static uint32_t file(struct program *p)
{
	uint64_t n = next(p, FILES + 1);

	return n < FILES ? (uint32_t)n : CP_RECORD_NONE;
}

static void make_blocks(struct program *p, struct cp_coverage_function *f, uint64_t *address)
{
	uint32_t blocks = (uint32_t)next(p, 30), i, row;

	f->entry = f->first_block + (blocks ? (uint32_t)next(p, blocks) : 0);
	for (i = 0; i < blocks; i++) {
		uint32_t block = (uint32_t)p->blocks.count, size = (uint32_t)next(p, 40) + 1;

		cp_vec_push(&p->blocks, (struct cp_coverage_block){ *address, size, count(p),
								    (uint32_t)next(p, 30),
								    (uint32_t)next(p, 30) });
		for (row = (uint32_t)next(p, 4); row; row--)
			cp_vec_push(&p->rows, (struct cp_coverage_row){ block, file(p),
									(uint32_t)next(p, 5000),
									(uint32_t)next(p, 4) });
		if (next(p, 3) == 0)
			cp_vec_push(&p->branches, (struct cp_coverage_branch){
							  *address + size - 1, block, file(p),
							  (uint32_t)next(p, 5000), count(p),
							  count(p), (uint32_t)next(p, 30) });
		if (next(p, 20) == 0)
			cp_vec_push(&p->inlines,
				    (struct cp_coverage_inline){ p->names[next(p, FUNCTIONS)],
								 file(p), 7, block });
		*address += size + (next(p, 20) ? 0 : 100);
	}
	f->block_count = blocks;
}

static void make(struct program *p, uint64_t seed, size_t functions, uint32_t flags)
{
	uint64_t address = 0x401000;
	size_t i;

	*p = (struct program){ .seed = seed, .c = { .flags = flags, .written_ns = 1234567890 } };
	for (i = 0; i < FILES; i++) {
		snprintf(p->files[i], sizeof(p->files[i]), "/src/\xff%zu;\n.c", i);
		p->file_list[i] = p->files[i];
	}
	for (i = 0; i < FUNCTIONS; i++)
		snprintf(p->names[i], sizeof(p->names[i]), "f<%zu>(int)", i);
	for (i = 0; i < functions; i++) {
		struct cp_coverage_function f = {
			.name = p->names[i],
			.linkage = i % 5 ? p->names[FUNCTIONS - 1 - i] : "",
			.address = address,
			.file = file(p),
			.line = (uint32_t)next(p, 5000),
			.flags = (uint32_t)next(p, 2),
			.first_block = (uint32_t)p->blocks.count,
			.first_row = (uint32_t)p->rows.count,
			.first_branch = (uint32_t)p->branches.count,
			.first_inline = (uint32_t)p->inlines.count,
		};

		make_blocks(p, &f, &address);
		f.row_count = (uint32_t)p->rows.count - f.first_row;
		f.branch_count = (uint32_t)p->branches.count - f.first_branch;
		f.inline_count = (uint32_t)p->inlines.count - f.first_inline;
		cp_vec_push(&p->functions, f);
		address += 16;
	}
	p->c.files = p->file_list;
	p->c.file_count = FILES;
	p->c.functions = p->functions.items;
	p->c.function_count = p->functions.count;
	p->c.blocks = p->blocks.items;
	p->c.block_count = p->blocks.count;
	p->c.rows = p->rows.items;
	p->c.row_count = p->rows.count;
	p->c.branches = p->branches.items;
	p->c.branch_count = p->branches.count;
	p->c.inlines = p->inlines.items;
	p->c.inline_count = p->inlines.count;
}

static void free_program(struct program *p)
{
	cp_vec_free(&p->functions);
	cp_vec_free(&p->blocks);
	cp_vec_free(&p->rows);
	cp_vec_free(&p->branches);
	cp_vec_free(&p->inlines);
}

static struct cp_record_writer *begin(int fd)
{
	struct cp_record_info info = model_info;
	struct cp_record_writer *w = NULL;

	info.holds = CP_RECORD_HAS_COVERAGE;
	CHECK_OK(cp_record_writer_create(fd, &info, NULL, &w));
	return w;
}

static void put(struct cp_record_writer *w, uint64_t key, const char *path,
		struct cp_coverage_image *c)
{
	struct cp_record_image image = { .path = path, .build_id = "", .debug_path = "" };

	c->image = cp_record_image(w, key, &image);
	cp_record_coverage(w, c);
	cp_record_flush(w);
}

static struct cp_record *finish(struct cp_record_writer *w, int fd)
{
	struct cp_error *err = NULL;
	struct cp_record *r;

	cp_record_writer_destroy(w, &err);
	CHECK_OK(err);
	r = load_file(fd);
	close(fd);
	CHECK(r != NULL);
	return r;
}

/* ---- comparing ---- */

static const char *file_name(const struct cp_coverage_image *c, uint32_t n)
{
	return n == CP_RECORD_NONE ? "none" : n < c->file_count ? c->files[n] : "bad";
}

/* A function in words; blocks count from its first. */
static void text_of(const struct cp_coverage_image *c, const struct cp_coverage_function *f,
		    bool counts, struct cp_buf *out)
{
	uint32_t i;

	cp_buf_printf(out, "%s %s %#llx %s:%u entry %u flags %u", f->name, f->linkage,
		      (unsigned long long)f->address, file_name(c, f->file), f->line,
		      f->entry - f->first_block, f->flags);
	for (i = 0; i < f->block_count; i++) {
		const struct cp_coverage_block *b = &c->blocks[f->first_block + i];

		cp_buf_printf(out, " | %#llx+%u", (unsigned long long)b->address, b->size);
		cp_buf_printf(out, ">%u!%u", b->next, b->landing);
		if (counts)
			cp_buf_printf(out, "=%lld", (long long)b->count);
	}
	for (i = 0; i < f->row_count; i++) {
		const struct cp_coverage_row *row = &c->rows[f->first_row + i];

		cp_buf_printf(out, " r%u %s:%u.%u", row->block - f->first_block,
			      file_name(c, row->file), row->line, row->flags);
	}
	for (i = 0; i < f->branch_count; i++) {
		const struct cp_coverage_branch *b = &c->branches[f->first_branch + i];

		cp_buf_printf(out, " j%u %#llx %s:%u", b->block - f->first_block,
			      (unsigned long long)b->address, file_name(c, b->file), b->line);
		cp_buf_printf(out, ">%u", b->target);
		if (counts)
			cp_buf_printf(out, "=%lld,%lld", (long long)b->taken, (long long)b->passed);
	}
	for (i = 0; i < f->inline_count; i++) {
		const struct cp_coverage_inline *n = &c->inlines[f->first_inline + i];

		cp_buf_printf(out, " i%u %s %s:%u", n->block - f->first_block, n->name,
			      file_name(c, n->file), n->line);
	}
}

static bool same_function(const struct cp_coverage_image *a, const struct cp_coverage_function *fa,
			  const struct cp_coverage_image *b, const struct cp_coverage_function *fb,
			  bool counts)
{
	struct cp_buf ta = { 0 }, tb = { 0 };
	bool same;

	text_of(a, fa, counts, &ta);
	text_of(b, fb, counts, &tb);
	same = !strcmp(ta.bytes, tb.bytes);
	if (!same)
		fprintf(stderr, "got  %s\nwant %s\n", ta.bytes, tb.bytes);
	cp_buf_free(&ta);
	cp_buf_free(&tb);
	return same;
}

static void check_same(const struct cp_coverage_image *got, const struct cp_coverage_image *want)
{
	size_t i;

	CHECK(got != NULL);
	if (!got)
		return;
	CHECK_U64(got->function_count, want->function_count);
	CHECK_U64(got->block_count, want->block_count);
	CHECK_U64(got->flags, want->flags);
	CHECK_U64(got->written_ns, want->written_ns);
	for (i = 0; i < got->function_count && i < want->function_count; i++) {
		bool same = same_function(got, &got->functions[i], want, &want->functions[i], true);

		CHECK(same);
		if (!same)
			break;
	}
}

/* ---- tests ---- */

static void test_round_trip(void)
{
	static const uint32_t flags[] = { 0, CP_COVERAGE_COUNTED,
					  CP_COVERAGE_COUNTED | CP_COVERAGE_EXACT_BRANCHES,
					  CP_COVERAGE_NO_BRANCHES };
	struct program *p = calloc(2, sizeof(*p));
	struct cp_record_writer *w;
	struct cp_record *r;
	size_t i;
	int fd;

	for (i = 0; i < CP_ARRAY_SIZE(flags); i++) {
		fd = scratch_file();
		make(&p[0], i, 2500, flags[i]); /* in more than one unit */
		make(&p[1], 100 + i, i, 0);
		w = begin(dup(fd));
		put(w, 7, "/bin/a", &p[0].c);
		put(w, 8, "/bin/b", &p[1].c);
		r = finish(w, fd);
		CHECK_U64(cp_record_coverage_count(r), i ? 2 : 1); /* one of nothing is none */
		check_same(cp_record_get_coverage(r, 0), &p[0].c);
		if (i)
			check_same(cp_record_get_coverage(r, 1), &p[1].c);
		CHECK(!cp_record_get_coverage(r, 2));
		CHECK_STR(cp_record_get_image(r, cp_record_get_coverage(r, 0)->image)->path,
			  "/bin/a");
		CHECK(cp_record_info(r)->holds == CP_RECORD_HAS_COVERAGE);
		CHECK_U64(cp_record_damage(r)->bad_chunks + cp_record_damage(r)->dropped, 0);
		cp_record_destroy(r);
		free_program(&p[0]);
		free_program(&p[1]);
	}
	free(p);
}

/* Once a second, while it runs: the last counts are those that count, and what
 * does not change takes no room. */
static void test_again(void)
{
	struct program *p = calloc(1, sizeof(*p)), *other = calloc(1, sizeof(*p));
	struct cp_record_writer *w;
	struct cp_record *r;
	struct stat once, same;
	int fd = scratch_file(), i;

	make(p, 1, 2000, 0);
	make(other, 2, 1500, 0);
	w = begin(dup(fd));
	put(w, 7, "/bin/a", &p->c);
	cp_record_writer_destroy(w, NULL);
	CHECK(!fstat(fd, &once));
	close(fd);
	fd = scratch_file();
	w = begin(dup(fd));
	for (i = 0; i < 20; i++)
		put(w, 7, "/bin/a", &p->c);
	r = finish(w, dup(fd));
	CHECK(!fstat(fd, &same) && same.st_size < once.st_size + 2000);
	check_same(cp_record_get_coverage(r, 0), &p->c);
	cp_record_destroy(r);
	close(fd);

	fd = scratch_file();
	w = begin(dup(fd));
	for (i = 0; i < 5; i++) {
		p->blocks.items[i].count = 1 + (uint64_t)i;
		put(w, 7, "/bin/a", &p->c);
	}
	put(w, 7, "/bin/a", &other->c); /* another layout, and back */
	put(w, 7, "/bin/a", &p->c);
	p->blocks.items[9].count = 5;
	p->c.flags = CP_COVERAGE_COUNTED;
	put(w, 7, "/bin/a", &p->c);
	r = finish(w, fd);
	CHECK_U64(cp_record_coverage_count(r), 1);
	check_same(cp_record_get_coverage(r, 0), &p->c);
	cp_record_destroy(r);
	free_program(p);
	free_program(other);
	free(p);
	free(other);
}

/* Whatever chunk is broken: what is left is so, and the rest is missed. */
static void test_damage(void)
{
	struct program *p = calloc(1, sizeof(*p));
	struct cp_record_writer *w;
	struct cp_record_chunk chunk;
	struct cp_buf file;
	int fd = scratch_file();
	size_t at, i, k;

	make(p, 3, 2500, CP_COVERAGE_COUNTED);
	w = begin(dup(fd));
	put(w, 7, "/bin/a", &p->c);
	p->blocks.items[0].count++;
	put(w, 7, "/bin/a", &p->c);
	cp_record_writer_destroy(w, NULL);
	file = file_bytes(fd);
	for (at = CP_RECORD_PREAMBLE_SIZE; at < file.size;
	     at += CP_RECORD_HEADER_SIZE + chunk.stored) {
		uint8_t *byte;
		struct cp_record *r = NULL;

		CHECK(cp_record_get_chunk((uint8_t *)file.bytes + at, &chunk));
		if (!chunk.stored)
			break;
		byte = (uint8_t *)file.bytes + at + CP_RECORD_HEADER_SIZE + chunk.stored / 2;
		*byte ^= 0x55;
		CHECK_OK(cp_record_load_bytes(file.bytes, file.size, "damaged", &r));
		CHECK(cp_record_damage(r)->bad_chunks > 0);
		for (k = 0; k < cp_record_coverage_count(r); k++) {
			const struct cp_coverage_image *c = cp_record_get_coverage(r, k);
			size_t n = 0;

			for (i = 0; i < c->function_count; i++, n++) {
				while (n < p->c.function_count &&
				       p->c.functions[n].address < c->functions[i].address)
					n++;
				if (!same_function(c, &c->functions[i], &p->c, &p->c.functions[n],
						   false))
					break;
			}
			CHECK_U64(i, c->function_count);
		}
		cp_record_destroy(r);
		*byte ^= 0x55;
	}
	cp_buf_free(&file);
	close(fd);
	free_program(p);
	free(p);
}

/* Whose functions make no sense, they are left out. */
static void test_out_of_order(void)
{
	static const char *const files[] = { "f.c" };
	struct cp_coverage_block blocks[] = { { 0x1000, 4, 1 }, { 0x2000, 4, 1 } };
	struct cp_coverage_row rows[] = { { 0, 0, 1, 0 }, { 1, 9, 2, 0 } };
	struct cp_coverage_function f[] = {
		{ .name = "good", .address = 0x1000, .block_count = 1, .row_count = 1 },
		{ .name = "its row is the other's",
		  .address = 0x2000,
		  .first_block = 1,
		  .block_count = 1,
		  .entry = 1,
		  .row_count = 1 },
		{ .name = "beyond", .address = 0x3000, .first_block = 1, .block_count = 2 },
		{ .name = "far", .address = 0x3000, .first_row = UINT32_MAX, .row_count = 2 },
		{ .name = "entry", .address = 0x3000, .block_count = 1, .entry = 1 },
		{ .name = "no such file",
		  .address = 0x4000,
		  .file = 77,
		  .first_block = 1,
		  .block_count = 1,
		  .entry = 1,
		  .first_row = 1,
		  .row_count = 1 },
	};
	struct cp_coverage_image c = { .files = files,
				       .file_count = 1,
				       .functions = f,
				       .function_count = CP_ARRAY_SIZE(f),
				       .blocks = blocks,
				       .block_count = 2,
				       .rows = rows,
				       .row_count = 2 };
	const struct cp_coverage_image *got;
	int fd = scratch_file();
	struct cp_record_writer *w = begin(dup(fd));
	struct cp_record *r;

	put(w, 7, "/bin/a", &c);
	r = finish(w, fd);
	got = cp_record_get_coverage(r, 0);
	CHECK_U64(got->function_count, 2);
	CHECK_STR(got->functions[0].name, "good");
	CHECK_STR(got->functions[1].name, "no such file");
	CHECK(got->functions[1].file == CP_RECORD_NONE);
	CHECK(got->rows[1].file == CP_RECORD_NONE && got->rows[1].block == 1);
	cp_record_destroy(r);
}

/* ---- made to break the reader ---- */

static void column(struct cp_buf *out, size_t count, uint64_t value)
{
	cp_buf_u8(out, 0);
	while (count--)
		cp_buf_uleb(out, value);
}

/* A unit with one function of so many blocks; and with `bad` at place `at` of
 * its numbers. */
static void unit(struct cp_buf *payload, uint64_t index, size_t blocks, size_t at, uint64_t bad)
{
	const uint64_t function[CP_COVER_FUNCTION_COLUMNS] = { 0, 0,	  0x1000, 0, 0, 0,
							       0, blocks, 1,	  1, 1 };
	const uint64_t rest[] = { 0, 0, 5, 1, 0, 0, 0, 5, 1, 0, 0, 0, 5 };
	const uint64_t head[] = { 0, 1, index, 0, 1, blocks, 1, 1, 1 };
	struct cp_buf body = { 0 };
	size_t n = 0, i;

	for (i = 0; i < CP_ARRAY_SIZE(head); i++, n++)
		cp_buf_uleb(&body, n == at ? bad : head[i]);
	for (i = 0; i < CP_ARRAY_SIZE(function); i++, n++)
		column(&body, 1, n == at ? bad : function[i]);
	column(&body, blocks, 0);
	column(&body, blocks, 4);
	column(&body, blocks, 2); /* where they go on */
	for (i = 0; i < CP_ARRAY_SIZE(rest); i++, n++)
		column(&body, 1, n == at ? bad : rest[i]);
	cp_record_put_field(payload, CP_RECORD_COVERAGE, body.bytes, body.size);
	cp_buf_free(&body);
}

static void counts(struct cp_buf *payload, uint64_t index, uint64_t part, size_t blocks)
{
	const uint64_t head[] = { 0, 1, index, part, CP_COVERAGE_COUNTED };
	struct cp_buf body = { 0 };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(head); i++)
		cp_buf_uleb(&body, head[i]);
	column(&body, blocks, 3);
	column(&body, 1, 4);
	column(&body, 1, 1);
	cp_record_put_field(payload, CP_RECORD_COUNTS, body.bytes, body.size);
	cp_buf_free(&body);
}

static struct cp_record *load_payload(struct cp_buf *payload)
{
	struct cp_record_preamble preamble = { .major = CP_RECORD_MAJOR };
	struct cp_record_sink sink;
	struct cp_record *r;
	struct cp_buf image = { 0 };
	int fd = scratch_file();

	cp_buf_uleb(&image, 1);
	for (int i = 0; i < 4; i++)
		column(&image, 1, 0);
	CHECK_OK(cp_record_sink_init(&sink, dup(fd)));
	cp_record_sink_preamble(&sink, &preamble);
	{
		struct cp_buf first = { 0 };

		cp_record_put_field(&first, CP_RECORD_IMAGES, image.bytes, image.size);
		cp_record_sink_chunk(&sink, CP_RECORD_CHUNK_DATA, &first);
		cp_buf_free(&first);
	}
	cp_record_sink_chunk(&sink, CP_RECORD_CHUNK_DATA, payload);
	cp_record_sink_deinit(&sink);
	r = load_file(fd);
	close(fd);
	CHECK(r != NULL);
	cp_buf_free(payload);
	cp_buf_free(&image);
	return r;
}

static void test_hostile_numbers(void)
{
	static const uint64_t bad[] = { 1, 2, 100, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX };
	const struct cp_coverage_image *c;
	struct cp_buf payload = { 0 };
	struct cp_record *r;
	size_t at, i, k, n;

	unit(&payload, 0, 3, SIZE_MAX, 0);
	counts(&payload, 0, 1, 3);
	r = load_payload(&payload);
	CHECK_U64(cp_record_coverage_count(r), 1);
	CHECK_U64(cp_record_get_coverage(r, 0)->blocks[2].count, 1);
	CHECK_U64(cp_record_get_coverage(r, 0)->branches[0].taken, 2);
	CHECK_U64(cp_record_get_coverage(r, 0)->branches[0].passed, CP_COVERAGE_UNKNOWN);
	cp_record_destroy(r);
	for (at = 0; at < 9 + CP_COVER_FUNCTION_COLUMNS + 13; at++) {
		for (i = 0; i < CP_ARRAY_SIZE(bad); i++) {
			payload = (struct cp_buf){ 0 };
			unit(&payload, 0, 3, at, bad[i]);
			counts(&payload, 0, 1, 3);
			r = load_payload(&payload);
			c = cp_record_get_coverage(r, 0);
			for (k = 0, n = 0; c && k < c->function_count; k++) {
				struct cp_buf text = { 0 };

				text_of(c, &c->functions[k], true, &text);
				n += text.size;
				cp_buf_free(&text);
			}
			CHECK(!c || n);
			cp_record_destroy(r);
		}
	}
}

/* One large unit, many small ones, and counts of each in a part of its own:
 * each part's counts of all of the image would be 500 GB. */
static void test_hostile_parts(void)
{
	struct cp_buf payload = { 0 };
	struct rusage usage;
	struct cp_record *r;
	uint64_t i;

	unit(&payload, 0, 1 << 20, SIZE_MAX, 0);
	for (i = 1; i < 20000; i++) {
		unit(&payload, i, 1, SIZE_MAX, 0);
		counts(&payload, i, i, 1);
	}
	r = load_payload(&payload);
	CHECK_U64(cp_record_coverage_count(r), 1);
	CHECK(cp_record_damage(r)->dropped > 19000);
	cp_record_destroy(r);
	CHECK(!getrusage(RUSAGE_SELF, &usage) && usage.ru_maxrss < 1 << 20);
}

int main(void)
{
	test_round_trip();
	test_again();
	test_damage();
	test_out_of_order();
	test_hostile_numbers();
	test_hostile_parts();
	TEST_MAIN_END;
}
