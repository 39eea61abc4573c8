/* SPDX-License-Identifier: MIT
 *
 * C++ exceptions for the single-step oracle: thrown through frames with and
 * without something to clean up, rethrown, caught by type.
 */
#include "test_unwind_tracee.h"

#include <signal.h>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <vector>

ORACLE_ENTRY;

#define NOINLINE __attribute__((noinline))

static volatile int sink;

struct guard {
	int value;
	explicit guard(int v) : value(v)
	{
		sink += v;
	}
	~guard()
	{
		sink -= value;
	}
};

NOINLINE static void thrower(int n)
{
	guard g(n);

	if (n == 0)
		throw std::runtime_error("deep down");
	thrower(n - 1);
	sink += n;
}

NOINLINE static void through(int n)
{
	try {
		thrower(n);
	} catch (const std::logic_error &) {
		sink = -1;
	}
	sink++;
}

NOINLINE static void again(int n)
{
	std::vector<std::string> words(3, "a string that is too long to be short");

	try {
		through(n);
	} catch (...) {
		sink += (int)words.size();
		throw;
	}
}

void oracle_work(struct oracle_info *info)
{
	for (uint64_t i = 0; i < info->rounds; i++) {
		try {
			again(2);
		} catch (const std::exception &e) {
			sink += e.what()[0];
		}
	}
}

static void on_signal(int number)
{
	sink += number;
}

int main(int argc, char **argv)
{
	struct oracle_info info = { (uint64_t)on_signal, (uint64_t)on_signal,
				    argc > 1 ? strtoul(argv[1], nullptr, 10) : 1 };

	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	if (argc > 2 && argv[2][0] == 'w') {
		struct oracle_info once = { 0, 0, 1 };

		oracle_work(&once);
	}
	oracle_entry(&info);
	return 0;
}
