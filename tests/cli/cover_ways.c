/* SPDX-License-Identifier: MIT
 *
 * Blocks that have no room for a jump, to which one way of a conditional jump leads.
 *   cover_ways N work        functions as compilers make them, N calls
 *   cover_ways N fault       what has no room fails once in N rounds
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Blocks of four bytes: no hop finds a place there either. */
#define DENSE ".rept 40\n test %%al, %%al\n jz 1f\n 1:\n .endr\n"

static char *page;
static volatile int faults;

static void on_fault(int signal)
{
	(void)signal;
	faults++;
	mprotect(page, 4096, PROT_READ);
}

__attribute__((noipa)) static int passed(int n)
{
	asm goto(DENSE "testl $1, %0\n jz %l1" ::"D"(n) : "cc", "eax" : even);
	asm volatile("incl %%eax" ::: "eax", "cc"); /* odd */
even:
	asm volatile(DENSE ::: "cc");
	return n; /* passed */
}

__attribute__((noipa)) static int read_from(const char *p, int n)
{
	asm goto(DENSE "testl $1, %0\n jz %l1" ::"S"(n) : "cc", "eax" : even);
	asm volatile("movb (%0), %%al" ::"D"(p) : "al"); /* read */
even:
	asm volatile(DENSE ::: "cc");
	return n; /* after */
}

__attribute__((noipa)) static int nothing(int n)
{
	return n;
}

#define WORK(n) \
	static long work##n(long a, long b) \
	{ \
		long sum = 0; \
		for (long i = 0; i < a; i++) { \
			if (i & 1 && b > i) \
				sum += i * b; \
			else if (i > 5 || sum & 4) \
				sum ^= i; \
			if (b) \
				sum++; \
			switch (i & 3) { \
			case 0: \
				sum += 3; \
				break; \
			case 1: \
				sum -= 2; \
				break; \
			case 2: \
				if (sum < 0) \
					sum = -sum; \
				break; \
			default: \
				sum *= 5; \
			} \
		} \
		return sum == 42 || b == -1 ? nothing(1) : sum; \
	}
WORK(0);
WORK(1);
WORK(2);
WORK(3);
WORK(4);
WORK(5);
WORK(6);
WORK(7);
static long (*const all[])(long, long) = { work0, work1, work2, work3, work4, work5, work6, work7 };

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, i;
	long sum = 0;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	signal(SIGSEGV, on_fault);
	for (i = 0; i < n && !strcmp(argv[2], "work"); i++)
		sum += all[i % 8](20, i);
	for (i = 0; i < n && !strcmp(argv[2], "fault"); i++)
		sum += passed(i) + read_from(page, i);
	printf("%ld %d\n", sum, faults);
	return 0;
}
