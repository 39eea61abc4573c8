/* SPDX-License-Identifier: MIT
 *
 * From recorded blocks to lines, functions and branches: what made recordings
 * say is known, and so what has to come of it.
 */
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "made_recording.h"
#include "report/coverage/coverage.h"
#include "report/coverage/covered.h"
#include "report/coverage/names.h"
#include "report/coverage/sources.h"
#include "report/coverage/table.h"
#include "report/look/table.h"
#include "test.h"

static void count(struct cp_buf *out, uint64_t n)
{
	if (n == CP_COVERAGE_UNKNOWN)
		cp_buf_str(out, "?");
	else
		cp_buf_printf(out, "%" PRIu64, n);
}

/* LINE=COUNT[/marks][:TAKEN,PASSED...], functions in brackets. */
static void file_text(const struct cp_covered_file *f, struct cp_buf *out)
{
	const struct cp_covered_function *fn;
	const struct cp_covered_line *l;
	uint32_t i;

	cp_buf_printf(out, "%s", f->name);
	cp_vec_for_each(&f->lines, l) {
		cp_buf_printf(out, " %u=", l->line);
		count(out, l->count);
		if (l->flags)
			cp_buf_printf(out, "/%s%s%s%s%s", l->flags & CP_COVERED_EXCLUDED ? "x" : "",
				      l->flags & CP_COVERED_SHARED ? "s" : "",
				      l->flags & CP_COVERED_REMOVED ? "r" : "",
				      l->flags & CP_COVERED_CHANGED ? "c" : "",
				      l->flags & CP_COVERED_NO_BRANCHES ? "b" : "");
		for (i = 0; i < l->branch_count; i++) {
			const struct cp_covered_branch *b = &f->branches.items[l->first_branch + i];

			CHECK_U64(b->line, l->line);
			CHECK_U64(b->number, i);
			CHECK(b->flags == l->flags);
			cp_buf_str(out, ":");
			count(out, b->taken);
			cp_buf_str(out, ",");
			count(out, b->passed);
		}
	}
	cp_vec_for_each(&f->functions, fn) {
		cp_buf_printf(out, " [%s %u-%u ", fn->name, fn->line, fn->end_line);
		count(out, fn->count);
		cp_buf_printf(out, " %u/%u%s%s]", fn->blocks_covered, fn->blocks,
			      fn->flags & CP_COVERED_REMOVED ? " removed" : "",
			      fn->flags & CP_COVERED_EXCLUDED ? " excluded" : "");
	}
	cp_buf_str(out, "\n");
}

static struct cp_coverage built(const char *text, struct cp_sources *sources)
{
	struct cp_coverage c = { 0 };
	struct cp_record *r = NULL;

	CHECK_OK(made_load(text, &r));
	CHECK_OK(cp_coverage_build(r, sources, &c));
	cp_record_destroy(r); /* nothing of it is needed any more */
	return c;
}

/* The totals are those of the files that other tools read. */
static void check_totals(const struct cp_coverage *c)
{
	struct cp_coverage_totals sum = { 0 }, t;
	const struct cp_covered_binary *b;
	const struct cp_covered_file *f;

	cp_vec_for_each(&c->files, f) {
		t = cp_file_totals(f);
		CHECK_U64(f->totals.lines, t.lines);
		CHECK_U64(f->totals.lines_covered, t.lines_covered);
		CHECK_U64(f->totals.functions, t.functions);
		CHECK_U64(f->totals.functions_covered, t.functions_covered);
		CHECK_U64(f->totals.branches, t.branches);
		CHECK_U64(f->totals.branches_covered, t.branches_covered);
		cp_totals_add(&sum, &t);
	}
	cp_vec_for_each(&c->binaries, b)
		cp_totals_add(&sum, &b->totals);
	CHECK_U64(c->totals.lines, sum.lines);
	CHECK_U64(c->totals.functions, sum.functions);
	CHECK_U64(c->totals.branches_covered, sum.branches_covered);
}

