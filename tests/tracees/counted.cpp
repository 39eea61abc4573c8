/* SPDX-License-Identifier: MIT
 *
 * Functions that count themselves: entered, returned from, left by a jump. The
 * rest of what was entered was unwound: by an exception, longjmp, or the end of
 * its thread. At the end one line for each function:
 *
 *	FUNCTION enter=N leave=N tail_call=N unwind=N
 *
 *	--mode=all|fork	fork: in a child for each round, which prints its own
 */
#include <atomic>
#include <csetjmp>
#include <stdexcept>

#include "tracee.h"

static volatile bool always = true; /* compilers see recursion without an end */

struct counts {
	const char *name;
	std::atomic<long> enter, leave, tail;
};

#define COUNTED(f) static struct counts n_##f = { #f, { 0 }, { 0 }, { 0 } };
#define ALL(F) \
	F(recurse) \
	F(tail_first) \
	F(tail_middle) \
	F(tail_last) \
	F(tail_even) \
	F(tail_odd) \
	F(tail_maybe) \
	F(tail_pointer) F(thrower) F(catcher) F(jumper) F(jumped_to) F(worker) F(leaf) F(quitter)
ALL(COUNTED)

#define ENTER(f) n_##f.enter++
#define LEAVE(f, value) return n_##f.leave++, (value)
#define TAIL(f, call) return n_##f.tail++, (call)

extern "C" {
NOIPA long recurse(long n)
{
	ENTER(recurse);
	long below = n ? recurse(n - 1) : 0;
	LEAVE(recurse, below + 1);
}

NOIPA long tail_last(long n)
{
	ENTER(tail_last);
	LEAVE(tail_last, n + 1);
}

NOIPA long tail_middle(long n)
{
	ENTER(tail_middle);
	TAIL(tail_middle, tail_last(n + 1));
}

NOIPA long tail_first(long n)
{
	ENTER(tail_first);
	TAIL(tail_first, tail_middle(n + 1));
}

long tail_even(long n);

NOIPA long tail_odd(long n)
{
	ENTER(tail_odd);
	if (n)
		TAIL(tail_odd, tail_even(n - 1));
	LEAVE(tail_odd, 1);
}

NOIPA long tail_even(long n)
{
	ENTER(tail_even);
	if (n)
		TAIL(tail_even, tail_odd(n - 1));
	LEAVE(tail_even, 0);
}

NOIPA long tail_maybe(long n)
{
	ENTER(tail_maybe);
	if (n % 3)
		TAIL(tail_maybe, tail_last(n));
	LEAVE(tail_maybe, n);
}

static long (*volatile pointed_to)(long) = tail_last;

NOIPA long tail_pointer(long n)
{
	ENTER(tail_pointer);
	TAIL(tail_pointer, pointed_to(n));
}

NOIPA long thrower(long depth)
{
	ENTER(thrower);
	if (!depth && always)
		throw std::runtime_error("bottom");
	long below = depth ? thrower(depth - 1) : 0;
	LEAVE(thrower, below);
}

NOIPA long catcher(long depth)
{
	ENTER(catcher);
	long got = 0;
	try {
		got = thrower(depth);
	} catch (const std::exception &) {
		got = 1;
	}
	LEAVE(catcher, got);
}

static thread_local jmp_buf back;

NOIPA long jumper(long depth)
{
	ENTER(jumper);
	if (!depth && always)
		longjmp(back, 1);
	long below = depth ? jumper(depth - 1) : 0;
	LEAVE(jumper, below);
}

NOIPA long jumped_to(long depth)
{
	ENTER(jumped_to);
	if (!setjmp(back))
		jumper(depth);
	LEAVE(jumped_to, 1);
}

NOIPA long leaf(long n)
{
	ENTER(leaf);
	LEAVE(leaf, n * 3);
}

NOIPA long quitter(long depth)
{
	ENTER(quitter);
	if (!depth && always)
		pthread_exit(NULL);
	long below = depth ? quitter(depth - 1) : 0;
	LEAVE(quitter, below);
}

NOIPA void *worker(void *)
{
	ENTER(worker);
	for (long i = 0; i < 300; i++)
		leaf(i);
	for (long i = 0; i < 20; i++)
		catcher(i % 5), jumped_to(i % 7), tail_first(i);
	LEAVE(worker, (void *)NULL);
}

NOIPA void *quitting(void *)
{
	quitter(9);
	return NULL;
}
}

static void everything(void)
{
	pthread_t threads[8];

	recurse(opt.depth);
	for (long i = 0; i < 50; i++)
		tail_first(i), tail_maybe(i), tail_pointer(i), catcher(i % 9), jumped_to(i % 9);
	tail_even(1000);
	for (int i = 0; i < 8; i++)
		threads[i] = tracee_thread(worker, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	pthread_t quits = tracee_thread(quitting, NULL);
	pthread_join(quits, NULL);
}

static void print(void)
{
	char text[4096];
	int n = 0;

#define PRINT(f) \
	n += snprintf(text + n, sizeof(text) - (size_t)n, \
		      "%s enter=%ld leave=%ld tail_call=%ld unwind=%ld\n", n_##f.name, \
		      n_##f.enter.load(), n_##f.leave.load(), n_##f.tail.load(), \
		      n_##f.enter - n_##f.leave - n_##f.tail);
	ALL(PRINT)
	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		_exit(1);
}

int main(int argc, char **argv)
{
	struct tracee_options defaults = {};

	defaults.mode = "all";
	defaults.rounds = 1;
	defaults.depth = 10000;
	tracee_begin("counted", argc, argv, defaults);
	while (tracee_more()) {
		if (!strcmp(opt.mode, "fork")) {
			pid_t child = fork();

			if (!child) {
				everything();
				print();
				_exit(0);
			}
			waitpid(child, NULL, 0);
			continue;
		}
		everything();
	}
	if (strcmp(opt.mode, "fork") != 0)
		print();
	return tracee_ok("counted");
}
