/* SPDX-License-Identifier: MIT
 *
 * C++ exceptions through deep frames, destructors, libc's qsort, rethrown,
 * nested, in several threads and out of constructors; every destructor and
 * every catch is counted.
 */
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tracee.h"

namespace
{
std::atomic<long> alive, thrown, caught;

struct guard {
	guard()
	{
		alive++;
	}
	~guard()
	{
		alive--;
	}
};

struct fails : guard {
	guard member;
	explicit fails(int n)
	{
		thrown++;
		throw std::runtime_error("constructor " + std::to_string(n));
	}
};

NOIPA int dive(int depth, int kind)
{
	guard g;

	if (depth > 0)
		return dive(depth - 1, kind) + 1;
	thrown++;
	if (kind == 0)
		throw 42;
	if (kind == 1)
		throw std::out_of_range(std::string(100, 'x'));
	throw std::string("text");
}

int compare_throws(const void *a, const void *b)
{
	guard g;

	if (*static_cast<const int *>(a) + *static_cast<const int *>(b) == 15) {
		thrown++;
		throw 15;
	}
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

template <class F> void expect(const char *what, F f)
{
	long before = caught;

	f();
	CHECK(caught > before, "%s: nothing was caught", what);
}

void one_set(int i)
{
	expect("int", [&] {
		try {
			dive(i % 60, 0);
		} catch (const std::exception &) {
			tracee_fail("wrong catch clause");
		} catch (int n) {
			CHECK(n == 42, "caught %d", n);
			caught++;
		}
	});
	expect("rethrow", [&] {
		try {
			try {
				dive(i % 30, 1);
			} catch (const std::logic_error &) {
				caught++;
				thrown++;
				throw;
			}
		} catch (const std::out_of_range &e) {
			CHECK(strlen(e.what()) == 100, "text was lost");
			caught++;
		}
	});
	expect("constructor", [&] {
		try {
			fails f(i);
		} catch (const std::runtime_error &e) {
			CHECK(e.what() == "constructor " + std::to_string(i), "%s", e.what());
			caught++;
		}
	});
	expect("qsort", [] {
		int numbers[] = { 9, 8, 7, 6, 5, 4, 3, 2, 1 };

		try {
			qsort(numbers, 9, sizeof(int), compare_throws);
		} catch (int n) {
			caught += n == 15;
		}
	});
	expect("nested", [&] {
		try {
			dive(3, 2);
		} catch (const std::string &outer) {
			caught++;
			try {
				dive(i % 10, 0);
			} catch (int) {
				caught++;
			}
			CHECK(outer == "text", "outer exception was lost");
		}
	});
}
} // namespace

int main(int argc, char **argv)
{
	tracee_options defaults = {};

	defaults.rounds = 10;
	defaults.threads = 4;
	defaults.size = 100;
	tracee_begin("exceptions", argc, argv, defaults);
	while (tracee_more()) {
		std::vector<std::thread> threads;

		for (long t = 0; t < opt.threads; t++)
			threads.emplace_back([] {
				for (long i = 0; i < opt.size; i++)
					one_set(static_cast<int>(i));
			});
		for (auto &t : threads)
			t.join();
	}
	CHECK(thrown == caught, "%ld thrown, %ld caught", (long)thrown, (long)caught);
	CHECK(alive == 0, "%ld objects not destroyed", (long)alive);
	return tracee_ok("every throw caught, every destructor run");
}
