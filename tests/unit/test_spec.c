/* SPDX-License-Identifier: MIT */
#include "probe/spec.h"

#include "base/error.h"
#include "probe/distance.h"
#include "probe/names.h"
#include "test.h"

static struct cp_spec *parsed(const char *text)
{
	struct cp_spec *spec = NULL;
	struct cp_error *err = cp_spec_parse(text, &spec);

	if (err)
		fprintf(stderr, "%s: %s\n", text, err->what);
	CHECK(!err);
	cp_error_free(err);
	return spec;
}

static enum cp_spec_match match(const char *text, const char *name)
{
	struct cp_spec_subject subject = { .name = name, .image = "app", .program = true };
	struct cp_spec *spec = parsed(text);
	enum cp_spec_match answer = spec ? cp_spec_match(spec, &subject) : CP_SPEC_NO;

	cp_spec_destroy(spec);
	return answer;
}

#define YES(spec, name) CHECK(match(spec, name) == CP_SPEC_YES)
#define NAMED(spec, name) CHECK(match(spec, name) == CP_SPEC_NAMED)
#define NO(spec, name) CHECK(match(spec, name) == CP_SPEC_NO)

/* Fails, says where, and the hint has `hint` in it. */
static void bad(const char *text, const char *what, const char *hint)
{
	struct cp_spec *spec = NULL;
	struct cp_error *err = cp_spec_parse(text, &spec);

	CHECK(err != NULL);
	if (err) {
		CHECK(err->code == CP_ERR_USAGE);
		if (!strstr(err->what, what))
			fprintf(stderr, "%s: %s\n", text, err->what);
		CHECK(strstr(err->what, what) != NULL);
		CHECK(!hint || (err->hint && strstr(err->hint, hint)));
	}
	cp_error_free(err);
	cp_spec_destroy(spec);
}

