/* SPDX-License-Identifier: MIT
 *
 * What C++ adds: classes that go by invisible reference and those that don't,
 * methods, references, templates, lambdas.
 */
#include <cstdio>
#include <cstdint>
#include <utility>

#define SAY(text) (puts(text), fflush(stdout))
#define API __attribute__((noinline, used))
/* Through a pointer that may change. */
#define CALL(line, function, ...) \
	(SAY(#function line), ([&]() -> decltype(auto) { \
		 decltype(&function) volatile f_ = &function; \
		 return f_(__VA_ARGS__); \
	 }()))
#define USE(x) __asm__ volatile("" : : "r"(&x) : "memory")

struct plain {
	int x, y;
};
struct with_constructor {
	int x, y;
	with_constructor(int a, int b) : x(a), y(b)
	{
	}
};
struct copied {
	int x, y;
	copied(int a, int b) : x(a), y(b)
	{
	}
	copied(const copied &o) : x(o.x), y(o.y)
	{
	}
};
struct moved {
	long x;
	explicit moved(long a) : x(a)
	{
	}
	moved(moved &&o) : x(o.x)
	{
	}
};
struct destroyed {
	int x;
	~destroyed()
	{
		__asm__ volatile("");
	}
};
struct defaulted {
	int x, y;
	defaulted(int a, int b) : x(a), y(b)
	{
	}
	defaulted(const defaulted &) = default;
	~defaulted() = default;
};
struct holder {
	destroyed d;
	int y;
};
struct derived : copied {
	int z;
	derived(int a, int b, int c) : copied(a, b), z(c)
	{
	}
};
struct plain_derived : plain {
	int z;
};
struct empty {
};
struct empty_base : empty {
	int x;
};
struct virtual_one {
	int x;
	explicit virtual_one(int a) : x(a)
	{
	}
	virtual int t_virtual(int n);
	virtual ~virtual_one()
	{
	}
};
struct virtual_base : virtual plain {
	int z;
};
struct uncopyable {
	int x;
	explicit uncopyable(int a) : x(a)
	{
	}
	uncopyable(const uncopyable &) = delete;
};
enum class color : unsigned char { red, green = 200 };
template <typename T> struct box {
	T value;
};
template <typename T> struct owner {
	T *p;
	explicit owner(T *q) : p(q)
	{
	}
	owner(const owner &) = delete;
	owner(owner &&o) : p(o.p)
	{
		o.p = nullptr;
	}
	~owner()
	{
		__asm__ volatile("");
	}
};

API int virtual_one::t_virtual(int n)
{
	return x + n;
}

struct counter {
	int n;
	API int t_add(int by)
	{
		return n += by;
	}
	API static int t_static(int a)
	{
		return a + 1;
	}
	API copied t_hidden(int a)
	{
		return copied(n, a);
	}
	API int t_const(const plain &p) const
	{
		return n + p.x;
	}
};

API int t_plain(plain p, int n)
{
	return p.x + n;
}
API int t_with_constructor(with_constructor p, int n)
{
	return p.x + n;
}
API int t_copied(copied p, int n)
{
	return p.x + n;
}
API long t_moved(moved p, int n)
{
	return p.x + n;
}
API int t_destroyed(destroyed p, int n)
{
	return p.x + n;
}
API int t_defaulted(defaulted p, int n)
{
	return p.x + n;
}
API int t_holder(holder p, int n)
{
	return p.y + n;
}
API int t_derived(derived p, int n)
{
	return p.z + n;
}
API int t_plain_derived(plain_derived p, int n)
{
	return p.z + n;
}
API int t_empty(empty, int n)
{
	return n;
}
API int t_empty_base(empty_base p, int n)
{
	return p.x + n;
}
API int t_virtual_one(virtual_one p, int n)
{
	return p.x + n;
}
API int t_uncopyable(uncopyable p, int n)
{
	return p.x + n;
}
API int t_owner(owner<int> p, int n)
{
	return *p.p + n;
}
API int t_box(box<short> b, box<double> d)
{
	return b.value + (int)d.value;
}
API int t_reference(int &r, const plain &p, plain &&q)
{
	return r + p.x + q.y;
}
API int t_color(color c, bool b, char16_t w)
{
	return (int)c + b + w;
}
API int t_null(std::nullptr_t, int n)
{
	return n;
}
API copied t_give_copied(int a)
{
	return copied(a, 2);
}
API moved t_give_moved(int a)
{
	return moved(a);
}
API destroyed t_give_destroyed(int a)
{
	return destroyed{ a };
}
API plain t_give_plain(int a)
{
	return plain{ a, 4 };
}
API with_constructor t_give_with_constructor(int a)
{
	return with_constructor(a, 4);
}
API defaulted t_give_defaulted(int a)
{
	return defaulted(a, 4);
}
API derived t_give_derived(int a)
{
	return derived(a, 5, 6);
}
API virtual_one t_give_virtual(int a)
{
	return virtual_one(a);
}
API empty t_give_empty(int)
{
	return empty();
}
API plain &t_give_reference(plain &p)
{
	return p;
}
API int t_member_pointer(int plain::*m, plain p)
{
	return p.*m;
}
API int t_virtual_base(virtual_base p, int n)
{
	return p.z + n;
}

