/* SPDX-License-Identifier: MIT
 *
 * Instructions that fail in the middle of straight code. `crash`, `trap`, `assert`
 * or `divide` as argument: how it ends.
 */
#include <assert.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sigjmp_buf back;
static volatile int sum;
static int *volatile none;

static void handler(int sig)
{
	siglongjmp(back, sig);
}

static void straight(int *p)
{
	sum += 1;
	sum += *p;
	sum += 2;
	sum += 3;
}

static void before_call(int *p)
{
	sum += 1;
	*p = 5;
	sum += 2;
	puts("never");
	sum += 3;
}

static void before_branch(int *p)
{
	sum += 1;
	*p = 5;
	sum += 2;
	if (sum > 3)
		sum += 4;
	sum += 3;
}

static void second_time(int *p)
{
	sum += 1;
	sum += *p;
	sum += 2;
	puts("once");
	sum += 3;
}

static void mended(int *p)
{
	int *volatile q = p;

	sum += 1;
	if (!sigsetjmp(back, 1))
		sum += *q;
	sum += 2;
}

static int quotient(int by)
{
	int r = 7;

	r = r / by;
	r += 2;
	puts("divided");
	return r;
}

static void end(const char *how)
{
	sum += 1;
	if (!strcmp(how, "crash")) {
		sum += 4;
		sum += *none;
		sum += 5;
		puts("not crashed");
	} else if (!strcmp(how, "trap")) {
		sum += 6;
		__builtin_trap();
		sum += 7;
	} else if (!strcmp(how, "assert")) {
		sum += 8;
		assert(!sum);
		sum += 9;
	} else if (!strcmp(how, "divide")) {
		sum += 10;
		sum /= none ? 1 : 0;
		sum += 11;
	}
	sum += 12;
}

int main(int argc, char **argv)
{
	int one = 1;

	signal(SIGSEGV, handler);
	signal(SIGFPE, handler);
	if (!sigsetjmp(back, 1))
		straight(none);
	if (!sigsetjmp(back, 1))
		before_call(none);
	if (!sigsetjmp(back, 1))
		before_branch(none);
	if (!sigsetjmp(back, 1))
		second_time(&one);
	if (!sigsetjmp(back, 1))
		second_time(none);
	mended(none);
	if (!sigsetjmp(back, 1))
		quotient(0);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGFPE, SIG_DFL);
	fflush(stdout);
	if (argc > 1)
		end(argv[1]);
	return 0;
}
