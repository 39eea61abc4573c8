/* SPDX-License-Identifier: MIT
 *
 * Functions that nobody else can call: compilers change how they are called,
 * drop arguments that are not needed or always the same, split structs up. An
 * argument may be said to be optimised out, never to be something else.
 */
#include <stdio.h>

#define LOCAL static __attribute__((noinline))

struct pair {
	long a, b;
};

static volatile int sink;
static volatile int five = 5;

#define SAY(...) \
	do { \
		printf(__VA_ARGS__); \
		fflush(stdout); \
	} while (0)

LOCAL int t_dead(int a, int unused, int c)
{
	(void)unused;
	sink = a;
	return a + c;
}

LOCAL int t_dead_first(const char *unused, int b, double d, double dead, double e)
{
	(void)unused;
	(void)dead;
	sink = b;
	return (int)(d * e) + b;
}

LOCAL int t_constant(int a, int always)
{
	sink = a;
	return a * always;
}

/* The same at first. */
LOCAL long t_changed(int a, int n, unsigned long rest)
{
	int i;

	for (i = 0; i < n; i++) {
		sink = a;
		rest &= ~(2ul << i);
	}
	return (long)(rest & 255);
}

LOCAL long t_pair(const struct pair *p, int n)
{
	sink = n;
	return p->a + n;
}

LOCAL long t_by_value(struct pair p, int n)
{
	sink = n;
	return p.b + n;
}

LOCAL void t_nothing(int a, const char *s)
{
	(void)a;
	(void)s;
	sink = 1;
}

LOCAL float t_many(int a, int b, int c, int d, int e, int f, int g, int h, float x)
{
	sink = a + c + e + g;
	(void)b;
	(void)d;
	(void)f;
	return x + (float)h;
}

LOCAL __int128 t_wide(int dead, __int128 w, int n)
{
	(void)dead;
	sink = n;
	return w + n;
}

int main(void)
{
	struct pair p = { five, five + 1 };

	SAY("t_dead(5, 6, 7) = 12\n");
	sink = t_dead(five, five + 1, five + 2);
	SAY("t_dead_first(\"gone\", 5, 1.5, 9, 2) = 8\n");
	sink = t_dead_first("gone", five, 1.5 * five / 5, 9, 2);
	SAY("t_constant(5, 42) = 210\n");
	sink = t_constant(five, 42);
	SAY("t_constant(6, 42) = 252\n");
	sink = t_constant(five + 1, 42);
	SAY("t_changed(5, 3, 18446744073709551615) = 241\n");
	sink = (int)t_changed(five, five - 2, ~0ul);
	SAY("t_changed(6, 2, 18446744073709551615) = 249\n");
	sink = (int)t_changed(five + 1, five - 3, ~0ul);
	SAY("t_pair(&{a=5, b=6}, 5) = 10\n");
	sink = (int)t_pair(&p, five);
	SAY("t_by_value({a=5, b=6}, 5) = 11\n");
	sink = (int)t_by_value(p, five);
	SAY("t_nothing(5, \"text\")\n");
	t_nothing(five, "text");
	SAY("t_many(1, 2, 3, 4, 5, 6, 7, 8, 0.5) = 8.5\n");
	sink = (int)t_many(five - 4, 2, 3, 4, five, 6, 7, five + 3, 0.5f);
	SAY("t_wide(1, 1, 5) = 6\n");
	sink = (int)t_wide(1, five / 5, five);
	return 0;
}