int main()
{
	plain p = { 3, 4 };
	int seven = 7;
	counter c = { 10 };

	CALL("({x=3, y=4}, 7) = 10", t_plain, p, 7);
	CALL("({x=3, y=4}, 7) = 10", t_with_constructor, with_constructor(3, 4), 7);
	CALL("({x=3, y=4}, 7) = 10", t_copied, copied(3, 4), 7);
	CALL("({x=3}, 7) = 10", t_moved, moved(3), 7);
	CALL("({x=3}, 7) = 10", t_destroyed, destroyed{ 3 }, 7);
	CALL("({x=3, y=4}, 7) = 10", t_defaulted, defaulted(3, 4), 7);
	CALL("({d={x=3}, y=4}, 7) = 11", t_holder, holder{ { 3 }, 4 }, 7);
	CALL("({copied={x=3, y=4}, z=5}, 7) = 12", t_derived, derived(3, 4, 5), 7);
	plain_derived pd;
	pd.x = 3, pd.y = 4, pd.z = 5;
	CALL("({plain={x=3, y=4}, z=5}, 7) = 12", t_plain_derived, pd, 7);
	CALL("({}, 7) = 7", t_empty, empty(), 7);
	empty_base eb;
	eb.x = 3;
	CALL("({empty={}, x=3}, 7) = 10", t_empty_base, eb, 7);
	CALL("({x=3}, 7) = 10", t_virtual_one, virtual_one(3), 7);
	CALL("({x=3}, 7) = 10", t_uncopyable, uncopyable(3), 7);
	CALL("({p=&7}, 7) = 14", t_owner, owner<int>(&seven), 7);
	CALL("({value=3}, {value=1.5}) = 4", t_box, box<short>{ 3 }, box<double>{ 1.5 });
	CALL("(&7, &{x=3, y=4}, &{x=5, y=6}) = 16", t_reference, seven, p, plain{ 5, 6 });
	CALL("(green, true, 'A') = 266", t_color, color::green, true, u'A');
	CALL("(NULL, 7) = 7", t_null, nullptr, 7);
	CALL("(1) = {x=1, y=2}", t_give_copied, 1);
	CALL("(1) = {x=1}", t_give_moved, 1);
	CALL("(1) = {x=1}", t_give_destroyed, 1);
	CALL("(1) = {x=1, y=4}", t_give_plain, 1);
	CALL("(1) = {x=1, y=4}", t_give_with_constructor, 1);
	CALL("(1) = {x=1, y=4}", t_give_defaulted, 1);
	CALL("(1) = {copied={x=1, y=5}, z=6}", t_give_derived, 1);
	CALL("(1) = {x=1}", t_give_virtual, 1);
	CALL("(1) = {}", t_give_empty, 1);
	CALL("(&{x=3, y=4}) = &{x=3, y=4}", t_give_reference, p);
	CALL("(&plain::y, {x=3, y=4}) = 4", t_member_pointer, &plain::y, p);
	SAY("t_add(&{n=10}, 5) = 15");
	c.t_add(5);
	auto t_static = counter::t_static;
	SAY("t_static(3) = 4");
	USE(t_static);
	t_static(3);
	SAY("t_hidden(&{n=15}, 5) = {x=15, y=5}");
	copied h = c.t_hidden(5);
	USE(h);
	SAY("t_const(&{n=15}, &{x=3, y=4}) = 18");
	int used = c.t_const(p);
	USE(used);
	virtual_one *v = new virtual_one(8);
	USE(v);
	SAY("t_virtual(&{x=8}, 3) = 11");
	v->t_virtual(3);
	return 0;
}
