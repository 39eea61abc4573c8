/* SPDX-License-Identifier: MIT
 *
 * Allocates, each function from one place, and says what keptprobe counts. */
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;

__attribute__((noipa)) void kept_one(size_t size)
{
	kept = malloc(size);
}

__attribute__((noipa)) void kept_two(size_t size)
{
	kept = malloc(size);
}

int main(void)
{
	size_t i, sum = 0;

	for (i = 0; i <= 100; i++) {
		kept_one(1000 + 10 * i);
		sum += 1000 + 10 * i;
	}
	for (volatile int rounds = 0; rounds < 3; rounds++) /* one call of it */
		kept_two(100000);
	printf("kept_one: 101 of %zu bytes, 1000 to 2000, middle about %d\n", sum, 1400);
	puts("kept_two: 3 of 300000 bytes, 100000 to 100000, middle about 100000");
	printf("kept_two: 300000 in all\nkept_one: %zu in all\n1 1 1\n", sum);
	return 0;
}
