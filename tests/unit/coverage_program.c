/* SPDX-License-Identifier: MIT
 *
 * The program whose coverage test_api_coverage.c looks at: it ends, forks or
 * executes itself as its argument says. Lines are found by their comments.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "coverage_program.h"

#ifdef __clang__
#define NOIPA __attribute__((noinline))
#else
#define NOIPA __attribute__((noipa))
#endif

static volatile int sink;

NOIPA static int cov_sign(int a)
{
	if (a > 0)
		return 1; /* sign: positive */
	if (a < 0)
		return -1; /* sign: negative */
	return 0; /* sign: zero */
}

NOIPA static int cov_loop(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		if (i % 3 == 0)
			sum += cov_sign(i + 1); /* loop: third */
		sum++; /* loop: body */
	}
	return sum;
}

NOIPA static int cov_always(int n)
{
	int odd = 0;

	for (int i = 0; i < n; i++) {
		if (n) /* always: so */
			odd += i & 1;
		sink = i;
	}
	return odd;
}

NOIPA static void cov_never(void)
{
	sink = 1; /* never */
}

NOIPA static void cov_end(const char *how)
{
	if (!strcmp(how, "abort"))
		abort(); /* end: abort */
	if (!strcmp(how, "_exit"))
		_exit(7); /* end: _exit */
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL); /* end: kill */
	if (!strcmp(how, "crash"))
		*(volatile int *)(uintptr_t)sink = 1; /* end: crash */
	sink = 2; /* end: here */
}

NOIPA static int cov_child(const char *how)
{
	int status = 0;
	pid_t pid = !strcmp(how, "vfork") ? vfork() : fork();

	if (!pid)
		_exit(cov_sign(-5) == -1 ? 0 : 1); /* child */
	waitpid(pid, &status, 0);
	return status;
}

static void *many_loops(void *arg)
{
	for (int i = 0; i < 50; i++)
		cov_loop(10);
	return arg;
}

static void threads(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, many_loops, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static int spin(const char *path)
{
	struct board *b = open_board(path);

	while (!b->stop) {
		b->wrong += cov_loop(10) != 14 || cov_always(4) != 2;
		b->rounds++;
	}
	b->ended = 1;
	return 0;
}

/* A symbol that points into the middle of an instruction. */
#ifdef __x86_64__
int over_real(void);
__asm__(".type over_real,@function; .type over_false,@function\n"
	"over_real: .byte 0xb8\n" /* mov $0x007401a8,%eax */
	"over_false: .byte 0xa8,0x01,0x74,0x00\n" /* test $1,%al; je .+2 */
	"ret; .size over_real, .-over_real; .size over_false, .-over_false");
#define OVER_REAL 0x007401a8
#endif

/* Executes itself so many times more. */
static void go_on(int times)
{
	char left[16];
	char *again[] = { (char[]){ "self" }, left, NULL };

	snprintf(left, sizeof(left), "%d", times - 1);
	if (times > 1)
		execv("/proc/self/exe", again);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char *again[] = { (char[]){ "self" }, (char[]){ "never" }, NULL };

	if (how[0] == '/')
		return spin(how);
#ifdef __x86_64__
	if (!strcmp(how, "over"))
		return over_real() == OVER_REAL && over_real() == OVER_REAL ? 0 : 1;
#endif
	sink = cov_loop(10);
	sink = cov_always(2000);
	sink = 0;
	if (strstr(how, "fork"))
		return cov_child(how);
	if (!strcmp(how, "never"))
		cov_never();
	if (!strcmp(how, "exec"))
		execv("/proc/self/exe", again);
	go_on(atoi(how));
	if (!strcmp(how, "threads"))
		threads();
	cov_end(how);
	return 0;
}
