// SPDX-License-Identifier: MIT
//
// For cover_gcov.bats: lines that exceptions leave in the middle, and come to. gcov counts the
// closing brace once more for each step from one destructor to the next that an exception takes.
// clang-format off
#include <memory>
#include <stdexcept>
#include <string>

namespace
{
int alive, zero;

struct Guard {
	int n;
	Guard(int n) : n(n)
	{
		alive++;
	}
	~Guard()
	{
		alive--;
	}
};

struct Loud {
	~Loud() noexcept(false)
	{
		if (alive == 123456789)
			throw 1;
	}
};

__attribute__((noinline)) int thrower(int n) { if (n % 4 == 3) throw std::runtime_error("x"); return n; }
__attribute__((noinline)) int two(int a, int b) { return thrower(a) + thrower(b); }
int on_a_line(int n) { try { return thrower(n); } catch (...) { return -1; } }

int caught(int n)
{
	try {
		return thrower(n) + thrower(n + 1);
	} catch (const std::runtime_error &e) {
		return (int)std::string(e.what()).size();
	} catch (int) {
		return 7;
	}
}

int again(int n)
{
	try {
		return thrower(n);
	} catch (...) {
		alive += 0;
		throw;
	}
}

int guarded(int n)
{
	Guard a(1);
	if (n == 2)
		return 0;
	return thrower(n) + 2;
}

int twice_guarded(int n)
{
	Guard a(1);
	Guard b(2);
	int r = thrower(n);
	if (r > 50)
		return r;
	Guard c(3);
	r += thrower(n + 2);
	return r;
} // closing

void never(int n) noexcept
{
	Guard g(n);
	if (n < zero)
		thrower(3);
	alive += 0;
}

struct Base {
	Guard g;
	Base(int n) : g(thrower(n))
	{
	}
	virtual ~Base()
	{
	}
};

struct Derived : Base {
	Guard h;
	std::string s;
	Derived(int n) : Base(n), h(thrower(n + 1)), s("abc")
	{
		thrower(n + 2);
	} // closing
	~Derived() override
	{
		alive += 0;
	}
};

int objects(int n)
{
	std::unique_ptr<Base> p(new Derived(n));
	return p->g.n;
}

int loops(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) sum += i & 1 ? 3 : 1;
	for (;;) { if (sum > 10) break; sum += 3; }
	for (int i = 0; i < n; i++) { try { sum += thrower(i); } catch (...) { sum--; } }
	for (auto c : std::string("hello")) sum += c;
	for (auto c : std::string("hello"))
		sum += c;
	for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) sum += i * j;
	for (int i = 0; i < 9; i++) { if (i == 2) continue; if (i == 5) break; sum++; }
	return sum;
}

int switches(int n)
{
	switch (n % 6) { case 0: return 1; case 1: n++; case 2: n--; break; default: n += 2; }
	switch (n % 5) {
	case 0:
	case 1:
		n = thrower(n);
		break;
	case 2:
		thrower(n);
		break;
	case 3:
		return thrower(n + 1) ? 3 : 4;
	default:
		break;
	}
	return n > 3 && n < 90 && (thrower(n) || n == 7) ? thrower(n) : n;
}

int lambdas(int n)
{
	auto g = [&](int k) {
		Guard g(k);
		return thrower(k + n);
	};
	int r = g(n + 1);
	return r;
}

template <class T> T typed(T a, int n)
{
	Guard g(1);
	return a + thrower(n);
}

int loud(int n)
{
	Loud l;
	return thrower(n);
}

int nested(int n)
{
	int r = 0;
	try {
		try {
			r = thrower(n);
		} catch (int) {
			r = 1;
		}
		r += thrower(n + 1);
	} catch (std::exception &e) {
		try {
			thrower(n + 2);
			r = 5;
		} catch (...) {
			r = 6;
		}
	}
	return r;
}

void run(int (*f)(int))
{
	for (int i = 0; i < 200; i++) {
		try {
			f(i);
		} catch (const std::runtime_error &) {
			alive += 0;
		} catch (...) {
			alive += 0;
		}
	}
}
} // namespace

int main()
{
	run([](int n) { return two(n, n + 1); });
	run(on_a_line);
	run(caught);
	run(again);
	run(guarded);
	run(twice_guarded);
	run(objects);
	run(loops);
	run(switches);
	run(lambdas);
	run(loud);
	run(nested);
	run([](int n) { return typed(n, n) + (int)typed(2.5, n); });
	for (int i = 0; i < 10; i++)
		never(i);
	return alive < 0;
}
