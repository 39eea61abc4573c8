/* SPDX-License-Identifier: MIT
 *
 * Work for the single-step oracle: what functions do to stacks. Built many
 * ways: with and without optimisation, frame pointers, CFI, its index, libc
 * as a shared library.
 */
#include "test_unwind_tracee.h"

#include <alloca.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

ORACLE_ENTRY;

#if __has_attribute(noclone) /* gcc */
#if __has_attribute(noclone) /* not clang's */
#define NOINLINE __attribute__((noinline, noclone))
#else
#define NOINLINE __attribute__((noinline))
#endif
#else
#define NOINLINE __attribute__((noinline))
#endif

static volatile int sink;
static FILE *null_file;
static jmp_buf place;

static void on_signal(int number)
{
	char text[32];

	memset(text, number, sizeof(text));
	sink += text[number & 31];
}

NOINLINE static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* Enough values alive to need every callee-saved register. */
NOINLINE static long crowded(long a, long b, long c, long d, long e, long f)
{
	long g = a * b, h = c * d, i = e * f, j = a ^ f;

	sink += fib(3);
	g += h * sink;
	sink += fib(2);
	return a + b + c + d + e + f + g + h + i + j;
}

/* A frame whose size only run time knows. */
NOINLINE static int dynamic(int n)
{
	char *room = alloca((size_t)n * 3 + 1);

	memset(room, n, (size_t)n * 3);
	sink += fib(2);
	return room[n];
}

/* An aligned frame: the CFA becomes an expression. */
NOINLINE static double aligned(double x)
{
	double v[8] __attribute__((aligned(64)));
	int i;

	for (i = 0; i < 8; i++)
		v[i] = x * i;
	sink += fib(2);
	return v[sink & 7];
}

NOINLINE static int tail(int n)
{
	sink += n;
	return fib(n & 3);
}

NOINLINE static int tail_caller(int n)
{
	sink++;
	return tail(n + 1);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void sort(void)
{
	int v[7] = { 5, 2, 9, 1, 7, 3, 8 };

	qsort(v, 7, sizeof(v[0]), compare);
	sink += v[0];
}

NOINLINE static void jump_back(int n)
{
	char pad[40];

	memset(pad, n, sizeof(pad));
	sink += pad[7];
	if (n == 0)
		longjmp(place, 1);
	if (n > 0)
		jump_back(n - 1);
	sink++;
}

NOINLINE static void jump(void)
{
	if (!setjmp(place))
		jump_back(3);
	sink++;
}

NOINLINE static void memory(void)
{
	char *p = malloc(100), *q;

	p[0] = 1;
	q = realloc(p, 5000);
	free(q);
	q = strdup("some words to look at");
	sink += (int)strlen(q) + (strchr(q, 'w') != NULL);
	free(q);
}

NOINLINE static void times(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	sink += (int)ts.tv_nsec + (int)time(NULL);
}

NOINLINE static void print(void)
{
	fprintf(null_file, "%d %s %.3f %lx\n", sink, "text", sin(sink), 77L);
	fflush(null_file);
}

NOINLINE static void calls(void)
{
	char byte[16] = { 0 };
	int ends[2];

	if (pipe(ends) == 0) {
		sink += (int)write(ends[1], byte, sizeof(byte));
		sink += (int)read(ends[0], byte, sizeof(byte));
		close(ends[0]);
		close(ends[1]);
	}
}

void oracle_work(struct oracle_info *info)
{
	int (*volatile indirect)(int) = tail_caller;
	uint64_t i;

	for (i = 0; i < info->rounds; i++) {
		sink += (int)crowded(1, 2, 3, 4, 5, 6);
		sink += dynamic(20) + (int)aligned(1.5) + indirect(5);
		sort();
		jump();
		memory();
		times();
		print();
		calls();
	}
}

static void handle(int number, int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags | SA_RESTART };

	sigfillset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

static void on_alt_signal(int number)
{
	sink += fib(number & 3);
	on_signal(number);
}

int main(int argc, char **argv)
{
	struct oracle_info info = {
		.handler = (uintptr_t)on_signal,
		.alt_handler = (uintptr_t)on_alt_signal,
		.rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1,
	};
	struct sigaction alt = { .sa_handler = on_alt_signal, .sa_flags = SA_ONSTACK | SA_RESTART };
	stack_t stack = { .ss_size = 65536 };

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	sigaltstack(&stack, NULL);
	sigfillset(&alt.sa_mask);
	sigaction(SIGUSR2, &alt, NULL);
	handle(SIGUSR1, 0);
	null_file = fopen("/dev/null", "w");
	if (!null_file)
		return 2;
	/* What the dynamic linker does at first calls is long, and all alike. */
	if (argc > 2 && !strcmp(argv[2], "warm"))
		oracle_work(&(struct oracle_info){ .rounds = 1 });
	oracle_entry(&info);
	return 0;
}
