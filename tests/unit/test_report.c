/* SPDX-License-Identifier: MIT
 *
 * Profiles, trees, tables and exports of recordings made from text: what is
 * expected was added up by hand from the text.
 */
#include "test.h"

#include <math.h>

#include "base/buf.h"
#include "base/heaptype.h"
#include "base/runtime.h"
#include "made_recording.h"
#include "report/export/export.h"
#include "report/export/flame.h"
#include "report/look/brief.h"
#include "report/look/nameform.h"
#include "report/look/title.h"
#include "report/profile/create.h"
#include "report/tables/diff.h"
#include "report/tables/json.h"
#include "report/tables/report.h"
#include "report/tables/sections.h"

/* Two threads, recursion, an inlined call, a stack without root, a name that
 * is unknown, one that is hostile, and a sample without stack. */
static const char small[] = "command prog --fast 'x y'\n"
			    "clock cpu\n"
			    "hz 100\n"
			    "length 2000000\n"
			    "totals samples_lost=3 stops=50 stopped_ns=1000 status=256\n"
			    "process 7 prog /bin/prog\n"
			    "thread 7 7 prog\n"
			    "thread 7 8 worker\n"
			    "s 7 10 1 main;work||a.c|5\n"
			    "s 7 20 2 main;rec||a.c|9;rec||a.c|9;leaf|libx.so|x.c|3\n"
			    "s 7 30 3 main;rec||a.c|9;inl||a.h|2|i\n"
			    "s 8 40 4 start;work||a.c|5;leaf|libx.so|x.c|4\n"
			    "s 8 50 5 |libx.so||0|t;\\e]0\\s\\n<b>&|libx.so\n"
			    "s 7 60 6 \n";
#define SMALL_NS 210000
#define SMALL_TICKS 21

static const struct cp_function *function(const struct cp_profile *p, const char *name)
{
	static const struct cp_function none = { .name = "" };
	size_t i;

	for (i = 0; i < p->functions.count; i++)
		if (!strcmp(p->functions.items[i].name, name))
			return &p->functions.items[i];
	CHECK(!"no such function");
	return &none;
}

static void test_costs(const struct cp_profile *p)
{
	CHECK_U64(p->total.weight, SMALL_NS);
	CHECK_U64(p->total.ticks, SMALL_TICKS);
	CHECK_U64(function(p, "main")->self.weight, 0);
	CHECK_U64(function(p, "main")->total.weight, 60000);
	CHECK_U64(function(p, "rec")->total.weight, 50000); /* recursion once */
	CHECK_U64(function(p, "rec")->self.weight, 0);
	CHECK_U64(function(p, "inl")->self.weight, 30000);
	CHECK_U64(function(p, "leaf")->self.weight, 60000);
	CHECK_U64(function(p, "leaf")->self.ticks, 6);
	CHECK_U64(function(p, "work")->self.weight, 10000);
	CHECK_U64(function(p, "work")->total.weight, 50000);
	CHECK_U64(function(p, "[no stack]")->self.weight, 60000);
	CHECK_U64(p->truncated.weight, 50000);
	CHECK_STR(cp_profile_image_name(p, function(p, "leaf")), "libx.so");
	CHECK_U64(p->threads[0].weight, 120000);
	CHECK_U64(p->threads[1].weight, 90000);
	CHECK_U64(p->processes[0].weight, SMALL_NS);
}

static void test_places(const struct cp_profile *p)
{
	struct cp_butterfly b = { 0 };
	struct cp_lines lines = { 0 };
	uint32_t rec = 0, leaf = 0;
	struct cp_error *err;

	CHECK_OK(cp_profile_find(p, "rec", &rec));
	CHECK_OK(cp_butterfly_build(p, rec, &b));
	CHECK_U64(b.callers.count, 1);
	CHECK_U64(b.callers.items[0].cost.weight, 50000);
	CHECK_U64(b.callees.count, 2);
	CHECK_STR(p->functions.items[b.callees.items[0].function].name, "inl");
	CHECK_U64(b.callees.items[0].cost.weight + b.callees.items[1].cost.weight, 50000);
	CHECK_U64(b.recursive.weight, 20000);
	CHECK_U64(b.deepest, 2);
	cp_butterfly_deinit(&b);

	CHECK_OK(cp_profile_find(p, "l?af", &leaf));
	CHECK_OK(cp_lines_build(p, leaf, &lines));
	CHECK_U64(lines.items.count, 2);
	CHECK_U64(lines.items.items[0].line, 4);
	CHECK_U64(lines.items.items[0].self.weight, 40000);
	cp_lines_deinit(&lines);

	err = cp_profile_find(p, "nowhere", &leaf);
	CHECK(err && err->code == CP_ERR_NOT_FOUND);
	cp_error_free(err);
	err = cp_profile_find(p, "e", &leaf);
	CHECK(err && err->code == CP_ERR_USAGE && strstr(err->hint, "leaf"));
	cp_error_free(err);
}

