/* SPDX-License-Identifier: MIT
 *
 * Types of all kinds, and allocations for them; says how many there were of each.
 */
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns
{
struct Base {
	virtual ~Base()
	{
	}
	short s;
};
struct Named : Base {
	std::string name;
	unsigned low : 3, high : 12;
	struct Inner {
		char c;
		double d[2];
	} inner;
	bool last;
};
template <class T, int N> struct Box : Named {
	T items[N];
	union {
		int number;
		float real;
	};
};
enum class Color : short { red = -1, green, blue = 300 };
typedef Box<Named *, 3> ThreeNamed;
} // namespace ns

ns::ThreeNamed three;
ns::Color color;
extern "C" {
struct plain {
	struct plain *next;
	long long wide : 40;
	int array[2][3];
} plain;
__attribute__((noinline)) struct plain *takes(const ns::Named *named)
{
	__asm__ volatile("" ::"r"(named));
	return &plain;
}
}

int main()
{
	std::vector<ns::Named> v;
	std::map<int, ns::Color> m;
	auto one = std::make_unique<ns::ThreeNamed>();

	for (int i = 0; i < 100; i++)
		v.emplace_back();
	for (int i = 0; i < 10; i++)
		m[i] = ns::Color::blue;
	v[3].name = "a longer name than fits in place";
	v[3].s = 7;
	v[3].low = 5;
	v[3].high = 1025;
	v[3].inner = { 'x', { 1.5, -2 } };
	v[3].last = true;
	/* 1, 2, 4, ... 128 elements. */
	printf("made ns::Named 8 %zu\n", 255 * sizeof(ns::Named));
	return takes(&v[3])->array[0][0] + (int)one->s * 0;
}
