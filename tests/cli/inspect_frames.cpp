/* SPDX-License-Identifier: MIT
 *
 * Variables of frames, for tests of `cprof inspect --frame`: the first thread waits in
 * read() at the end of calls of all kinds, another one runs. Says "ready".
 */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define INLINE inline __attribute__((always_inline))
#define KEEP(x) asm volatile("" : : "r"(&(x)) : "memory")

enum class color { red, green = 5 };

struct point {
	int x, y;
};

struct base {
	long id = 77;
	virtual ~base() = default;
};

static volatile int end_of_input;
static volatile bool is_running;

static INLINE int wait_inside(int depth, point at)
{
	int twice = depth * 2;
	point moved = { at.x + 1, at.y + 1 };
	char c;

	KEEP(twice);
	KEEP(moved);
	end_of_input = (int)read(0, &c, 1);
	return twice + moved.x;
}

struct server : base {
	std::string name = "the server";
	int count = 5;
	point at = { 3, 4 };
	static int total;

	NOINLINE int serve(int fd, const char *who, double load, point by_value,
			   const point &by_reference, color hue)
	{
		int numbers[4] = { fd, fd + 1, fd + 2, fd + 3 };
		point *there = &at;
		long hidden = 10;
		float ratio = 1.5f;
		int result = 0;

		KEEP(numbers);
		KEEP(there);
		KEEP(ratio);
		KEEP(hidden);
		{
			long hidden = 20;
			static int calls = 40;

			calls++;
			KEEP(hidden);
			result = wait_inside(numbers[1], by_value);
			KEEP(hidden);
		}
		KEEP(numbers);
		KEEP(ratio);
		return result + (int)load + (int)strlen(who) + by_reference.x + (int)hue +
		       (int)hidden + there->y;
	}
};

int server::total = 9;

/* Each depth has an n of its own. */
NOINLINE int nested(server *s, int n)
{
	char text[16];
	point local = { n, -n };
	int result;

	snprintf(text, sizeof(text), "depth %d", n);
	KEEP(text);
	KEEP(local);
	if (n)
		result = nested(s, n - 1);
	else
		result = s->serve(7, "me", 2.5, local, local, color::green);
	KEEP(local);
	KEEP(text);
	return result + n;
}

NOINLINE void run_on(int id, const char *what)
{
	long steady = id * 100;
	char text[8] = "running";
	std::vector<int> held = { 1, 2, 3 };

	KEEP(steady);
	KEEP(text);
	KEEP(held);
	is_running = true;
	while (!end_of_input) {
		KEEP(steady);
		KEEP(text);
	}
	KEEP(held);
	printf("%s\n", what);
}

int main()
{
	server s;
	std::thread other([] {
		pthread_setname_np(pthread_self(), "runner");
		run_on(3, "what runs");
	});

	while (!is_running)
		;
	puts("ready");
	fflush(stdout);
	int result = nested(&s, 2);
	printf("%d %d\n", result, server::total);
	other.join();
}