static void test_tree(const struct cp_profile *p)
{
	struct cp_tree tree = { 0 };
	struct cp_buf name = { 0 };
	uint64_t self = 0;
	uint32_t n, depth = 0, count = 0;

	CHECK_OK(cp_tree_build(p, CP_ROOTS_THREAD, &tree));
	CHECK_U64(tree.nodes.items[0].total.weight, SMALL_NS);
	for (n = 0; n != CP_NO_NODE; n = cp_tree_next(&tree, n, &depth), count++)
		self += tree.nodes.items[n].self.weight;
	CHECK_U64(self, SMALL_NS);
	CHECK_U64(count, tree.nodes.count);
	cp_tree_name(&tree, tree.nodes.items[0].first, &name);
	CHECK_STR(name.bytes, "prog (7)");
	CHECK_U64(tree.nodes.items[tree.nodes.items[0].first].total.weight, 120000);
	CHECK_U64(tree.depth, 6);
	cp_buf_free(&name);
	cp_tree_deinit(&tree);
}

static uint64_t total_of(const struct cp_record *r, struct cp_profile_filter filter)
{
	struct cp_profile *p = NULL;
	uint64_t ns;

	CHECK_OK(cp_profile_create(r, &filter, &p));
	ns = p->total.weight;
	cp_profile_destroy(p);
	return ns;
}

static void test_filters(const struct cp_record *r)
{
	CHECK_U64(total_of(r, (struct cp_profile_filter){ .thread = "8" }), 90000);
	CHECK_U64(total_of(r, (struct cp_profile_filter){ .thread = "work*" }), 90000);
	CHECK_U64(total_of(r, (struct cp_profile_filter){ .pid = 7 }), SMALL_NS);
	CHECK_U64(total_of(r, (struct cp_profile_filter){ .pid = 8 }), 0);
	CHECK_U64(total_of(r, (struct cp_profile_filter){ .image = "libx*" }), 110000);
	/* Samples stand at the end of their time: 7 at 10, 30, 60, 120 us. */
	CHECK_U64(total_of(r, (struct cp_profile_filter){ .thread = "7",
							  .from_ns = 30000,
							  .to_ns = 60000 }),
		  50000);
}

/* ---- exports ---- */

static char *export_as(const struct cp_profile *p, const char *format, size_t *size_ret)
{
	struct cp_export_options o = { .roots = CP_ROOTS_NONE };
	char *text = NULL;
	FILE *file = open_memstream(&text, size_ret);

	CHECK_OK(cp_export(cp_export_find(format), p, &o, file));
	fclose(file);
	return text;
}

static void test_folded(const struct cp_profile *p)
{
	size_t size;
	char *text = export_as(p, "folded", &size), *line, *rest = text, *space;
	uint64_t sum = 0;
	size_t lines = 0;

	CHECK(strstr(text, "main;rec;rec;leaf 20000\n"));
	CHECK(strstr(text, "main;rec;inl 30000\n"));
	CHECK(strstr(text, "[truncated];libx.so+0x1000;\\x1b]0: <b>& 50000\n"));
	for (; (line = strsep(&rest, "\n")) && *line; lines++) {
		space = strrchr(line, ' ');
		sum += strtoull(space + 1, NULL, 10);
	}
	CHECK_U64(sum, SMALL_NS);
	CHECK_U64(lines, 6);
	free(text);
}