static void test_names(void)
{
	NAMED("main", "main");
	NO("main", "main2");
	NO("main", "domain");
	NAMED("ns::f", "ns::f(int)");
	NAMED("ns::f", "ns::f(char const*, int) const");
	NAMED("ns::f(int)", "ns::f(int)");
	NO("ns::f(int)", "ns::f(char)");
	NAMED("ns::f(int)", "ns::f(int) const");
	NAMED("ns::f(int)const", "ns::f(int) const");
	NAMED("ns::f(int,char)", "ns::f(int, char)");
	NAMED("f(std::map<int, int>)", "f(std::map<int, int>)");
	NO("f", "ns::f(int)");
	NAMED("(anonymous namespace)::f", "(anonymous namespace)::f(int)");
	NAMED("a::(anonymous namespace)::f(int)", "a::(anonymous namespace)::f(int)");
	NAMED("ns::f", "void ns::f<int>(int)");
	NAMED("ns::f<int>", "void ns::f<int>(int)");
	NO("ns::f<char>", "void ns::f<int>(int)");
	NAMED("f", "unsigned long f<int>(int)");
	NAMED("ns::f<int>(int)", "void ns::f<int>(int)");
	NAMED("void ns::f<int>(int)", "void ns::f<int>(int)");
	NAMED("Foo<int>::bar", "Foo<int>::bar()");
	NO("Foo", "Foo<int>::bar()");
	NAMED("f()::{lambda(int)#1}::operator()", "f()::{lambda(int)#1}::operator()(int) const");
	NAMED("f() const::{lambda(int)#1}::operator()(int)",
	      "f() const::{lambda(int)#1}::operator()(int) const");
	NAMED("Foo::operator bool", "Foo::operator bool() const");
	NAMED("Foo::operator unsigned long", "Foo::operator unsigned long() const");
	NAMED("Foo::operator()", "Foo::operator()(int)");
	NAMED("Foo::operator<", "Foo::operator<(Foo const&) const");
	NO("Foo::operator<", "Foo::operator<<(int)");
	NAMED("Foo::operator,", "Foo::operator,(Foo const&)");
	/* Of templates, as c++filt -p has them of the symbols of libstdc++, LLVM and clang. */
	NAMED("ns::operator<", "bool ns::operator< <int, char>(ns::A<int> const&, char)");
	NAMED("ns::operator< <int, char>",
	      "bool ns::operator< <int, char>(ns::A<int> const&, char)");
	NO("ns::operator<<", "bool ns::operator< <int, char>(ns::A<int> const&, char)");
	NAMED("ns::operator<<", "ns::S& ns::operator<< <ns::B>(ns::S&, ns::T<ns::B> const*)");
	NAMED("std::__get_n<0ul, V&>", "decltype(auto) std::__get_n<0ul, V&>(V&)");
	NAMED("std::construct_at<N>",
	      "decltype (::new ((void*)(0)) N((declval<N>)())) std::construct_at<N>(N*, N&&)");
	NAMED("ns::pick", "void (*ns::pick<int>(int))(char)");
	NAMED("ns::pick<int>(int)", "void (*ns::pick<int>(int))(char)");
	NAMED("ns::row<3>", "int (&ns::row<3>())[3]");
	NAMED("std::forward<std::string>",
	      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >&& "
	      "std::forward<std::__cxx11::basic_string<char, std::char_traits<char>, "
	      "std::allocator<char> > >(std::remove_reference<int>::type&)");
	NAMED("f(std::string_view)", "f(std::basic_string_view<char, std::char_traits<char> >)");
	NAMED("f(std::string)", "f(std::string)");
	NAMED("operator new[]", "operator new[](unsigned long)");
	/* A glob is about the name, unless it says what is returned, too. */
	NO("app::*", "app::Pt&& std::forward<app::Pt>(app::Pt&)");
	NO("app::*(*)", "app::Pt&& std::forward<app::Pt>(app::Pt&)");
	NO("app::*", "app::Pt (*std::pick<int>(int))(char)");
	YES("std::f*", "app::Pt&& std::forward<app::Pt>(app::Pt&)");
	YES("app::tmpl*", "int app::tmpl<int>(int)");
	YES("int app::tmpl*", "int app::tmpl<int>(int)");
	YES("int app::tmpl*(*)", "int app::tmpl<int>(int)");
	NO("char app::tmpl*", "int app::tmpl<int>(int)");
	YES("app::Pt&& *", "app::Pt&& std::forward<app::Pt>(app::Pt&)");
	YES("*std::forward<app::Pt>(app::Pt&)", "app::Pt&& std::forward<app::Pt>(app::Pt&)");
	YES("app::f*", "app::f(int) const");
	YES("f(*) const", "f(int) const");
	/* What no name without blanks and tags can lack is looked for first. */
	YES("*_ab*x", "f_ab::x(int)");
	NO("*_ab*x", "f_a::bx(int)");
	YES("lua[L_]_*", "luaL_open");
	YES("lu\\aL_*", "luaL_open");
	NAMED("operator new", "operator new(unsigned long)");
	YES("operator*", "operator*(X, X)");
	NAMED("\"operator*\"", "operator*(X, X)");
	NAMED("operator[](int)", "operator[](int)");
	NAMED("core::fmt::Write::write_fmt", "core::fmt::Write::write_fmt");
	NAMED("<alloc::vec::Vec<T> as core::ops::Drop>::drop",
	      "<alloc::vec::Vec<T> as core::ops::Drop>::drop");
	NAMED("M:ns::f", "ns::f(int)");
	NO("Foo::bar", "non-virtual thunk to Foo::bar()");
	NAMED("f[abi:cxx11]", "f[abi:cxx11](int)");
	NAMED("f", "f[abi:cxx11](int)");
	NAMED("ns::f(S)", "ns::f[abi:cxx11](S[abi:v2])");
	NAMED("f<int>", "S f[abi:cxx11]<int>(int)");
	NAMED("ns::C::f", "ns[abi:x]::C::f[abi:y][abi:z]()");
	NO("f(int)", "f[abi:cxx11](char)");
	YES("gi*e", "give[abi:cxx11](int)");
	YES("class:C", "ns::C[abi:x]::f()");
	NAMED("operator[]", "operator[][abi:x](int)");
}

