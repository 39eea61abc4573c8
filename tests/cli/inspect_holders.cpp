/* SPDX-License-Identifier: MIT
 *
 * What holds a value of any type, for tests of `cprof inspect`. Prints what each holds, as
 * it was written to, then "ready".
 */
#include <any>
#include <functional>
#include <memory>
#include <stdio.h>
#include <string>
#include <unistd.h>

struct Point {
	int x, y;
};
struct Functor {
	int base = 5;
	int operator()(int n) const
	{
		return base + n;
	}
};
struct Big {
	long a = 1, b = 2, c = 3;
	int operator()(int n) const
	{
		return (int)a + n;
	}
};
struct Huge {
	long a = 1, b = 2, c = 3, d = 4;
	int operator()(int n) const
	{
		return (int)d + n;
	}
};
/* Of few bytes, but what can't be copied byte by byte is not held in place. */
struct Counted {
	std::shared_ptr<int> to = std::make_shared<int>(6);
	int operator()(int n) const
	{
		return *to + n;
	}
};

int plain(int n)
{
	return n + 1;
}

std::any nothing, number = 42, point = Point{ 3, 4 }, letter = 'x', real = 2.5;
std::any large = Big(), changed = 1, text = (const char *)"a C string";
std::function<int(int)> none, by_name = plain, functor = Functor(), big = Big(),
			      counted = Counted();
std::function<int(int)> lambda, captures, aligned, dropped = plain;
std::function<void(Point &)> of_point;
#ifdef __cpp_lib_move_only_function
std::move_only_function<int(int)> m_none, m_plain = plain, m_big = Big(), m_huge = Huge(),
					  m_functor = Functor(), m_captures;
#endif

static void is(const char *name, const char *value)
{
	printf("%s = %s\n", name, value);
}

int main()
{
	int seven = 7;
	std::string words = "captured";
	char c;

	lambda = [](int n) { return n * 2; };
	captures = [seven, words](int n) { return n + seven + (int)words.size(); };
	aligned = [real = 2.5L](int n) { return (int)real + n; };
	of_point = [seven](Point &p) { p.x = seven; };
	dropped = nullptr;
	changed = Point{ 5, 6 };
#ifdef __cpp_lib_move_only_function
	m_captures = [seven, p = std::make_unique<int>(9)](int n) { return n + seven + *p; };
#endif
	is("nothing", "empty");
	is("number", "{int=42}");
	is("point", "{Point={x=3, y=4}}");
	is("letter", "{char='x'}");
	is("real", "{double=2.5}");
	is("large", "{Big={a=1, b=2, c=3}}");
	is("changed", "{Point={x=5, y=6}}");
	is("text", "{const char *=\"a C string\"}");
	is("none", "empty");
	is("dropped", "empty");
	is("by_name", "{int (*)(int)=plain(int)}");
	is("functor", "{Functor={base=5}}");
	is("big", "{Big={a=1, b=2, c=3}}");
	is("counted", "{Counted={to=6}}");
	is("lambda", "{LAMBDA={}}");
	is("captures", "{LAMBDA={seven=7, words=\"captured\"}}");
	is("aligned", "{LAMBDA={real=2.5}}");
	is("of_point", "{LAMBDA={seven=7}}");
#ifdef __cpp_lib_move_only_function
	is("m_none", "empty");
	is("m_plain", "{int (*)(int)=plain(int)}");
	is("m_big", "{Big={a=1, b=2, c=3}}");
	is("m_huge", "{Huge={a=1, b=2, c=3, d=4}}");
	is("m_functor", "{Functor={base=5}}");
	is("m_captures", "{LAMBDA={seven=7, p=9}}");
#endif
	printf("ready\n");
	fflush(stdout);
	return (int)read(0, &c, 1);
}
