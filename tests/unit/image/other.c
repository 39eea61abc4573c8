/* SPDX-License-Identifier: MIT
 *
 * The second unit of the programs that judge src/image; PLT entries too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int hidden(const char *text)
{
	return (int)strlen(text) + (int)strtol(text, NULL, 10);
}

static inline __attribute__((always_inline)) int inner(int n)
{
	return n ^ (n << 3);
}

static inline __attribute__((always_inline)) int twice(int n)
{
	return inner(n) + inner(n + 1);
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int other_file(int n);
int other_alias(int n) __attribute__((alias("other_file")));
int __other_alias(int n) __attribute__((weak, alias("other_file")));
int other_alias(int n);
int __other_alias(int n);

int other_file(int n)
{
	int table[64], i;
	char text[32];

	for (i = 0; i < 64; i++)
		table[i] = twice(n + i) % 100;
	qsort(table, 64, sizeof(table[0]), compare);
	snprintf(text, sizeof(text), "%d", table[32]);
	return hidden(text) + (int)sqrt((double)n);
}
