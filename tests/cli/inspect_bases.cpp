/* SPDX-License-Identifier: MIT
 *
 * Classes with bases that are virtual, not virtual, there twice, or nearly empty; up to
 * "ready", then until a character comes. */
#include <cstdio>
#include <string>

struct Base {
	int id = 7;
	std::string name = "base";
	virtual ~Base()
	{
	}
};
struct Left : virtual Base {
	int left = 1;
};
struct Right : virtual public Base {
	int right = 2;
};
struct Diamond : Left, Right {
	int own = 3;
};
struct Other {
	int other = 4;
	virtual int tell()
	{
		return 4;
	}
};
struct Whole : Other, Diamond {
	int whole = 5;
};
struct Thin {
	virtual void nothing()
	{
	}
};
struct OnThin : virtual Thin {
	int on = 6;
};

struct Plain {
	int plain = 10;
};
struct Second {
	int second = 11;
};
struct Both : Plain, Second {
	int both = 12;
};
struct Also : Plain {
	int also = 13;
};
struct Twice : Both, Also {
	int twice = 14;
};
namespace ns
{
template <class T> struct Held : virtual Base {
	T held = 15;
};
struct More : Held<long>, Held<short> {
	int more = 16;
};
} // namespace ns

Diamond diamond;
Whole whole;
OnThin on_thin;
Twice twice;
Both both;
ns::More more;
Diamond two[2];

Left *left = &diamond;
Base *base = &whole, *none, *of_more = &more;
Right *right = &whole;
Other *other = &whole;
Diamond *to_diamond = &whole;
Plain *plain = &both;
Second *second = &both;
Thin *thin = &on_thin;
ns::Held<short> *held = &more;
Base &ref = whole;
struct Pair {
	Left *a, *b;
} pair = { &diamond, &diamond };
struct Member {
	Diamond d;
	Left l;
} member;

extern "C" __attribute__((noinline)) int take(Diamond *d, const Right &r, Base *b, Twice *t)
{
	asm volatile("" : : "r"(d), "r"(&r), "r"(b), "r"(t) : "memory");
	return d->id + r.id + b->id + t->twice;
}

int main()
{
	std::printf("%d\n", take(&diamond, *right, base, &twice));
	std::printf("ready\n");
	std::fflush(stdout);
	std::getchar();
	return 0 *
	       (on_thin.on + two[1].id + plain->plain + second->second + held->held + ref.id +
		(left == nullptr) + (none == nullptr) + (of_more == nullptr) + other->other +
		(to_diamond == nullptr) + (thin == nullptr) + (pair.a == nullptr) + member.d.id);
}
