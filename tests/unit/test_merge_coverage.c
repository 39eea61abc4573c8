/* SPDX-License-Identifier: MIT
 *
 * Coverage of forks, shards and machines put together: whatever the order and
 * however often, the same file to the byte; in it what was executed anywhere.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "record/merge.h"
#include "base/buf.h"
#include "base/error.h"
#include "made_recording.h"
#include "record/coverage.h"
#include "test.h"

struct file {
	struct cp_record *r;
	char *bytes;
	size_t size;
};

static struct file loaded(int fd)
{
	struct file f = { 0 };
	char path[64];

	f.size = (size_t)lseek(fd, 0, SEEK_END);
	f.bytes = malloc(f.size + 1);
	CHECK(pread(fd, f.bytes, f.size, 0) == (ssize_t)f.size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_OK(cp_record_load(path, &f.r));
	close(fd);
	return f;
}

static struct file made(const char *text)
{
	int fd = memfd_create("made", 0);

	CHECK_OK(made_write(text, dup(fd)));
	return loaded(fd);
}

static struct file merged(const struct file *const *from)
{
	struct cp_record *all[8];
	int fd = memfd_create("merged", 0);
	size_t n = 0;

	for (; from[n]; n++)
		all[n] = from[n]->r;
	CHECK_OK(cp_record_merge(all, n, dup(fd)));
	return loaded(fd);
}
#define MERGED(...) merged((const struct file *const[]){ __VA_ARGS__, NULL })

static void done(struct file *f)
{
	cp_record_destroy(f->r);
	free(f->bytes);
}

static void check_merge(const struct file *want, struct file got)
{
	CHECK(want->size == got.size && !memcmp(want->bytes, got.bytes, got.size));
	done(&got);
}

static void number(struct cp_buf *out, uint64_t n)
{
	if (n == CP_COVERAGE_UNKNOWN)
		cp_buf_str(out, "?");
	else
		cp_buf_printf(out, "%" PRIu64, n);
}

/* "NAME(counts; taken,passed...; lines)" of each function. */
static void check_text(const struct file *f, size_t image, const char *want)
{
	const struct cp_coverage_image *c = cp_record_get_coverage(f->r, image);
	struct cp_buf out = { 0 };
	size_t i;
	uint32_t k;

	cp_buf_str(&out, "");
	for (i = 0; c && i < c->function_count; i++) {
		const struct cp_coverage_function *fn = &c->functions[i];

		cp_buf_printf(&out, "%s%s(", i ? " " : "", fn->name);
		for (k = 0; k < fn->block_count; k++) {
			cp_buf_str(&out, k ? " " : "");
			number(&out, c->blocks[fn->first_block + k].count);
		}
		for (k = 0; k < fn->branch_count; k++) {
			cp_buf_str(&out, k ? " " : "; ");
			number(&out, c->branches[fn->first_branch + k].taken);
			cp_buf_str(&out, ",");
			number(&out, c->branches[fn->first_branch + k].passed);
		}
		for (k = 0; k < fn->row_count; k++)
			cp_buf_printf(&out, "%s%s:%u", k ? " " : "; ",
				      c->files[c->rows[fn->first_row + k].file],
				      c->rows[fn->first_row + k].line);
		cp_buf_str(&out, ")");
	}
	CHECK_STR(out.bytes ? out.bytes : "", want);
	cp_buf_free(&out);
}

/* All ways to bring three recordings together. */
static void check_properties(const struct file *a, const struct file *b, const struct file *c)
{
	struct file ab = MERGED(a, b), bc = MERGED(b, c), abc = MERGED(a, b, c);

	check_merge(&abc, MERGED(c, b, a));
	check_merge(&abc, MERGED(a, b, c, a, c));
	check_merge(&abc, MERGED(&ab, c));
	check_merge(&abc, MERGED(a, &bc));
	check_merge(&abc, MERGED(&bc, &ab));
	check_merge(&abc, MERGED(&abc, b));
	check_merge(&abc, MERGED(&abc));
	done(&ab);
	done(&bc);
	done(&abc);
}

static void test_covered(void)
{
	struct file a = made("image /x build=aa\nfn f /f.c 1\nb 1 2\nj 0 1 2\nb 0 3\nb 0 4\n"
			     "fn gone /f.c 9 removed\nfn z /f.c 20 at=0x9000\nb 1 21"),
		    b = made("image /y build=aa\nfn f /f.c 1\nb 0 2\nj ? 0 2\nb 1 3\nb ? 4\n"
			     "fn g /f.c 7 at=0x8000\nb 0 8"),
		    c = made("image /x build=bb\nfn f /f.c 1\nb 0 5\nimage /x build=aa\n"
			     "fn f /f.c 1\nb 1 2\nj 0 0 2\nb 0 3\nb 0 4");
	struct file ab = MERGED(&a, &b), abc = MERGED(&a, &b, &c);

	check_text(&ab, 0, "gone() f(1 1 ?; ?,1; /f.c:2 /f.c:3 /f.c:4) g(0; /f.c:8) z(1; /f.c:21)");
	CHECK_U64(cp_record_coverage_count(ab.r), 1);
	CHECK_U64(cp_record_coverage_count(abc.r), 2);
	check_text(&abc, 1, "f(0; /f.c:5)");
	CHECK(cp_record_info(abc.r)->holds == CP_RECORD_HAS_COVERAGE);
	check_properties(&a, &b, &c);
	done(&ab);
	done(&abc);
	done(&a);
	done(&b);
	done(&c);
}