static void check_text(const char *text, const char *want)
{
	struct cp_coverage c = built(text, NULL);
	struct cp_buf got = { 0 };
	const struct cp_covered_file *f;

	cp_buf_str(&got, "");
	cp_vec_for_each(&c.files, f)
		file_text(f, &got);
	CHECK_STR(got.bytes ? got.bytes : "", want);
	check_totals(&c);
	cp_buf_free(&got);
	cp_coverage_deinit(&c);
}

static void test_lines(void)
{
	/* Any executed block in which it begins, or else with code of it. A line is
	 * uncertain that begins nowhere, or has no instruction of its own. */
	check_text("image a\nfn f /f.c 1\nb 1 2 3\nb 0 3 4\nb ? 5\nb ? 5 6\nb 0 6\nb 0 7n\nb 1 7n",
		   "/f.c 2=1 3=1 4=0 5=? 6=? 7=1/s [f 1-7 1 2/7]\n");
	check_text("image a\nfn f /f.c 1\nb 1 2e\nb 1 3e 4\nb 1 3n\nb 1 0 5\nb 0 5e",
		   "/f.c 2=1/s 3=1 4=1 5=1 [f 1-5 1 4/5]\n");
	/* A jump into the middle; nothing known of a line that has no row. */
	check_text("image a\nfn f /f.c 1 removed\nfn g /f.c 5\nb 0 6",
		   "/f.c 6=0 [f 1-1 0 0/0 removed] [g 5-6 0 0/1]\n");
	check_text("image a\nfn f - 0\nb 1", "");
	/* What is not declared anywhere begins where its code does. */
	check_text("image a\nfn f - 0\nb 1 /g.c:7\nb 0 /g.c:8", "/g.c 7=1 8=0 [f 7-8 1 1/2]\n");
}

static void test_moved(void)
{
	/* Code that was moved up ran, its statement did not begin: not reached, but
	 * for all that is known. One that begins and has its code elsewhere, too. */
	check_text("image a\nfn f /f.c 1\nb 1 2 3n 2n\nb 0 3", "/f.c 2=1 3=0/s [f 1-3 1 1/2]\n");
	check_text("image a\nfn f /f.c 1\nb 1 2 3ne\nb 0 3e 3n", "/f.c 2=1 3=0/s [f 1-3 1 1/2]\n");
	check_text("image a\nfn f /f.c 1\nb 1 2 3e\nb 0 3n\nb 1 4e 2\nb 1 4n",
		   "/f.c 2=1 3=1/s 4=1 [f 1-4 1 3/4]\n");
	/* In one of two instances it was; in one that has no beginning left. */
	check_text("image a\nfn f<1>() /f.c 1\nb 1 2n\nb 0 2\nfn f<2>() /f.c 1\nb 1 2",
		   "/f.c 2=1 [f 1-2 1 2/3]\n");
	check_text("image a\nfn f<1>() /f.c 1\nb 0 2\nfn f<2>() /f.c 1\nb 1 2n",
		   "/f.c 2=1/s [f 1-2 1 1/1]\n");
	/* A jump into the middle of a statement. */
	check_text("image a\nfn f /f.c 1\nb 1 2\nb 0 3\nb 1 3ni", "/f.c 2=1 3=1 [f 1-3 1 2/3]\n");
	/* What can't be told is not doubted. */
	check_text("image a counted\nfn f /f.c 1\nb 7 2 3n\nb ? 3", "/f.c 2=7 3=? [f 1-3 7 1/2]\n");
}

