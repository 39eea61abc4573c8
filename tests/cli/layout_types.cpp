/* SPDX-License-Identifier: MIT
 *
 * Types whose layout the program itself knows: it prints, for each member, type,
 * name, offset and size, and for each type its size and alignment.
 */
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace outer
{
inline namespace v1
{
struct Base {
	virtual ~Base();
	char c;
};
} // namespace v1
namespace
{
struct Hidden {
	int a;
	char b;
	double d;
};
} // namespace
struct Other {
	int x;
};
struct Left : virtual Base {
	int v;
};
struct Right : virtual Base {
	int w;
};
struct Diamond : Left, Right, Other {
	unsigned a : 3, b : 7, : 4, c : 20;
	bool f;
	static int count;
	char tail;
};
template <class T, int N> struct Box {
	T item;
	T more[N];
	char z;
};
union Either {
	int i;
	double d;
	char c[13];
};
enum class Color : unsigned char { red, green = 200 };
struct alignas(64) Aligned {
	char one;
};
struct __attribute__((packed)) Packed {
	char one;
	long two;
	short three;
};
struct Derived : Other {
	char own;
	long last;
};
struct Empty {
};
struct Holds : Empty {
	long it;
};
} // namespace outer

outer::Base::~Base()
{
}
int outer::Diamond::count;

struct node {
	struct node *next;
	short key;
	void (*call)(int);
	union {
		int number;
		char text[6];
	};
	long double wide;
};

/* clang describes only what there is something of. */
#define USED __attribute__((used))
outer::Box<int, 3> a_box;
USED static outer::Box<outer::Hidden, 1> a_hidden;
USED static outer::Hidden hidden_one;
outer::Either either;
outer::Aligned aligned;
outer::Packed packed;
outer::Holds holds;
outer::Derived derived;
outer::Color a_color;
struct node node_one;

#define TYPE(...) \
	printf("type %s %zu %zu\n", #__VA_ARGS__, sizeof(__VA_ARGS__), alignof(__VA_ARGS__))
#define FIELD(type, name) \
	printf("field %s %s %zu %zu\n", #type, #name, offsetof(type, name), \
	       sizeof(((type *)0)->name))

int main()
{
	using namespace outer;
	using box = Box<int, 3>;
	using hidden = Box<Hidden, 1>;
	struct local {
		short s;
		long l;
	} here = {};
	Diamond d;
	Derived e = {};
	Left *left = &d;
	Right *right = &d;
	Other *other = &d;
	std::optional<long> o;
	std::vector<int> v;
	std::string s;
	Color color = Color::green;

	TYPE(outer::Diamond), TYPE(outer::Box<int, 3>), TYPE(outer::Box<outer::Hidden, 1>);
	TYPE(outer::Either), TYPE(outer::Color), TYPE(outer::Aligned), TYPE(outer::Packed);
	TYPE(outer::Derived), TYPE(outer::Holds), TYPE(node), TYPE(local), TYPE(std::string);
	TYPE(std::vector<int>), TYPE(std::optional<long>), TYPE(unsigned long),
		TYPE(outer::v1::Base);
	TYPE(Hidden);
	FIELD(node, next), FIELD(node, key), FIELD(node, call), FIELD(node, wide);
	FIELD(box, more), FIELD(box, z), FIELD(hidden, item), FIELD(hidden, z);
	FIELD(Packed, two), FIELD(Packed, three), FIELD(Either, c), FIELD(local, l);
	FIELD(Hidden, d), FIELD(Derived, own), FIELD(Derived, last), FIELD(Holds, it);
	FIELD(Diamond, f), FIELD(Diamond, tail);
	printf("base Diamond Left %td\n", (char *)left - (char *)&d);
	printf("base Diamond Right %td\n", (char *)right - (char *)&d);
	printf("base Diamond Other %td\n", (char *)other - (char *)&d);
	printf("value Color green %d\n", (int)color);
	return here.s + e.own + (int)o.value_or(0) + (int)v.size() + (int)s.size();
}