static void test_callgrind(const struct cp_profile *p)
{
	size_t size;
	char *text = export_as(p, "callgrind", &size), *line, *rest = text;
	bool call = false;
	uint64_t sum = 0;
	unsigned number, at;

	CHECK(strstr(text, "summary: 210000\n"));
	while ((line = strsep(&rest, "\n"))) {
		if (!call && sscanf(line, "%u %u", &at, &number) == 2)
			sum += number;
		call = !strncmp(line, "calls=", 6);
	}
	CHECK_U64(sum, SMALL_NS);
	free(text);
}

/* Nothing that steers a terminal or ends a string leaves in any text format. */
static void test_hostile(const struct cp_profile *p)
{
	const struct cp_export_format *f;
	size_t size;
	char *text;

	for (f = cp_export_formats; f->name; f++) {
		if (!f->write)
			continue; /* of coverage */
		text = export_as(p, f->name, &size);
		CHECK(size > 0);
		if (!f->binary) {
			CHECK(!memchr(text, '\033', size));
			CHECK(!strstr(text, "\n<b>"));
		}
		free(text);
	}
}

/* ---- text ---- */

static void test_text(const struct cp_record *r, const struct cp_profile *p)
{
	struct cp_report_options o = { .limit = 20 };
	struct cp_look look = { 80, false };
	struct cp_buf out = { 0 };
	char *line, *rest;

	CHECK_OK(cp_report_text(p, &o, &look, &out));
	CHECK(strstr(out.bytes, "prog --fast 'x y'\n"));
	CHECK(strstr(out.bytes, "210 µs of CPU time in 2.00 s"));
	CHECK(strstr(out.bytes, "21 samples at 100 Hz"));
	CHECK(strstr(out.bytes, "exit status 1"));
	CHECK(strstr(out.bytes, "3 samples were lost"));
	CHECK(!strchr(out.bytes, '\033'));
	for (rest = out.bytes; (line = strsep(&rest, "\n"));)
		CHECK(strlen(line) <= 80 + 40); /* bytes; columns are fewer */
	cp_buf_clear(&out);
	CHECK_OK(cp_report_summary(r, "a b.data", &look, &out));
	CHECK(strstr(out.bytes, "cprof report 'a b.data'\n"));
	cp_buf_free(&out);
}

static void test_fit(void)
{
	static const struct cp_column columns[] = { { "n", true, 0, false },
						    { "image", false, 6, false },
						    { "function", false, 0, false } };
	struct cp_look look = { 40, false };
	struct cp_table t;
	struct cp_buf out = { 0 };

	cp_table_init(&t, columns, 3);
	cp_table_cell(&t, CP_PAINT_PLAIN, "%d", 1);
	cp_table_name(&t, CP_PAINT_PLAIN, "libverylong.so.1.2.3");
	cp_table_name(&t, CP_PAINT_PLAIN, "a_function_with_a_name_that_is_long");
	cp_table_print(&t, &look, &out);
	CHECK_STR(out.bytes, "  n  image   function\n"
			     "  1  li…2.3  a_function_wi…_that_is_long\n");
	cp_table_deinit(&t);
	cp_buf_free(&out);
}