static void test_counts(void)
{
	/* As often as it was entered from other lines; of instances the sum. */
	check_text("image a counted\nfn f /f.c 1\nb 3 2\nb 40 2\nb 5 2",
		   "/f.c 2=48 [f 1-2 3 3/3]\n");
	check_text("image a counted\nfn f /f.c 1\nb 3 1 2 3 >2\nb 4 2",
		   "/f.c 1=3 2=4 3=3 [f 1-3 3 2/2]\n");
	/* for (i = 0; i < 9; i++), with its body on a line of its own, and not. */
	check_text("image a counted\nfn f /f.c 1\nb 1 2 >4\nb 9 3 >3\nb 9 2 >4\nb 10 2 >5\n"
		   "j 9 1 >2 2\nb 1 4",
		   "/f.c 2=10:9,1 3=9 4=1 [f 1-4 1 5/5]\n");
	check_text("image a counted\nfn f /f.c 1\nb 1 2 >3\nb 9 2 >3\nb 10 2 >4\nj 9 1 >2 2\n"
		   "b 1 4",
		   "/f.c 2=10:9,1 4=1 [f 1-4 1 4/4]\n");
	/* A call that ends the program, and one that returns twice. */
	check_text("image a counted\nfn f /f.c 1\nb 5 2 >2\nb 4 2\nb 3 3 >4\nb 6 3",
		   "/f.c 2=5 3=3 [f 1-3 5 4/4]\n");
	/* Calls that throw: to the same line, to another one; to nowhere, beside a jump. */
	check_text("image a counted\nfn f /f.c 1\nb 9 2 >2 !3\nb 6 2 >4\nb 3 2 >4\nb 9 3",
		   "/f.c 2=9 3=9 [f 1-3 9 4/4]\n");
	check_text("image a counted\nfn f /f.c 1\nb 9 2 >2 !3\nb 6 2 >4\nb 3 3 >4\nb 9 4",
		   "/f.c 2=9 3=3 4=9 [f 1-4 9 4/4]\n");
	check_text("image a counted\nfn f /f.c 1\nb 9 2 >2\nj 6 3 >3\nb 3 2 >3\nb 6 2",
		   "/f.c 2=9 [f 1-2 9 3/3]\n");
	/* A closing brace: a destructor is called there, and by an exception; all that
	 * returns comes through it. */
	check_text("image a counted\nfn f /f.c 1\nb 9 2 >2 !4\nb 6 5 >3\nb 6 2 >6\n"
		   "b 3 5 >5\nb 3 5\nb 6 5",
		   "/f.c 2=15 5=9 [f 1-5 9 6/6]\n");
	/* A function that is inlined into a line, and throws there. */
	check_text("image a counted\nfn f /f.c 9\nb 9 10 5 >2\nin g /f.c:4\nb 6 10",
		   "/f.c 5=9 10=9 [g 4-5 9 0/0] [f 9-10 9 2/2]\n");
	check_text("image a counted\nfn f<int>(int) /f.c 1\nb 3 2\nb 2 3\n"
		   "fn f<char>(char) /f.c 1\nb 4 2\nb 0 3",
		   "/f.c 2=7 3=2 [f 1-3 7 2/2]\n");
	/* If one of them was not counted, all that is known is whether. */
	check_text("image a counted\nfn f /f.c 1\nb 3 2\nimage b\nfn f /f.c 1\nb 1 2",
		   "/f.c 2=1 [f 1-2 1 1/1]\n");
}

static void test_branches(void)
{
	check_text("image a\nfn f /f.c 1\nb 1 2\nj 0 1 2\nb 1 2\nj ? 1 2\nb 0 3\nj 0 0 3\nb 1 4\n"
		   "j 1 1 9\nb 1 4\nj 1 0 0",
		   "/f.c 2=1:0,1:?,1 3=0:0,0 4=1 [f 1-4 1 4/5]\n");
	/* Jumps of two instances are the same by their order in the line. */
	check_text("image a\nfn f<1>() /f.c 1\nb 1 2\nj 0 1 2\nb 1 2\nj 1 0 2\n"
		   "fn f<2>() /f.c 1\nb 1 2\nj 1 0 2\nb 1 2\nj ? 0 2",
		   "/f.c 2=1:1,1:1,0 [f 1-2 1 2/2]\n");
	check_text("image a nobranches\nfn f /f.c 1\nb 1 2\nj ? ? 2", "/f.c 2=1 [f 1-2 1 1/1]\n");
}