static enum cp_spec_match match_linked(const char *text, const char *name, const char *linkage)
{
	struct cp_spec_subject subject = { .name = name, .linkage_name = linkage, .image = "app" };
	struct cp_spec *spec = parsed(text);
	enum cp_spec_match answer = spec ? cp_spec_match(spec, &subject) : CP_SPEC_NO;

	cp_spec_destroy(spec);
	return answer;
}

/* A mangled name is one in full; a glob is about what people call it. */
static void test_mangled(void)
{
	CHECK(match_linked("_ZN2ns1fEv", "ns::f()", "_ZN2ns1fEv") == CP_SPEC_NAMED);
	CHECK(match_linked("_*", "ns::f()", "_ZN2ns1fEv") == CP_SPEC_NO);
	CHECK(match_linked("_ZN2ns*", "ns::f()", "_ZN2ns1fEv") == CP_SPEC_NO);
	CHECK(match_linked("all,-_*", "ns::f()", "_ZN2ns1fEv") == CP_SPEC_YES);
	CHECK(match_linked("all,-_*", "_start", "_start") == CP_SPEC_NO);
	CHECK(match_linked("all,-_ZN2ns1fEv", "ns::f()", "_ZN2ns1fEv") == CP_SPEC_NO);
}

static enum cp_spec_match match_in(const char *text, const char *name, const char *image)
{
	struct cp_spec_subject subject = { .name = name, .linkage_name = name, .image = image };
	struct cp_spec *spec = parsed(text);
	enum cp_spec_match answer = spec ? cp_spec_match(spec, &subject) : CP_SPEC_NO;

	CHECK(answer == CP_SPEC_NO || cp_spec_wants_image(spec, image, false));
	cp_spec_destroy(spec);
	return answer;
}

