// SPDX-License-Identifier: MIT
//
// For cover_gcov.bats: templates, destructors, exceptions, lambdas.
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace
{
int alive;

struct Guard {
	Guard()
	{
		alive++;
	}
	~Guard()
	{
		alive--;
	}
};

struct Base {
	virtual ~Base() = default;
	virtual int area() const = 0;
};

struct Square : Base {
	int side;
	explicit Square(int s) : side(s)
	{
	}
	int area() const override
	{
		return side * side;
	}
};

int checked(int n)
{
	Guard guard;
	if (n > 2)
		throw std::runtime_error("too many");
	return n * 2;
}

template <class T> T largest(const std::vector<T> &from)
{
	T best = T();
	for (T item : from)
		if (item > best)
			best = item;
	return best;
}
} // namespace

/* Empty but for a break: where that is, others come to at once. */
static int breaks(int n)
{
	int i;

	switch (n) {
	case 1:
		return 10;
	case 2:
		return 20;
	case 3:
		return 30;
	default:
		break;
	}
	for (i = 0; i < n; i++) {
		switch (i & 7) {
		case 0:
			continue;
		case 1:
			n--;
			break;
		case 5:
			break;
		default:
			continue;
		}
	}
	switch (n) {
	case -3:
		break;
	case 6:
		break;
	default:
		break;
	}
	return -1;
}

int main()
{
	int total = 0;
	for (int i = 0; i < 5; i++) {
		try {
			total += checked(i);
		} catch (const std::runtime_error &) {
			total -= 100;
		}
	}
	for (int i = -5; i < 40; i++)
		total += breaks(i % 13);
	total += largest(std::vector<int>{ 1, 7, 3 });
	total += (int)largest(std::vector<double>{ 2.5, 1.5 });
	auto twice = [&total](int n) { return n + n + total; };
	total = twice(4);
	Square square(3);
	const Base &base = square;
	total += base.area();
	return alive || total == 12345 ? 1 : 0;
}
