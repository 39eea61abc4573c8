/* SPDX-License-Identifier: MIT
 *
 * A function that can't be decoded to its end: a computed jump over bytes that
 * are no instructions. What it returns to tells that it was left.
 */
#include "tracee.h"

long odd(long n);

__asm__(".text\n"
	".globl odd\n"
	".type odd,@function\n"
	"odd:	lea 1f(%rip), %rax\n"
	"	jmp *%rax\n"
	"	.byte 0x06, 0x0e, 0x16, 0x1e\n"
	"1:	lea 1(%rdi,%rdi), %rax\n"
	"	ret\n"
	".size odd, . - odd\n");

NOIPA long twice(long n);
NOIPA long twice(long n)
{
	return odd(n) + odd(n + 1);
}

/* `odd` returns to its caller's `ret`, where another breakpoint is. */
NOIPA long last(long n);
NOIPA long last(long n)
{
	__asm__ volatile("" ::: "memory");
	n = odd(n);
	__asm__ volatile("" : "+r"(n));
	return n;
}

int main(int argc, char **argv)
{
	long sum = 0;

	tracee_begin("by_return", argc, argv, (struct tracee_options){ .rounds = 1 });
	while (tracee_more())
		for (long i = 0; i < 100; i++)
			sum += twice(i) + last(i);
	CHECK(sum == 30200, "sum %ld", sum);
	return tracee_ok("300 calls");
}