/* Inlined twice into one function, and once more by itself. */
static void test_inlines(void)
{
	check_text("image a\nfn f /f.c 10\nb 1 11\nb 0 /f.c:2\nin g /f.c:1\nj 0 0 2\nb 1 11\n"
		   "b 1 /f.c:2\nin g /f.c:1\nj 1 0 2\nb 1 12\n"
		   "fn g /f.c 1\nb 0 2\nj 0 1 2",
		   "/f.c 2=1:1,1 11=1 12=1 [g 1-2 1 1/1] [f 10-12 1 3/3]\n");
	/* One that has no code of its own. */
	check_text("image a\nfn f /f.c 10\nb 1 11\nb 0 /g.h:5\nin g(int) /g.h:4\nb 1 12",
		   "/f.c 11=1 12=1 [f 10-12 1 2/2]\n/g.h 5=0 [g(int) 4-5 0 0/1]\n");
}

static void test_functions(void)
{
	/* Cold parts and clones are the function; the part alone tells, too. */
	check_text("image a\nfn f /f.c 1\nb 0 2\nfn f.cold /f.c 1\nb 1 3\nfn f.constprop.0 /f.c "
		   "1\nb 0 2",
		   "/f.c 2=0 3=1 [f 1-3 1 1/1]\n");
	/* Of two programs; of which one has no code of it. */
	check_text("image a\nfn f /f.c 1 removed\nimage b\nfn f /f.c 1\nb 1 2",
		   "/f.c 2=1 [f 1-2 1 1/1]\n");
	/* Made by one line of a macro, they are two. */
	check_text("image a\nfn f /f.c 1\nb 1 1\nfn g /f.c 1\nb 0 1",
		   "/f.c 1=1 [f 1-1 1 1/1] [g 1-1 0 0/1]\n");
	/* Constructors and destructors are several; what is inlined is C1 or C2. */
	check_text(
		"image a\nfn S::~S()|_ZN1SD2Ev /f.c 1\nb 1 2\nfn S::~S()|_ZN1SD0Ev /f.c 1\nb 0 1\n"
		"fn f /f.c 5\nb 1 6\nb 1 2\nin S::~S() /f.c:1",
		"/f.c 1=0 2=1 6=1 [S::~S() [D0] 1-1 0 0/1] [S::~S() [D2] 1-2 1 1/1] [f 5-6 1 "
		"1/1]\n");
	check_text("image a\nfn C1::C1(C1)|_ZN2C1C2ES_ /f.c 1\nb 1 2\nfn "
		   "C1::C1(C1)|_ZN2C1C1ES_ /f.c 1\nb 0 2",
		   "/f.c 2=1 [C1::C1(C1) [C1] 1-2 0 0/1] [C1::C1(C1) [C2] 1-2 1 1/1]\n");
	check_text(
		"image a\nfn a::a|_ZN1a1a17h0123456789abcdefE /f.rs 1\nb 1 2\n"
		"fn S::S()|_ZN1SC1Ev /f.c 1\nb 1 2\nfn virtual\\_thunk\\_to\\_S::f() /f.c 3\nb 1 3",
		"/f.c 2=1 [S::S() 1-2 1 1/1]\n/f.rs 2=1 [a::a 1-2 1 1/1]\n");
	/* Differently compiled, their blocks can't be compared. */
	check_text("image a\nfn f /f.c 1\nb 1 2\nb 0 2\nimage b\nfn f /f.c 1\nb 1 2",
		   "/f.c 2=1 [f 1-2 1 2/3]\n");
}

static void test_binaries(void)
{
	struct cp_coverage c = built("command ./prog a\nimage /bin/x\nfn g - 0\nb 1\nb 0\n"
				     "fn f - 0\nb 0\nb ?\nfn h - 0\nb ?\n",
				     NULL);

	CHECK_U64(c.files.count, 0);
	CHECK_U64(c.binaries.count, 1);
	CHECK_STR(c.binaries.items[0].name, "/bin/x");
	CHECK_U64(c.binaries.items[0].functions.count, 3);
	CHECK_STR(c.binaries.items[0].functions.items[0].name, "f");
	CHECK_U64(c.totals.functions, 2);
	CHECK_U64(c.totals.functions_covered, 1);
	CHECK_U64(c.totals.functions_unknown, 1);
	CHECK_U64(c.totals.blocks, 5);
	CHECK_U64(c.totals.blocks_covered, 1);
	CHECK_STR(c.command, "./prog a");
	CHECK_STR(c.version, "test");
	CHECK(c.timestamp_ns == UINT64_C(1700000000000000000));
	cp_coverage_deinit(&c);
}