static void test_names_in_images(void)
{
	static const char libc[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
	struct cp_spec_subject stub = {
		.name = "strlen@plt", .image = "app", .program = true, .plt = true
	};
	struct cp_spec *spec;

	CHECK(match_in("strlen@libc.so.6", "strlen", libc) == CP_SPEC_NAMED);
	CHECK(match_in("strlen@libc", "strlen", libc) == CP_SPEC_NAMED);
	CHECK(match_in("strlen@libc.so*", "strlen", libc) == CP_SPEC_NAMED);
	CHECK(match_in("str*@libc", "strlen", libc) == CP_SPEC_YES);
	CHECK(match_in("strlen@libm", "strlen", libc) == CP_SPEC_NO);
	CHECK(match_in("strlen@lib", "strlen", libc) == CP_SPEC_NO);
	CHECK(match_in("strlen@app", "strlen", "/opt/app") == CP_SPEC_NAMED);
	CHECK(match_in("\"f(int, char)\"@libx", "f(int, char)", "libx.so") == CP_SPEC_NAMED);
	CHECK(match_in("\"a@b\"", "a@b", "libx.so") == CP_SPEC_NAMED);
	CHECK(match_in("all,-strlen@libc", "strlen", libc) == CP_SPEC_NO);
	CHECK(match_in("all,-strlen@libc", "strlen", "libx.so") == CP_SPEC_YES);
	CHECK(match_in("lib:libc", "strlen", libc) == CP_SPEC_YES);
	spec = parsed("strlen@libc");
	CHECK(!cp_spec_wants_image(spec, "/usr/lib/libm.so.6", false));
	cp_spec_destroy(spec);
	spec = parsed("strlen@plt");
	CHECK(cp_spec_match(spec, &stub) == CP_SPEC_NAMED);
	cp_spec_destroy(spec);
}

static void test_globs(void)
{
	YES("parse_*", "parse_line");
	NO("parse_*", "reparse_line");
	YES("ns::*", "ns::Foo::bar(int)");
	YES("*::bar", "ns::Foo::bar(int)");
	YES("*", "x");
	YES("ns::Foo::*(int)", "ns::Foo::bar(int)");
	NO("ns::Foo::*(int)", "ns::Foo::bar(char)");
	NO("*Foo*", "bar(Foo*)");
	YES("parse_?", "parse_x");
	YES("parse_[a-c]", "parse_b");
	NO("parse_[!a-c]", "parse_b");
	YES("std::vector<*", "std::vector<int>::push_back(int&&)");
	YES("*a*b*c", "xxaxxbxxbxc");
	NO("*a*b*c", "xxaxxcxxb");
	YES("f\\**", "f*x");
}

static void test_lists(void)
{
	NAMED("a,b", "b");
	YES("/^pa.se/,x", "parse");
	YES("/a,b/", "xa,bx");
	YES("/a\\/b/", "a/b");
	NO("parse_*,-parse_line", "parse_line");
	YES("parse_*,-parse_line", "parse_word");
	NAMED("parse_*,-parse_*,parse_x", "parse_x");
	NAMED("std::map<int,char>::find,main", "main");
	NAMED("std::map<int,char>::find,main", "std::map<int, char>::find(int)");
	NAMED("operator,,main", "main()");
	NAMED("operator,,main", "operator,(A, B)");
	NAMED("operator<,operator>", "operator>(A, B)");
	NAMED("operator<<,f<int,char>", "f<int, char>(int)");
	NAMED("operator(),main", "main");
	YES("std::vector<*,main", "std::vector<int>::x()");
	NAMED("std::vector<*,main", "main");
	NAMED("\"a,b\",c", "a,b");
	NAMED("\"f(int, char)\",c", "f(int, char)");
	NO("\"f*\"", "fx");
	NAMED("x , main", "main");
	NAMED("operator-> ,main", "main");
	NO("all,-main", "main");
	YES("all,-main", "other");
}

static void test_scopes(void)
{
	YES("ns:a", "a::f()");
	YES("ns:a", "a::B::f()");
	YES("ns:a::B", "a::B::f()");
	NO("ns:B", "a::B::f()");
	NO("ns:a", "ab::f()");
	YES("N:a*", "ab::f()");
	YES("class:B", "a::B::f(int)");
	YES("class:a::B", "a::B::f(int)");
	YES("T:B", "a::B<int>::f(int)");
	NO("class:a", "a::B::f(int)");
	YES("class:B", "a::B::f(int)::{lambda(int)#1}::operator()(int) const");
	YES("class:*", "a::f()");
	NO("class:*", "f()");
	NAMED("ns::f", "ns::f()");
	NAMED("class::f", "class::f()");
}

static const char *a_source(void *ctx)
{
	return ctx;
}

static void test_images(void)
{
	static char path[] = "/home/x/src/parse.c";
	struct cp_spec_subject s = {
		.name = "f", .image = "libz.so.1", .source = a_source, .ctx = path
	};
	struct cp_spec_subject plt = {
		.name = "malloc@plt", .image = "app", .program = true, .plt = true
	};
	struct cp_spec *spec = parsed("lib:libz*,src:parse.c");

	CHECK(cp_spec_match(spec, &s) == CP_SPEC_YES);
	CHECK(cp_spec_wants_image(spec, "libz.so.1", false));
	CHECK(cp_spec_match(spec, &plt) == CP_SPEC_NO);
	cp_spec_destroy(spec);
	spec = parsed("program");
	CHECK(cp_spec_match(spec, &s) == CP_SPEC_NO);
	CHECK(cp_spec_match(spec, &plt) == CP_SPEC_NO);
	CHECK(!cp_spec_wants_image(spec, "libz.so.1", false));
	CHECK(cp_spec_wants_image(spec, "app", true));
	CHECK(cp_spec_only_program(spec));
	cp_spec_destroy(spec);
	spec = parsed("src:src/*.c");
	CHECK(cp_spec_match(spec, &s) == CP_SPEC_YES);
	CHECK(!cp_spec_only_program(spec));
	cp_spec_destroy(spec);
	spec = parsed("plt:mall*,all");
	CHECK(cp_spec_match(spec, &plt) == CP_SPEC_YES);
	cp_spec_destroy(spec);
	spec = parsed("plt:malloc");
	CHECK(cp_spec_match(spec, &plt) == CP_SPEC_NAMED);
	cp_spec_destroy(spec);
	spec = parsed("all,-lib:libz*");
	CHECK(!cp_spec_wants_image(spec, "libz.so.1", false));
	CHECK(cp_spec_wants_image(spec, "libc.so.6", false));
	cp_spec_destroy(spec);
	s.linkage_name = "_ZN2ns1fEv";
	spec = parsed("_ZN2ns1fEv");
	CHECK(cp_spec_match(spec, &s) == CP_SPEC_NAMED);
	cp_spec_destroy(spec);
}

static void test_unmatched(void)
{
	struct cp_spec_subject s = { .name = "f", .image = "app", .program = true };
	struct cp_spec *spec = parsed("f,g,-h, /x/");
	bool end;

	CHECK(cp_spec_match(spec, &s) == CP_SPEC_NAMED);
	CHECK(!cp_spec_unmatched(spec, 0, &end) && !end);
	CHECK_STR(cp_spec_unmatched(spec, 1, &end), "g");
	CHECK_STR(cp_spec_unmatched(spec, 2, &end), "-h");
	CHECK_STR(cp_spec_unmatched(spec, 3, &end), "/x/");
	CHECK(!cp_spec_unmatched(spec, 4, &end) && end);
	cp_spec_destroy(spec);
	/* Of an image that is left out nothing is asked. */
	spec = parsed("all,-lib:libc.so*,-lib:libd.so*");
	CHECK(!cp_spec_wants_image(spec, "/usr/lib/libc.so.6", false));
	CHECK(!cp_spec_unmatched(spec, 1, &end));
	CHECK_STR(cp_spec_unmatched(spec, 2, &end), "-lib:libd.so*");
	cp_spec_destroy(spec);
}

static void test_errors(void)
{
	bad("", "empty", "program");
	bad("a,,b", "names nothing at character 3", "commas");
	bad("a,", "names nothing at character 3", NULL);
	bad("a,\"b", "quote without its end at character 3", NULL);
	bad("a,/b", "without its end at character 3", "/REGEX/");
	bad("a,/b(/", "can't be read at character 3", "/b(/");
	bad("/b/x", "behind a regular expression at character 4", "\\/");
	bad("lib:", "names nothing", NULL);
	bad("-a", "only excludes", "program,-a");
	bad("-", "names nothing", NULL);
}

static void test_distance(void)
{
	CHECK_U64(cp_name_distance("parse", "parse"), 0);
	CHECK_U64(cp_name_distance("prase_line", "parse_line"), 1);
	CHECK_U64(cp_name_distance("parse_lin", "parse_line"), 1);
	CHECK_U64(cp_name_distance("parse_xyne", "parse_line"), 2);
	CHECK_U64(cp_name_distance("Parse", "parse"), 1);
	CHECK_U64(cp_name_distance("bar", "ns::Foo::bar(int)"), 1);
	CHECK_U64(cp_name_distance("ns::Foo::baz", "ns::Foo::bar(int)"), 1);
	CHECK(cp_name_distance("parse_line", "write_text") > 3);
	CHECK(cp_name_distance("ab", "xy") > 3);
	CHECK(cp_name_distance("f", "g") > 3);
	CHECK_U64(cp_name_distance("giev", "give[abi:cxx11](int)"), 1);
}

static void test_scoped(void)
{
	struct cp_spec_subject s = { .name = "f", .image = "app", .program = true };
	struct cp_spec *spec = parsed("parse_*,f*,*x");

	CHECK(cp_spec_match(spec, &s) == CP_SPEC_YES);
	CHECK_STR(cp_spec_scoped(spec, "void a::b::parse_line<int>(int)"), "*::parse_*");
	CHECK(!cp_spec_scoped(spec, "parse_line(int)"));
	CHECK(!cp_spec_scoped(spec, "a::parser::f()"));
	CHECK(!cp_spec_scoped(spec, "a::f()")); /* that one has matched */
	CHECK(!cp_spec_scoped(spec, "a::y()"));
	cp_spec_destroy(spec);
}

int main(void)
{
	test_names();
	test_mangled();
	test_names_in_images();
	test_globs();
	test_lists();
	test_scopes();
	test_images();
	test_unmatched();
	test_errors();
	test_distance();
	test_scoped();
	TEST_MAIN_END;
}
