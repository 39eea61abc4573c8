/* SPDX-License-Identifier: MIT
 *
 * Much inlining, templates, lambdas, exceptions, cold parts: for judging
 * names, lines and inline chains. Not meant to be useful.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

extern "C" int other_file(int n);

namespace outer {
namespace {
struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
};

struct Square : Shape {
	double side;
	explicit Square(double s) : side(s)
	{
	}
	double area() const override
	{
		return side * side;
	}
};

struct Circle : Shape {
	double radius;
	explicit Circle(double r) : radius(r)
	{
	}
	double area() const override
	{
		return 3.14159 * radius * radius;
	}
};
} // namespace

static inline int leaf(int x)
{
	return x * 7 + (x >> 3);
}

static inline int middle(int x)
{
	int sum = 0;
	for (int i = 0; i < (x & 15); i++)
		sum += leaf(i + x);
	return sum;
}

template <typename T> class Box {
	std::vector<T> items;

    public:
	void add(T value)
	{
		items.push_back(std::move(value));
	}
	template <typename F> long fold(F f) const
	{
		long sum = 0;
		for (const T &item : items)
			sum += f(item);
		return sum;
	}
	void sort()
	{
		std::sort(items.begin(), items.end());
	}
};

__attribute__((noinline)) long work(int n)
{
	Box<std::string> names;
	std::map<int, std::string> byNumber;

	for (int i = 0; i < n; i++) {
		names.add(std::to_string(i) + "!");
		byNumber[middle(i)] = "x" + std::to_string(leaf(i));
	}
	names.sort();
	long sum = names.fold([](const std::string &s) { return (long)s.size(); });
	for (auto &pair : byNumber)
		sum += pair.first + (long)pair.second.length();
	return sum;
}

__attribute__((noinline)) double shapes(int n)
{
	std::vector<std::unique_ptr<Shape> > all;

	for (int i = 0; i < n; i++) {
		if (i % 2)
			all.push_back(std::make_unique<Square>(i));
		else
			all.push_back(std::make_unique<Circle>(i));
	}
	double sum = 0;
	for (auto &s : all)
		sum += s->area();
	return sum;
}

__attribute__((noinline)) int throwing(int n)
{
	try {
		if (n > 3)
			throw std::string("too much");
		return middle(n);
	} catch (const std::string &s) {
		return (int)s.size() + leaf(n);
	}
}
} // namespace outer

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100;

	if (n < 0)
		abort();
	std::printf("%ld %f %d %d\n", outer::work(n), outer::shapes(n), outer::throwing(n),
		    other_file(n));
	return 0;
}
