/* SPDX-License-Identifier: MIT
 *
 * Throws and catches, and says so: one line for each, in order, as cprof should
 * tell them. `throws THREADS [LIBRARY]`: first alone, then in so many threads,
 * then through a library's function; `throws abort`: nobody catches.
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define NOIPA __attribute__((noipa))

static thread_local bool quiet;

static void say(const char *what, const char *type, const char *function)
{
	if (!quiet)
		std::printf("%s %s %s\n", what, type, function);
}

namespace shapes
{
struct odd {
	char bytes[100];
};
template <class T> struct box : std::exception {
	T value;
};
} // namespace shapes

NOIPA static int thrower(int kind)
{
	if (kind == 0) {
		say("throw", "int", "thrower");
		throw kind;
	}
	if (kind == 1) {
		say("throw", "std::out_of_range", "thrower");
		throw std::out_of_range("one");
	}
	if (kind == 2) {
		say("throw", "shapes::box<shapes::odd>", "thrower");
		throw shapes::box<shapes::odd>();
	}
	if (kind == 3) {
		say("throw", "char const*", "thrower");
		throw "three";
	}
	return kind;
}

NOIPA static int passes_through(int kind)
{
	std::string long_one(100, 'x'); /* to be destroyed */

	return thrower(kind) + (int)long_one.size();
}

NOIPA static void in_destructor()
{
	try {
		thrower(0);
	} catch (int) {
		say("catch", "int", "in_destructor");
	}
}

struct busy {
	NOIPA ~busy()
	{
		in_destructor();
	}
};

NOIPA static void nested()
{
	busy b;

	thrower(1);
}

NOIPA static void again()
{
	try {
		passes_through(2);
	} catch (...) {
		say("catch", "shapes::box<shapes::odd>", "again");
		say("rethrow", "shapes::box<shapes::odd>", "again");
		throw;
	}
}

NOIPA static void others(std::exception_ptr &kept)
{
	try {
		passes_through(3);
	} catch (int) {
		std::abort();
	} catch (const std::exception &) {
		std::abort();
	} catch (const char *) {
		say("catch", "char const*", "others");
		kept = std::current_exception();
	}
}

NOIPA static void kept_one(const std::exception_ptr &kept)
{
	say("throw", "char const*", "kept_one");
	std::rethrow_exception(kept);
}

static std::jmp_buf place;

NOIPA static void jumps()
{
	std::longjmp(place, 1);
}

NOIPA static void all_kinds()
{
	std::exception_ptr kept;

	try {
		passes_through(0);
	} catch (int) {
		say("catch", "int", "all_kinds");
	}
	try {
		nested();
	} catch (const std::logic_error &) {
		say("catch", "std::out_of_range", "all_kinds");
	}
	try {
		again();
	} catch (const std::exception &) {
		say("catch", "shapes::box<shapes::odd>", "all_kinds");
	}
	others(kept);
	try {
		kept_one(kept);
	} catch (const char *) {
		say("catch", "char const*", "all_kinds");
	}
}

static void *cancelled(void *)
{
	quiet = true;
	pthread_exit(nullptr);
}

#ifdef NO_LIBRARY
static void by_library(const char *)
{
	std::abort();
}
#else
NOIPA static void by_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	auto *calls = library ? (void (*)(void (*)()))dlsym(library, "calls_back") : nullptr;

	if (!calls)
		std::abort();
	try {
		calls([] { thrower(1); });
	} catch (const std::out_of_range &) {
		say("catch", "std::out_of_range", "by_library");
	}
	try {
		say("throw", "std::runtime_error", "calls_back");
		calls(nullptr);
	} catch (const std::runtime_error &) {
		say("catch", "std::runtime_error", "by_library");
	}
	dlclose(library);
}
#endif

int main(int argc, char **argv)
{
	int threads = argc > 1 ? std::atoi(argv[1]) : 0;
	std::vector<std::thread> all;
	pthread_t t;

	std::setvbuf(stdout, nullptr, _IOLBF, 0);
	if (argc > 1 && !std::strcmp(argv[1], "abort"))
		thrower(1);
	all_kinds();
	if (!setjmp(place))
		jumps();
	pthread_create(&t, nullptr, cancelled, nullptr);
	pthread_join(t, nullptr);
	if (argc > 2)
		by_library(argv[2]);
	for (int i = 0; i < threads; i++)
		all.emplace_back([] {
			quiet = true;
			for (int k = 0; k < 10; k++)
				all_kinds();
		});
	for (auto &one : all)
		one.join();
	return 0;
}