/* What C++'s library and Rust's say, by c++filt and by what the languages are. */
static void test_names(void)
{
	static const struct {
		const char *name, *bare, *of_type;
	} names[] = {
		{ "int shop::addAll<int>(std::vector<int> const&)", "shop::addAll",
		  "shop::addAll" },
		{ "decltype (::new ((void*)(0)) a::b<int>((declval<int>)())) "
		  "std::construct_at<a::b<int>, "
		  "int>(a::b<int>*, int&&)",
		  "std::construct_at", "std::construct_at" },
		{ "decltype(auto) n::da<int>(int)", "n::da", "n::da" },
		{ "auto au<int>(int)", "au", "au" },
		{ "int (*n::pick<int>(int))(char)", "n::pick", "n::pick" },
		{ "void (n::S::*n::S::mf<int>(int) const)(int)", "n::S::mf", "S::mf" },
		{ "int n::S::* n::S::mp<int>(int)", "n::S::mp", "S::mp" },
		{ "(anonymous namespace)::Q* (anonymous namespace)::qq<int>(int)", "qq", "qq" },
		{ "f(int) const::{lambda(int)#1}::operator()(int) const",
		  "f::{lambda#1}::operator()", "f::{lambda#1}::operator()" },
		{ "n::S::operator long<long>() const", "n::S::operator long", "S::operator long" },
		{ "std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<<",
		  "std::operator<<" },
		{ "operator new(unsigned long)", "operator new", "operator new" },
		{ "alloc::vec::from_elem::<u8>", "alloc::vec::from_elem", "vec::from_elem" },
		{ "<alloc::vec::Vec<core::option::Option<u8>>>::push", "Vec::push", "Vec::push" },
		{ "<&mut a::b::F as core::ops::function::FnOnce<(u8,)>>::call_once", "F::call_once",
		  "F::call_once" },
		{ "core::slice::<impl [u8]>::sort", "core::slice::sort", "slice::sort" },
		{ "a::b::c::{closure#0}", "a::b::c::{closure#0}", "b::c::{closure#0}" },
		{ "[not told]", "[not told]", "[not told]" },
		{ "broken<int", "broken<int", "broken<int" },
		{ "", "", "" },
	};
	static const char *const rows[] = {
		"int shop::addAll<int>(std::vector<int> const&)",
		"double shop::addAll<double>(std::vector<double> const&)",
		"void a_scope::other_scope::type<int>::same(unsigned, int)",
		"void a_scope::other_scope::type<long>::same(int, int)"
	};
	struct cp_brief b;
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(names); i++) {
		struct cp_buf bare = { 0 }, of_type = { 0 };

		cp_name_form(&bare, names[i].name, CP_NAME_BARE);
		cp_name_form(&of_type, names[i].name, CP_NAME_OF_TYPE);
		CHECK_STR(bare.bytes ? bare.bytes : "", names[i].bare);
		CHECK_STR(of_type.bytes ? of_type.bytes : "", names[i].of_type);
		cp_buf_free(&bare);
		cp_buf_free(&of_type);
	}
	CHECK(cp_name_is_runtime(names[1].name));
	CHECK(!cp_name_is_runtime(names[0].name) && !cp_name_is_runtime(names[4].name));
	cp_brief_init(&b, rows, CP_ARRAY_SIZE(rows), 24);
	CHECK_STR(b.shown[0], "shop::addAll<int>");
	CHECK_STR(b.shown[1], "shop::addAll<double>");
	CHECK_STR(b.shown[2], "type<int>::same");
	CHECK_STR(b.shown[3], "type<long>::same");
	cp_brief_deinit(&b);
}

static void test_title(void)
{
	struct cp_look look = { 40, false };
	struct cp_buf out = { 0 };

	cp_report_title(&out, &look, "Blocks",
			"1,234,567 bytes in 123 blocks; left: 10 bytes in 2");
	CHECK_STR(out.bytes, "\nBlocks  1,234,567 bytes in 123 blocks;\n  left: 10 bytes in 2\n");
	cp_buf_free(&out);
}

static void test_units(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = { { 0, "0 ns" },
		      { 999, "999 ns" },
		      { 1000, "1.00 µs" },
		      { 99949, "99.9 µs" },
		      { 999999, "1.00 ms" },
		      { 123456789, "123 ms" },
		      { 12345678901, "12.3 s" } };
	struct cp_buf out = { 0 };
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(times); i++) {
		cp_buf_clear(&out);
		cp_add_time(&out, times[i].ns);
		CHECK_STR(out.bytes, times[i].text);
	}
	cp_buf_clear(&out);
	cp_add_count(&out, 1234567);
	cp_add_percent(&out, 1, 100000);
	CHECK_STR(out.bytes, "1,234,5670.01%");
	cp_buf_free(&out);
}

/* ---- diff ---- */