/* Exact counts add up, but those of one recording only once. */
static void test_counted(void)
{
	struct file a = made("image /x counted exact\nfn f /f.c 1\nb 3 2\nj 1 2 2\nb 0 3"),
		    b = made("image /x counted exact\nfn f /f.c 1\nb 40 2\nj ? 40 2\nb 0 3\n"
			     "fn g /f.c 7 at=0x8000\nb 5 8"),
		    c = made("image /x\nfn f /f.c 1\nb 1 2\nj 0 1 2\nb 1 3");
	struct file ab = MERGED(&a, &b), twice = MERGED(&ab, &a, &ab), abc = MERGED(&ab, &c);

	check_text(&ab, 0, "f(43 0; 1,42; /f.c:2 /f.c:3) g(5; /f.c:8)");
	CHECK(cp_record_get_coverage(ab.r, 0)->flags ==
	      (CP_COVERAGE_COUNTED | CP_COVERAGE_EXACT_BRANCHES));
	check_merge(&ab, twice);
	/* Where one did not count, all that is known is whether. */
	check_text(&abc, 0, "f(1 1; 1,1; /f.c:2 /f.c:3) g(1; /f.c:8)");
	CHECK(cp_record_get_coverage(abc.r, 0)->flags == 0);
	check_properties(&a, &b, &c);
	done(&ab);
	done(&abc);
	done(&a);
	done(&b);
	done(&c);
}

/* A machine without the debug file knows blocks, not lines. */
static void test_no_lines(void)
{
	struct file a = made("image /x build=aa\nfn f /f.c 1\nb 0 2\nb 0 3"),
		    b = made("image /x build=aa\nfn f - 0\nb 1\nb 0"),
		    c = made("image /x build=aa\nfn f(int) /f.c 1\nb 0 2\nb 0 4");
	struct file ab = MERGED(&b, &a);

	check_text(&ab, 0, "f(1 0; /f.c:2 /f.c:3)");
	check_properties(&a, &b, &c);
	done(&ab);
	done(&a);
	done(&b);
	done(&c);
}

/* Where a fault cut a block in one of them, it is cut in all. */
static void test_cuts(void)
{
	struct file
		a = made("image /x build=aa\nfn f /f.c 1\nb 1 =32 >2 2 3 4 5\nj 1 0 >1\n"
			 "b 0 6"),
		b = made("image /x build=aa\nfn f /f.c 1\nb 1 =8 >2 2 3\nb 0 =24 >3 !3 3inc 4 5\n"
			 "j 0 0 >1\nb 0 6"),
		c = made("image /x build=aa\nfn f /f.c 1\nb 1 =20 >2 2 3 4\n"
			 "b ? =12 >3 !3 4icu 5u\nj 0 0 >1\nb 1 6"),
		d = made("image /x build=aa\nfn f - 0\nb 1 =8 >2\nb 0 =20 >3\nb 0 =4 >4\n"
			 "j 0 0 >1\nb 0");
	struct file ab = MERGED(&a, &b), bc = MERGED(&b, &c), abc = MERGED(&bc, &a),
		    bd = MERGED(&d, &b);
	const struct cp_coverage_image *it = cp_record_get_coverage(bc.r, 0);

	check_text(&ab, 0, "f(1 1 0; 1,0; /f.c:2 /f.c:3 /f.c:3 /f.c:4 /f.c:5 /f.c:6)");
	check_text(&bc, 0, "f(1 1 ? 1; 0,0; /f.c:2 /f.c:3 /f.c:3 /f.c:4 /f.c:4 /f.c:5 /f.c:6)");
	check_text(&abc, 0, "f(1 1 1 1; 1,0; /f.c:2 /f.c:3 /f.c:3 /f.c:4 /f.c:4 /f.c:5 /f.c:6)");
	check_text(&bd, 0, "f(1 0 0 0; 0,0; /f.c:2 /f.c:3 /f.c:3 /f.c:4 /f.c:5 /f.c:6)");
	CHECK_U64(it->blocks[0].next, 2);
	CHECK_U64(it->blocks[1].next, 3);
	CHECK_U64(it->blocks[2].next, 4);
	CHECK_U64(it->blocks[1].landing, 0);
	CHECK_U64(it->blocks[2].landing, 4);
	CHECK_U64(it->branches[0].block, 2);
	CHECK_U64(it->branches[0].target, 1);
	CHECK_U64(it->rows[3].block, 1);
	CHECK_U64(it->rows[4].block, 2);
	check_properties(&a, &b, &c);
	check_properties(&d, &c, &b);
	done(&ab);
	done(&bc);
	done(&abc);
	done(&bd);
	done(&a);
	done(&b);
	done(&c);
	done(&d);
}

static void test_refused(void)
{
	static const char *const others[] = {
		"image /x\nfn f /f.c 1\nb 1 2\nb 0 3\nb 1 4", /* a block more */
		"image /x\nfn f /f.c 1\nb 1 2\nj 0 0 2\nb 0 3", /* a branch */
	};
	struct file a = made("image /x\nfn f /f.c 1\nb 1 2\nb 0 3");
	size_t i;

	for (i = 0; i < 2; i++) {
		struct file b = made(others[i]);
		struct cp_record *all[] = { a.r, b.r };
		struct cp_error *err = cp_record_merge(all, 2, memfd_create("merged", 0));

		CHECK(err && err->code == CP_ERR_UNSUPPORTED);
		CHECK(err && strstr(err->what, "different code of f at 0x1010 in /x"));
		CHECK(err && err->hint && strstr(err->hint, "--build-id"));
		cp_error_free(err);
		done(&b);
	}
	done(&a);
}

int main(void)
{
	test_covered();
	test_counted();
	test_no_lines();
	test_cuts();
	test_refused();
	TEST_MAIN_END;
}
