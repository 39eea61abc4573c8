/* SPDX-License-Identifier: MIT
 *
 * What the probes look at; it says itself how often it was called and what it
 * passed. With an argument it has a thread more, which counts.
 */
#include <csetjmp>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define APART __attribute__((noinline, noclone, visibility("default")))

struct big {
	long a[5];
};

struct shape {
	int width;
	APART int area(int height) const;
};

/* Where it is an argument, its address is passed. */
struct owner {
	long of;
	explicit owner(long n) : of(n)
	{
	}
	owner(const owner &other) : of(other.of + 1)
	{
	}
	~owner()
	{
		of = 0;
	}
};

extern "C" {
volatile int probed_sum;
static unsigned fibs;

APART int probed_add(int a, long b)
{
	__asm__ volatile("");
	return a + (int)b;
}

APART void probed_void(const char *text)
{
	probed_sum += *text;
}

APART int probed_tail(int n)
{
	return probed_add(n, 1);
}

APART struct big probed_big(struct big b, double d)
{
	b.a[0] += (long)d;
	return b;
}

APART long probed_owner(struct owner o)
{
	__asm__ volatile("");
	return o.of;
}

APART int probed_fib(int n)
{
	int a, b;

	fibs++;
	if (n < 2)
		return n;
	a = probed_fib(n - 1);
	b = probed_fib(n - 2);
	__asm__ volatile("" : "+r"(b)); /* no loop instead of a call */
	return a + b;
}

/* Left by an exception, by longjmp, and by an exception again two calls up. */
APART int probed_throw(int n)
{
	if (n)
		throw n;
	return n + 1;
}

static jmp_buf back;

APART int probed_jump(int n)
{
	if (n)
		longjmp(back, n);
	return n + 1;
}

APART int probed_through(int n)
{
	return probed_throw(n) + 1;
}

APART int probed_never(int n)
{
	return n + 1;
}

static volatile unsigned long counter;
static volatile int over;

APART void *probed_spin(void *arg)
{
	while (!over)
		counter = counter + 1;
	return arg;
}

/* Returns when the other thread has gone on. */
APART void probed_look(void)
{
	unsigned long before = counter;

	while (counter == before)
		sched_yield();
}
}

APART int shape::area(int height) const
{
	__asm__ volatile("");
	return width * height;
}

static int with_thread(void)
{
	pthread_t spinner;

	if (pthread_create(&spinner, nullptr, probed_spin, nullptr))
		return 1;
	probed_look(); /* it runs */
	for (int i = 0; i < 3; i++)
		probed_look();
	over = 1;
	return pthread_join(spinner, nullptr);
}

static void unwind(void)
{
	try {
		probed_throw(1);
	} catch (int n) {
		probed_sum += n;
	}
	if (!setjmp(back))
		probed_jump(1);
	try {
		probed_through(2);
	} catch (int n) {
		probed_sum += n;
	}
}

int main(int argc, char **)
{
	struct big b = { { 1, 2, 3, 4, 5 } };
	struct shape shape = { 6 };
	struct owner owner(76);

	if (argc > 1)
		return with_thread();
	probed_sum += probed_add(20, 22);
	probed_void("text");
	probed_sum += probed_tail(5);
	b = probed_big(b, 2.5);
	probed_sum += (int)probed_owner(owner);
	probed_sum += shape.area(7);
	probed_sum += probed_fib(5);
	unwind();
	if (probed_sum < 0)
		probed_never(probed_sum);
	printf("program: fib %u calls, big %ld\n", fibs, b.a[0]);
	return 0;
}
