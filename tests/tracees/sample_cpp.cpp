/* SPDX-License-Identifier: MIT
 *
 * What C++ programs look like from outside: namespaces, templates, virtual
 * functions, lambdas, operators, constructors and inlined calls, one thread
 * blocked in them and one computing. Prints, before it is ready,
 *
 *	stack TID KIND leaf ... outermost
 *
 * with the demangled names without arguments.
 */
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tracee.h"

namespace
{
std::atomic<bool> stop;
std::atomic<int> standing;
int never[2];
volatile int sink;

void say(const char *kind, const char *frames)
{
	char line[1000];
	int n = snprintf(line, sizeof(line), "stack %d %s %s\n", (int)tracee_tid(), kind, frames);

	CHECK(write(STDOUT_FILENO, line, (size_t)n) == n, "write");
	standing++;
}
} // namespace

namespace shop
{
template <class T> struct box {
	T value;
	NOIPA T take(int n);
};

template <class T> NOIPA T box<T>::take(int n)
{
	char c;

	say("blocked", "shop::box<int>::take shop::clerk::serve shop::counter::operator() "
		       "shop::queue::queue shop::open_shop");
	CHECK(read(never[0], &c, 1) == 0, "read: %s", strerror(errno));
	sink = sink + 1;
	return value + n;
}

struct person {
	virtual ~person() = default;
	virtual int serve(int n) = 0;
};

struct clerk final : person {
	NOIPA int serve(int n) override
	{
		box<int> b{ n };
		int got = b.take(1);

		sink = sink + 1;
		return got;
	}
};

struct counter {
	std::unique_ptr<person> who = std::make_unique<clerk>();
	NOIPA int operator()(int n) const
	{
		int got = who->serve(n);

		sink = sink + 1;
		return got;
	}
};

struct queue {
	int result;
	NOIPA explicit queue(const counter &c)
	{
		result = c(41);
		sink = sink + 1;
	}
};

NOIPA void open_shop()
{
	queue q{ counter{} };

	CHECK(q.result == 42, "the shop sold %d", q.result);
}
} // namespace shop

namespace work
{
/* Inlined into its caller at -O2. */
__attribute__((always_inline)) inline uint32_t step_inlined(uint32_t x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}

template <class F> NOIPA uint32_t repeat(F f, int n)
{
	uint32_t x = 1;

	for (int i = 0; i < n; i++)
		x = f(x);
	return x;
}

NOIPA void compute()
{
	std::vector<std::string> words;

	say("computing", "work::compute");
	while (!stop) {
		/* Some 10 ms: who looks twice, one time with gdb, finds it in the
		 * same place but once in a hundred thousand times. */
		uint32_t x = repeat([](uint32_t v) { return step_inlined(v); }, 4000000);

		words.push_back(std::to_string(x));
		if (words.size() > 100)
			words.clear();
	}
}
} // namespace work

int main(int argc, char **argv)
{
	tracee_options defaults = {};

	defaults.ms = 50;
	tracee_begin("sample_cpp", argc, argv, defaults);
	TRY(pipe2(never, O_CLOEXEC));
	std::thread blocked(shop::open_shop), computing(work::compute);
	while (standing < 2)
		std::this_thread::yield();
	tracee_wait();
	stop = true;
	close(never[1]);
	blocked.join();
	computing.join();
	return tracee_ok("C++ names");
}