/* Worst first, totals last; fits; names harmless; nothing rounded to all. */
static void test_table(void)
{
	static const char text[] =
		"image a\nfn good /g\\e[31m.c 1\nb 1 2\nb 1 3\nj 1 1 3\n"
		"fn bad /bad.c 1\nb 0 2\nb 1 3\nb 0 4\nj 0 1 4\n"
		"fn very /long/long/long/long/long/long/long/long/long/long/long/long/name.c 1\n"
		"b 1 2\nb 0 3\nimage /bin/stripped\nfn f - 0\nb 1";
	struct cp_coverage c = built(text, NULL);
	const char *bad, *middle, *good, *total, *line;
	struct cp_look look = { 80, false };
	struct cp_buf out = { 0 };

	cp_report_coverage(&c, 0, &look, &out);
	bad = strstr(out.bytes, "/bad.c");
	middle = strstr(out.bytes, "name.c");
	good = strstr(out.bytes, "/g\\x1b[31m.c");
	total = strstr(out.bytes, "total");
	CHECK(bad && middle && good && total && bad < middle && middle < good && good < total);
	CHECK(strstr(out.bytes, "33.3%") && strstr(out.bytes, "1/3") && strstr(out.bytes, "4/7"));
	CHECK(!memchr(out.bytes, 27, out.size));
	for (line = out.bytes; *line; line = strchr(line, '\n') + 1) {
		char *copy = strndup(line, strcspn(line, "\n"));

		CHECK(cp_text_columns(copy) <= 80);
		free(copy);
	}
	cp_buf_clear(&out);
	look = (struct cp_look){ 200, true };
	cp_report_coverage(&c, 1, &look, &out);
	CHECK(strstr(out.bytes, "/bad.c") && !strstr(out.bytes, "name.c"));
	CHECK(strstr(out.bytes, "the total is also of 3 files"));
	CHECK(memchr(out.bytes, 27, out.size) != NULL);
	cp_buf_free(&out);
	cp_coverage_deinit(&c);
}

static void test_names(void)
{
	static const char *const names[][2] = {
		{ "main", "main" },
		{ "f(int)", "f" },
		{ "int ns::max<int>(int, int) [clone .cold]", "ns::max" },
		{ "f.constprop.0.isra.3", "f" },
		{ "main.run", "main.run" },
		{ ".hidden.cold", ".hidden" },
		{ "std::vector<int, std::allocator<int> >::push_back(int const&)",
		  "std::vector::push_back" },
		{ "(anonymous namespace)::f(char)", "(anonymous namespace)::f" },
		{ "main::{lambda(int)#1}::operator()(int) const",
		  "main::{lambda(int)#1}::operator()" },
		{ "std::ostream& operator<< <char>(std::ostream&, char)", "operator<<" },
		{ "Foo<a>::operator->() const", "Foo::operator->" },
		{ "bool operator<(A const&, A const&)", "bool operator<" },
		{ "Foo::operator bool() const", "Foo::operator bool" },
		{ "operator new(unsigned long)", "operator new" },
		{ "<T as core::fmt::Debug>::fmt", "<T as core::fmt::Debug>::fmt" },
		{ "core::ptr::drop_in_place<alloc::string::String>", "core::ptr::drop_in_place" },
		{ "f<(1 > 2)>()", "f" },
		{ "f<", "f" },
		{ "((((", "((((" },
		{ "f(a->b", "f" },
		{ "", "" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct cp_buf out = { 0 };

		cp_buf_str(&out, "> ");
		cp_name_base(&out, names[i][0]);
		CHECK_STR(out.bytes + 2, names[i][1]);
		cp_buf_free(&out);
	}
}

int main(void)
{
	test_lines();
	test_moved();
	test_counts();
	test_branches();
	test_inlines();
	test_functions();
	test_binaries();
	test_table();
	test_names();
	TEST_MAIN_END;
}
