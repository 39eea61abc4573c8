/* SPDX-License-Identifier: MIT
 *
 * std::expected of several kinds. Says what each holds, by asking it; up to "ready", then
 * until a character comes. */
#include <cstdio>
#include <expected>
#include <string>
#include <vector>

struct Point {
	int x, y;
};

std::expected<int, std::string> number = 5, text = std::unexpected<std::string>("broken");
std::expected<void, int> nothing, code = std::unexpected<int>(7);
std::expected<std::vector<int>, int> list = std::vector<int>{ 1, 2, 3 };
std::expected<Point, Point> point = Point{ 1, 2 }, other = std::unexpected<Point>(Point{ 3, 4 });

static std::string said(int i)
{
	return std::to_string(i);
}
static std::string said(const std::string &s)
{
	return '"' + s + '"';
}
static std::string said(const Point &p)
{
	return "{x=" + said(p.x) + ", y=" + said(p.y) + "}";
}
static std::string said(const std::vector<int> &v)
{
	std::string all;

	for (int i : v)
		all += (all.empty() ? "{" : ", ") + said(i);
	return all + "}";
}
template <class E> static std::string said(const std::expected<void, E> &e)
{
	return e ? "{}" : "{unexpected=" + said(e.error()) + "}";
}
template <class T, class E> static std::string said(const std::expected<T, E> &e)
{
	return e ? said(*e) : "{unexpected=" + said(e.error()) + "}";
}

template <class T> static void say(const char *name, const T &t)
{
	printf("%s = %s\n", name, said(t).c_str());
}

extern "C" __attribute__((noinline)) void take(std::expected<int, std::string> by_value,
					       std::expected<Point, Point> *pointed)
{
	printf("take(%s, &%s)\n", said(by_value).c_str(), said(*pointed).c_str());
}

int main()
{
	say("number", number);
	say("text", text);
	say("nothing", nothing);
	say("code", code);
	say("list", list);
	say("point", point);
	say("other", other);
	take(number, &point);
	take(text, &other);
	puts("ready");
	fflush(stdout);
	getchar();
	return 0;
}