static void test_diff(const struct cp_profile *old)
{
	struct cp_diff_options o = { .by = CP_DIFF_BY_SHARE };
	struct cp_record *r = NULL;
	struct cp_profile *new = NULL;
	struct cp_diff d = { 0 };
	struct cp_buf out = { 0 };

	CHECK_OK(made_load("process 9 prog /x/prog\nthread 9 9 prog\n"
			   "s 9 50 1 main;work||a.c|5\n"
			   "s 9 50 1 main;fresh\n",
			   &r));
	CHECK_OK(cp_profile_create(r, NULL, &new));
	CHECK_OK(cp_diff_build(old, new, &o, &d));
	CHECK_STR(d.rows.items[0].name, "fresh"); /* 0 to 50 % */
	CHECK(!d.rows.items[0].in_old && d.rows.items[0].in_new);
	CHECK(d.rows.items[0].self > 49.99 && d.rows.items[0].self < 50.01);
	CHECK_STR(d.rows.items[1].name, "work"); /* 4.8 to 50 % */
	CHECK(d.rows.items[1].self > 45.2 && d.rows.items[1].self < 45.3);
	CHECK_OK(cp_diff_text(&d, &(struct cp_look){ 100, false }, &out));
	CHECK(strstr(out.bytes, "+50.00"));
	cp_diff_deinit(&d);
	o.by = CP_DIFF_BY_TIME;
	CHECK_OK(cp_diff_build(old, new, &o, &d));
	CHECK_STR(d.rows.items[0].name, "[no stack]"); /* 60 us to nothing */
	CHECK_STR(d.rows.items[1].name, "leaf");
	cp_diff_deinit(&d);
	cp_buf_free(&out);
	cp_profile_destroy(new);
	cp_record_destroy(r);
}

static void test_files(void)
{
	static const struct {
		const char *path, *shown;
	} files[] = { { "/a/build/../src/x.c", "/a/src/x.c" },
		      { "./x/./y.c", "x/y.c" },
		      { "../../x.c", "../../x.c" },
		      { "a/../../x.c", "../x.c" },
		      { "/../x.c", "/../x.c" },
		      { "/a/../x.c", "/x.c" },
		      { "a//b/x.c", "a/b/x.c" } };
	struct cp_record *r = NULL;
	struct cp_profile *p = NULL;
	char text[128];
	size_t i;

	for (i = 0; i < CP_ARRAY_SIZE(files); i++) {
		snprintf(text, sizeof(text), "process 1 p\nthread 1 1 p\ns 1 1 1 f|p|%s|1\n",
			 files[i].path);
		CHECK_OK(made_load(text, &r));
		CHECK_OK(cp_profile_create(r, NULL, &p));
		CHECK_STR(function(p, "f")->file, files[i].shown);
		cp_profile_destroy(p);
		cp_record_destroy(r);
	}
}

/* A graph stays small enough for a browser, however many stacks there are. */
static void test_many_frames(void)
{
	struct cp_export_options o = { .roots = CP_ROOTS_NONE };
	struct cp_flame f = { 0 };
	struct cp_record *r = NULL;
	struct cp_profile *p = NULL;
	struct cp_buf text = { 0 };
	uint32_t node, depth = 0;
	size_t frames = 0;
	int i, k;

	cp_buf_str(&text, "process 1 p\nthread 1 1 p\n");
	for (i = 0; i < 400; i++) {
		cp_buf_printf(&text, "s 1 1 1 main;f%d", i);
		for (k = 0; k < 200; k++)
			cp_buf_str(&text, ";deeper");
		cp_buf_str(&text, "\n");
	}
	CHECK_OK(made_load(text.bytes, &r));
	CHECK_OK(cp_profile_create(r, NULL, &p));
	CHECK_OK(cp_flame_init(&f, p, &o));
	CHECK_U64(f.tree.nodes.count, 2 + 400 * 201);
	for (node = 0; node != CP_NO_NODE; node = cp_flame_next(&f, node, &depth))
		frames++;
	CHECK(frames >= 2 && frames <= 50000);
	cp_flame_deinit(&f);
	cp_profile_destroy(p);
	cp_record_destroy(r);
	cp_buf_free(&text);
}

/* A recording of nothing is no reason to fail. */
static void test_empty(void)
{
	struct cp_report_options o = { .limit = 20 };
	struct cp_look look = { 80, true };
	const struct cp_export_format *f;
	struct cp_record *r = NULL;
	struct cp_profile *p = NULL;
	struct cp_buf out = { 0 };
	size_t size;

	CHECK_OK(made_load("command prog\n", &r));
	CHECK_OK(cp_profile_create(r, NULL, &p));
	CHECK_OK(cp_report_text(p, &o, &look, &out));
	CHECK(strstr(out.bytes, "No samples: the program used 0 ns of CPU time"));
	CHECK_OK(cp_report_json(p, &o, &out));
	for (f = cp_export_formats; f->name; f++)
		if (f->write)
			free(export_as(p, f->name, &size));
	cp_buf_free(&out);
	cp_profile_destroy(p);
	cp_record_destroy(r);
}

