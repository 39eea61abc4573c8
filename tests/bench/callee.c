/* SPDX-License-Identifier: MIT
 *
 * Calls one small function again and again:   callee [THREADS [CALLS]]
 * Prints the nanoseconds that a call took, and the sum of the results.
 * With --wait it prints "ready" and begins when a line comes.
 *
 *	callee --six CALLS, callee --text CALLS
 * The same of a function with six arguments, and of one whose argument is a text of 32 bytes.
 *
 *	callee --visit CALLS
 *
 * And of one whose argument leads to a structure of twelve members, two texts among them.
 *
 *	callee --lasts NS CALLS		calls lasts(NS), which takes that long
 * Prints how long these calls took, the median by the program's own clock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long calls = 1000;

long callee(long value);

/* Begins with `push %rbx` and ends with one `ret`. */
__attribute__((noinline)) long callee(long value)
{
	__asm__ volatile("" : "+r"(value) : : "rbx");
	return value + 1;
}

long six(int a, long b, unsigned c, short d, void *e, long f);

__attribute__((noinline)) long six(int a, long b, unsigned c, short d, void *e, long f)
{
	__asm__ volatile("" : "+r"(b) : : "rbx");
	return a + b + c + d + (e != NULL) + f;
}

long text(const char *value);

__attribute__((noinline)) long text(const char *value)
{
	__asm__ volatile("" : "+r"(value) : : "rbx");
	return *value;
}

enum color { RED, GREEN, BLUE };

struct node {
	struct node *next;
	const char *name;
	long value;
	enum color color;
	unsigned flag : 3, other : 5;
	struct {
		int x;
		double y;
	} at;
	int counts[3];
	char label[8];
};

long visit(const struct node *node);

__attribute__((noinline)) long visit(const struct node *node)
{
	__asm__ volatile("" : "+r"(node) : : "rbx");
	return node->value;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double lasts(double ns);

/* Returns how long it took, but for its own beginning and end. */
__attribute__((noinline)) double lasts(double ns)
{
	double start = now(), end;

	do
		end = now();
	while (end < start + ns);
	return end - start;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int last(double ns, long count)
{
	double *took = count > 0 ? calloc((size_t)count, sizeof(*took)) : NULL;

	if (!took)
		return 2;
	for (long i = 0; i < count; i++)
		took[i] = lasts(ns);
	qsort(took, (size_t)count, sizeof(*took), compare);
	printf("%.1f %ld\n", took[count / 2], count);
	free(took);
	return 0;
}

static int with_values(const char *how, long count)
{
	char line[33] = "which is as long as thirty-two.";
	struct node node = { &node, line, 7, GREEN, 1, 2, { 3, 4.5 }, { 5, 6, 7 }, "label" };
	double start = now();
	long sum = 0;

	line[31] = '!';
	for (long i = 0; i < count; i++) {
		line[0] = (char)('A' + (i & 15));
		node.value = i;
		sum += !strcmp(how, "--six")	 ? six((int)i, sum, (unsigned)i, 7, line, i)
		       : !strcmp(how, "--visit") ? visit(&node)
						 : text(line);
	}
	printf("%.1f %ld\n", (now() - start) / (double)count, sum);
	return 0;
}

static void *caller(void *sum)
{
	long value = 0;

	for (long i = 0; i < calls; i++)
		value = callee(value);
	*(long *)sum = value;
	return NULL;
}

int main(int argc, char **argv)
{
	int wait = argc > 1 && !strcmp(argv[1], "--wait");
	long threads = argc > wait + 1 ? atol(argv[wait + 1]) : 1, sums[64], total = 0;
	pthread_t ids[64] = { 0 };
	double start;
	char line[16];

	if (argc == 4 && !strcmp(argv[1], "--lasts"))
		return last(atof(argv[2]), atol(argv[3]));
	if (argc == 3 && !strncmp(argv[1], "--", 2) && !wait)
		return with_values(argv[1], atol(argv[2]));
	calls = argc > wait + 2 ? atol(argv[wait + 2]) : calls;
	if (wait) {
		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 1;
	}
	if (threads < 1 || threads > 64)
		return 2;
	start = now();
	for (long i = 1; i < threads; i++)
		pthread_create(&ids[i], NULL, caller, &sums[i]);
	caller(&sums[0]);
	for (long i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	for (long i = 0; i < threads; i++)
		total += sums[i];
	printf("%.1f %ld\n", (now() - start) / (double)(calls * threads), total);
	return 0;
}
