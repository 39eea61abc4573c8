/* SPDX-License-Identifier: MIT
 *
 * Locals, as they are when the function returns. One may be said to be
 * optimised out, never to be something else.
 */
#include <stdio.h>

#define API __attribute__((noinline, used))
#define SAY(...) \
	do { \
		printf(__VA_ARGS__); \
		fflush(stdout); \
	} while (0)

struct point {
	int x, y;
};

static volatile int five = 5;
static volatile long result;

API int t_sum(int n)
{
	int i, last = -1, sum = 0;

	for (i = 0; i < n; i++) {
		sum += i;
		last = i;
	}
	SAY("t_sum(%d) = %d | i=%d, last=%d, sum=%d\n", n, sum + last, i, last, sum);
	return sum + last;
}

API double t_mixed(const char *s, double d)
{
	struct point p = { five, five + 1 };
	const char *copy = s + 1;
	double twice = d * 2;
	char text[8] = "local";
	long many[4] = { 1, 2, 3, five };

	SAY("t_mixed(\"%s\", %g) = %g | copy=\"%s\", many={1, 2, 3, 5}, p={x=5, y=6}, "
	    "text=\"local\", twice=%g\n",
	    s, d, twice, copy, twice);
	__asm__ volatile("" : : "r"(text), "r"(&p), "r"(many) : "memory");
	return twice;
}

API void t_pointer(struct point *p)
{
	struct point *same = p;

	SAY("t_pointer(&{x=%d, y=%d}) | same=&{x=%d, y=9}\n", p->x, p->y, p->x);
	same->y = 9;
	__asm__ volatile("" : : "r"(same) : "memory");
}

/* Of registers, but in none: what is left of them is a sum, a difference, a
 * comparison, a part. */
API long t_computed(int a, int b, long wide)
{
	int sum = a + b, difference = a - b, four = a * 4, more = a > b, seven = a == 7;
	long word = a;
	unsigned part = (unsigned)wide;
	int less = -a, other = ~a;

	five = (int)wide;
	return wide + b;
}

int main(void)
{
	struct point p = { 1, 2 };

	t_sum(five);
	t_sum(0);
	t_mixed("text", 1.25);
	t_pointer(&p);
	for (five = 5; five < 8;) {
		int a = five, b = 3;
		long wide = 0x1234500000000 + a + 1;

		SAY("t_computed(%d, %d, %ld) = %ld | difference=%d, four=%d, less=%d, more=%d, "
		    "other=%d, part=%u, seven=%d, sum=%d, word=%d\n",
		    a, b, wide, wide + b, a - b, a * 4, -a, a > b, ~a, (unsigned)wide, a == 7,
		    a + b, a);
		result = t_computed(a, b, wide);
	}
	return 0;
}
