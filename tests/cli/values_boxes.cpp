/* SPDX-License-Identifier: MIT
 *
 * What libraries hold things in, passed and returned, for tests of values at calls. Prints
 * each call as it is to be shown.
 */
#include <any>
#include <bitset>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stdio.h>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

struct Point {
	int x, y;
};
struct Big {
	long a = 1, b = 2, c = 3;
};

static int twice(int n)
{
	return 2 * n;
}

#define TAKE(name, type) \
	__attribute__((noinline)) void take_##name(type value) \
	{ \
		asm volatile("" : : "r"(&value) : "memory"); \
	}
typedef std::variant<int, std::string, Point> either_t;
typedef std::variant<int, float> small_t;
typedef std::tuple<int, std::string, double> three_t;
typedef std::map<std::string, int> map_t;
typedef std::unordered_map<std::string, int> hashed_t;

TAKE(either, const either_t &)
TAKE(either_copy, either_t)
TAKE(small, small_t)
TAKE(eithers, const std::vector<either_t> &)
TAKE(any, const std::any &)
TAKE(any_copy, std::any)
TAKE(function, const std::function<int(int)> &)
TAKE(function_copy, std::function<int(int)>)
TAKE(maybe, const std::optional<std::string> &)
TAKE(maybe_copy, std::optional<int>)
TAKE(unique, std::unique_ptr<Point>)
TAKE(shared, std::shared_ptr<Point>)
TAKE(weak, std::weak_ptr<Point>)
TAKE(tuple, const three_t &)
TAKE(bits, std::bitset<10>)
TAKE(flags, const std::vector<bool> &)
TAKE(ring, const std::deque<int> &)
TAKE(chain, const std::list<int> &)
TAKE(map, const map_t &)
TAKE(hashed, const hashed_t &)
TAKE(wide, const std::wstring &)
TAKE(sixteen, const std::u16string &)
TAKE(wide_text, const wchar_t *)
TAKE(text_of_32, const char32_t *)
struct Named {
	char16_t name[8];
};
TAKE(named, const Named &)

__attribute__((noinline)) either_t give_either(int n)
{
	either_t local = n ? either_t(n) : either_t("none");

	asm volatile("" : : "r"(&local) : "memory");
	return local;
}

#define CALL(name, shown, ...) \
	do { \
		puts("take_" #name "(" shown ")"); \
		take_##name(__VA_ARGS__); \
	} while (0)

static void call_holders()
{
	int seven = 7;
	std::string words = "captured";

	CALL(any, "&empty", std::any());
	CALL(any, "&{int=42}", 42);
	CALL(any, "&{Point={x=3, y=4}}", Point{ 3, 4 });
	CALL(any, "&{Big={a=1, b=2, c=3}}", Big());
	CALL(any_copy, "{double=2.5}", 2.5);
	CALL(function, "&empty", nullptr);
	CALL(function, "&{int (*)(int)=twice(int)}", twice);
	CALL(function, "&{LAMBDA={}}", [](int n) { return n; });
	CALL(function, "&{LAMBDA={seven=7, words=\"captured\"}}",
	     [seven, words](int n) { return n + seven + (int)words.size(); });
	CALL(function_copy, "{int (*)(int)=twice(int)}", twice);
}

int main()
{
	const char *text = "a text that is longer than what fits in place";
	std::shared_ptr<Point> shared = std::make_shared<Point>(Point{ 11, 12 });
	std::weak_ptr<Point> gone = shared;

	CALL(either, "&42", either_t(42));
	CALL(either, "&\"in place\"", either_t("in place"));
	CALL(either, "&\"a text that is longer than what fits in place\"", either_t(text));
	CALL(either, "&{x=1, y=2}", either_t(Point{ 1, 2 }));
	CALL(either_copy, "\"copied\"", either_t("copied"));
	CALL(small, "2.5", small_t(2.5f));
	CALL(small, "-3", small_t(-3));
	CALL(eithers, "&{1, \"two\", {x=3, y=4}}", { 1, "two", Point{ 3, 4 } });
	call_holders();
	CALL(maybe, "&nullopt", std::nullopt);
	CALL(maybe, "&\"some\"", "some");
	CALL(maybe_copy, "5", 5);
	CALL(unique, "&{x=7, y=8}", std::make_unique<Point>(Point{ 7, 8 }));
	CALL(shared, "&{x=11, y=12}", shared);
	CALL(weak, "&{x=11, y=12}", shared);
	shared.reset();
	CALL(weak, "expired", gone);
	CALL(tuple, "&{1, \"two\", 3.5}", three_t(1, "two", 3.5));
	CALL(bits, "{true, false, true, false, false, false, false, false, false, true}",
	     std::bitset<10>("1000000101"));
	CALL(flags, "&{true, false, true, true}", { true, false, true, true });
	/* What is in nodes is counted. */
	CALL(ring, "&{size=3, ...}", { 1, 2, 3 });
	CALL(chain, "&{size=3, ...}", { 1, 2, 3 });
	CALL(map, "&{size=2, ...}", { { "one", 1 }, { "two", 2 } });
	CALL(hashed, "&{size=1, ...}", { { "one", 1 } });
	CALL(wide, "&\"wi\u00e9de\"", L"wi\u00e9de");
	CALL(sixteen, "&\"sixteen \u20ac\"", u"sixteen \u20ac");
	CALL(wide_text, "\"wi\u00e9de\"", L"wi\u00e9de");
	CALL(text_of_32, "\"\U0001f600\"", U"\U0001f600");
	CALL(named, "&{name=\"named\"}", { u"named" });
	puts("give_either(5) = 5");
	give_either(5);
	puts("give_either(0) = \"none\"");
	give_either(0);
	return 0;
}