/* Two-sided quantiles of the normal distribution for 0.05 / rows. */
static void test_deviations(void)
{
	CHECK(fabs(cp_diff_deviations(1) - 1.959964) < 1e-5);
	CHECK(fabs(cp_diff_deviations(180) - 3.635188) < 1e-5);
	CHECK(fabs(cp_diff_deviations(0) - 1.959964) < 1e-5);
}

/* Each report has a section, alone and by the names that are told, and no name is two. */
static void test_sections(void)
{
	enum cp_report_what some[CP_REPORT_SOME];
	const struct cp_report_section *s, *named;
	char names[] = CP_REPORT_NAMES;
	char *name, *rest = names;
	size_t count, i;
	unsigned what;

	for (what = CP_REPORT_OVERVIEW + 1; what < CP_REPORT_SUMMARY; what++)
		CHECK(cp_report_section_of((enum cp_report_what)what));
	while ((name = strsep(&rest, ", ")))
		if (*name)
			CHECK_OK(cp_report_parse(name, some, &count));
	for (s = cp_report_sections; s->write; s++) {
		/* What is said of what is not held has to be asked for. */
		CHECK(!s->none || s->holds);
		for (i = 0; i < 2 && s->names[i]; i++) {
			named = cp_report_section_named(s->names[i], strlen(s->names[i]));
			CHECK(named == s);
			CHECK(strstr(CP_REPORT_NAMES, s->names[0]));
		}
	}
}

/* Names as g++ -O0 and -O2, clang with libc++ and rustc make them, and what looks alike. */
static void test_heap_types(void)
{
	static const struct {
		const char *name, *type; /* "": not told */
	} cases[] = {
		{ "std::__new_allocator<node>::allocate(unsigned long, void const*)", "node" },
		{ "__gnu_cxx::new_allocator<std::pair<int const, long> >::allocate(unsigned long)",
		  "std::pair<int const, long>" },
		{ "std::__1::allocator<void (*)(int, char)>::allocate[abi:v15006](unsigned long)",
		  "void (*)(int, char)" },
		{ "std::__detail::_MakeUniq<leaf>::__single_object std::make_unique<leaf>()",
		  "leaf" },
		{ "std::__detail::_MakeUniq<a<b, c> >::__single_object std::make_unique<a<b, c>, "
		  "int>"
		  "(int&&)",
		  "a<b, c>" },
		{ "<alloc::vec::Vec<(u32, ty::Node)>>::push", "(u32, ty::Node)" },
		{ "<alloc::boxed::Box<fn(u8) -> u16>>::new", "fn(u8) -> u16" },
		{ "alloc::vec::Vec<T,A>::push", "" },
		{ "<alloc::vec::Vec<T>>::push", "" },
		{ "std::vector<int, std::allocator<int> >::reserve(unsigned long)", "" },
		{ "std::allocator<int>::allocator()", "" },
		{ "my_std::make_unique<leaf>()", "" },
		{ "f(std::vector<int, std::allocator<int> >)", "" },
		{ "std::make_unique<", "" },
		{ "std::make_unique<>()", "" },
		{ "std::__new_allocator<a<b", "" },
		{ "<alloc::vec::Vec<>>>>>>((((", "" },
		{ "", "" },
	};
	size_t i, size;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *type = cp_heap_type_in(cases[i].name, &size);
		char text[100] = "";

		if (type)
			snprintf(text, sizeof(text), "%.*s", (int)size, type);
		CHECK_STR(text, cases[i].type);
	}
}

int main(void)
{
	struct cp_record *r = NULL;
	struct cp_profile *p = NULL;

	CHECK_OK(made_load(small, &r));
	CHECK_OK(cp_profile_create(r, NULL, &p));
	if (!r || !p)
		return 1;
	test_costs(p);
	test_places(p);
	test_tree(p);
	test_filters(r);
	test_folded(p);
	test_callgrind(p);
	test_hostile(p);
	test_text(r, p);
	test_fit();
	test_names();
	test_title();
	test_units();
	test_diff(p);
	test_sections();
	test_deviations();
	test_files();
	test_many_frames();
	test_empty();
	test_heap_types();
	cp_profile_destroy(p);
	cp_record_destroy(r);
	TEST_MAIN_END;
}
