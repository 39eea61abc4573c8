/* For conditions.bats: says of each condition for how many calls it holds. */
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

enum Color { RED, GREEN = 5 };
enum class Shade { LIGHT, DARK = 7 };
namespace ns
{
enum class E { A, B };
}
struct Holder {
	enum Kind { SMALL, LARGE = 3 };
	Kind kind;
};
struct Shared {
	int shared = 0;
	const char *name = "shared";
	int *number = nullptr;
	virtual ~Shared()
	{
	}
};
struct Boxes {
	std::map<std::string, int> names;
	std::map<Shade, int> shades;
	std::unordered_map<int, std::string> texts;
	std::list<int> list;
	std::deque<int> deque;
	std::set<int> set;
};
struct Two;
struct Large;
int limit;
static int in_file = 2;
namespace ns
{
long limit_there;
static bool (*chosen)(int);
} // namespace ns
static bool even(int n)
{
	return n % 2 == 0;
}
static bool odd(int n)
{
	return n % 2;
}
#define PARAMETERS \
	int n, Large *large, Two &two, Color color, Shade shade, ns::E e, Holder holder, \
		Boxes &boxes, std::optional<int> maybe, \
		const std::optional<std::optional<int>> &twice, std::unique_ptr<Holder> &owned, \
		const std::string &text, std::vector<int> row, const std::map<int, Holder> *map, \
		std::optional<std::string> label
struct One : virtual Shared {
	int one = 1, limit_here = 0, n = 99; /* the argument is meant */
	static int count;
	enum { TOP = 4 };
	std::vector<int> own;
	std::string called;
	One *self = this;
	void judge(PARAMETERS);
};
int One::count;
struct Two : virtual Shared {
	int two = 2;
	virtual void turn(int n);
};
struct Whole : One, Two {
	int whole = 3;
	void third(int n);
};
struct Large : Whole {
	char pad[5000];
	int large = 4;
	Two *inner = nullptr;
};
const char *const names[] = {
#define WHEN(condition) #condition,
#include "conditions.h"
#undef WHEN
};
int holds[sizeof(names) / sizeof(*names)];

__attribute__((noinline)) void One::judge(PARAMETERS)
{
	static int times = 3;
	int *at = holds;
#define WHEN(condition) *at++ += (condition) ? 1 : 0;
#include "conditions.h"
#undef WHEN
	times++;
}
volatile int sink;
__attribute__((noinline)) void Two::turn(int n)
{
	sink = n + shared;
}
__attribute__((noinline)) void Whole::third(int n)
{
	sink = n + whole;
}

int main()
{
	Whole whole;
	static Large large;
	One one;
	int number = 3;

	large.inner = &whole;
	for (int n = 0; n < 8; n++) {
		Boxes boxes;
		std::optional<int> maybe;
		std::optional<std::optional<int>> twice;
		std::unique_ptr<Holder> owned(n & 1 ? new Holder{ Holder::LARGE } : nullptr);
		std::optional<std::string> label;
		std::map<int, Holder> map{ { 1, { Holder::SMALL } },
					   { 300, { n > 5 ? Holder::LARGE : Holder::SMALL } } };

		boxes.names = { { "k", n }, { "other", 1 } };
		boxes.shades = { { Shade::LIGHT, 1 }, { Shade::DARK, n % 3 } };
		for (int i = 0; i < n; i++) {
			boxes.texts[i] = std::string((std::size_t)i, 'x');
			boxes.list.push_back(i);
			boxes.deque.push_front(i);
			boxes.set.insert(i % 4);
		}
		boxes.texts[100] = n == 2 ? "two" : "many";
		if (n % 3)
			maybe = n % 3;
		if (n > 2)
			twice = maybe;
		if (n > 4)
			label = "l" + std::to_string(n);
		whole.shared = large.shared = one.shared = n * 10;
		whole.number = n == 4 ? nullptr : &number;
		large.number = &number;
		large.large = n + 100;
		limit = n / 2;
		in_file = n - 1;
		ns::limit_there = 3;
		ns::chosen = n > 4 ? odd : even;
		One::count = n * 2;
		One *object = n % 3 == 0 ? &one : n % 3 == 1 ? &whole : static_cast<One *>(&large);
		object->limit_here = n / 3;
		object->own.assign((std::size_t)n, 5);
		object->called = n % 3 ? "third" : "other";
		object->judge(n, &large, n & 1 ? static_cast<Two &>(whole) : large,
			      n & 1 ? RED : GREEN, n & 2 ? Shade::DARK : Shade::LIGHT,
			      n & 4 ? ns::E::B : ns::E::A,
			      Holder{ n > 6 ? Holder::LARGE : Holder::SMALL }, boxes, maybe, twice,
			      owned, std::string((std::size_t)n * 60, 'y') + "end",
			      std::vector<int>((std::size_t)n * 20, n), &map, label);
		static_cast<Two *>(n & 1 ? &whole : &large)->turn(n);
		(n & 2 ? &whole : &large)->third(n);
	}
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		std::printf("%d %s\n", holds[i], names[i]);
}
