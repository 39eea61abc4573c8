/* SPDX-License-Identifier: MIT
 *
 * A small program to make broken copies of.
 */
#include <stdio.h>
#include <stdlib.h>

static inline __attribute__((always_inline)) int inner(int n)
{
	return n * 3 + atoi("4");
}

static inline __attribute__((always_inline)) int middle(int n)
{
	if (n > 3) {
		int twice = inner(n) * 2;
		return twice + inner(twice);
	}
	return inner(n);
}

__attribute__((noinline)) static int rare(int n)
{
	puts("rare");
	return middle(n);
}

int main(int argc, char **argv)
{
	return argv[0] ? middle(argc) : rare(argc);
}
