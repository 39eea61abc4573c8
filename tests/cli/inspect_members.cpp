/* SPDX-License-Identifier: MIT
 *
 * Pointers to members of all kinds; up to "ready", then until a character comes. */
#include <cstdio>

struct A {
	int a, b;
	virtual int v0();
	virtual int v1(long);
	int plain(int);
};
int A::v0()
{
	return 1;
}
int A::v1(long)
{
	return 2;
}
int A::plain(int x)
{
	return x;
}

struct B {
	long c;
	virtual int w();
	int nonv() const
	{
		return 5;
	}
};
int B::w()
{
	return 3;
}

struct D : A, B {
	int d;
	int v0() override;
	int own();
};
int D::v0()
{
	return 9;
}
int D::own()
{
	return 8;
}

struct S {
	int a;
	static int counted;
	union {
		int u;
		float f;
	};
	int bits : 3;
	int row[4];
	struct Inner {
		int x, y;
	} inner;
} s = { 1, { 2 }, 3, { 4, 5, 6, 7 }, { 8, 9 } };
int S::counted = 5;

namespace ns
{
template <class T> struct Box {
	T value;
	virtual ~Box()
	{
	}
	virtual T get(T)
	{
		return value;
	}
	void put(T t)
	{
		value = t;
	}
};
} // namespace ns

int S::*first = &S::a;
int A::*second = &A::b;
int A::*no_member = nullptr;
int D::*own_member = &D::d;
long D::*of_base = &D::c;
int D::*of_first_base = &A::a;
int (S::*array)[4] = &S::row;
S::Inner S::*nested = &S::inner;
double ns::Box<double>::*of_template = &ns::Box<double>::value;
int S::*of_union = &S::u;

int (A::*function)(int) = &A::plain;
int (A::*no_function)() = nullptr;
int (B::*constant)() const = &B::nonv;
int (D::*own_function)() = &D::own;
void (ns::Box<double>::*put)(double) = &ns::Box<double>::put;

int (A::*virtual_function)() = &A::v0;
int (A::*virtual_second)(long) = &A::v1;
int (B::*virtual_base)() = &B::w;
int (D::*virtual_adjusted)() = &B::w;
int (D::*virtual_own)() = &D::v0;
double (ns::Box<double>::*virtual_template)(double) = &ns::Box<double>::get;

struct both {
	int S::*member;
	int (A::*function)();
} both = { &S::a, &A::v0 };

S *to_s = &s;

__attribute__((noinline)) int take(int S::*member, int (A::*method)(), int (A::*other)(int), A *a)
{
	return s.*member + (a->*method)() + (a->*other)(1);
}

int main()
{
	D d;
	ns::Box<double> box;

	box.put(take(first, virtual_function, function, &d));
	puts("ready");
	fflush(stdout);
	getchar();
	return box.get(1) > 0 ? 0 : s.*of_union;
}
