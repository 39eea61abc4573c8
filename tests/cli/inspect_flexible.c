/* SPDX-License-Identifier: MIT
 *
 * Structures that end with arrays of any length; up to "ready", then until a character comes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flex {
	int n;
	int data[];
};
struct text {
	long n;
	char name[];
};
struct old {
	int n;
	int row[0];
};

struct flex few = { 3, { 1, 2, 3 } };
struct flex many = { 70, { [0] = 1, [69] = 7 } };
struct flex none = { 0 };
struct text greeting = { 5, "hello" };
struct old old = { 9 };
struct flex *dynamic;
struct text *named;

__attribute__((noinline)) int look(struct flex *f)
{
	return f->n;
}

int main(void)
{
	int i;

	dynamic = malloc(sizeof(*dynamic) + 4 * sizeof(int));
	named = malloc(sizeof(*named) + 4);
	dynamic->n = 4;
	for (i = 0; i < 4; i++)
		dynamic->data[i] = i * i;
	named->n = 3;
	strcpy(named->name, "abc");
	look(dynamic);
	puts("ready");
	fflush(stdout);
	getchar();
	return 0;
}
