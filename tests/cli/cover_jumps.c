/* SPDX-License-Identifier: MIT
 *
 * For cover_gcov.bats: lines that longjmp leaves in the middle, and comes to; and all that loops,
 * switches and conditions do on one line, or on several.
 */
/* clang-format off */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static int zero;

__attribute__((noinline)) static int jumper(int n) { if (n % 4 == 3) longjmp(back, 1); return n; }
static int on_a_line(int n) { if (setjmp(back)) return -1; return jumper(n); }

static int in_the_middle(int n)
{
	volatile int r = 0;

	if (setjmp(back))
		return r;
	r += 1; jumper(n); r += 2;
	r += jumper(n + 1) + jumper(n + 2);
	return r;
}

static int retried(int n)
{
	volatile int tries = 0;

	switch (setjmp(back)) {
	case 0: break;
	case 1:
		tries++;
		if (tries > 2)
			return 0;
		break;
	}
	return jumper(n + tries) && jumper(n + 2) ? 1 : 2;
}

static void last(int n)
{
	if (!setjmp(back))
		jumper(n);
}

static int loops(int n)
{
	int sum = 0, i, j;

	for (i = 0; i < n; i++) sum += i & 1 ? 3 : 1;
	for (;;) { if (sum > 10) break; sum += 3; }
	for (;;) if (sum++ > 40) break; else continue;
	while (sum > 0) sum -= 5;
	do sum++; while (sum < 3);
	for (i = 0; i < 3; i++) for (j = 0; j < 3; j++) sum += i * j;
	for (i = 0; i < 9; i++) { if (i == 2) continue; if (i == 5) break; sum++; }
	for (i = 0, j = 9; i < j && j != 3; i++, j--) if (i == 2 || j == 4) sum++; else sum--;
	for (i = 0;
	     i < n;
	     i++)
		sum += i;
	i = 0;
again:
	if (i++ < 4) goto again;
	for (;;) {
		if (i-- < 0)
			break;
	}
	return sum;
}

static int switches(int n)
{
	switch (n % 6) { case 0: return 1; case 1: n++; case 2: n--; break; default: n += 2; }
	switch (n % 9) {
	case 0: case 1:
		n = abs(n);
	case 2: abs(n); break;
	case 3: return abs(n + 1) ? 3 : 4;
	case 4: puts(""); return 4;
	case 5:
	case 6: n += 2;
	case 7: if (n == 3) break; n++; break;
	default: break;
	}
	switch (n) { case 100: n = 1; break; case 2000: n = 2; break; case 7: n = 3; }
	switch (n & 7) { case 0: n++; break; case 1: n += 2; break; case 2: n += 3; break; case 3: n--; break; case 4: n -= 2; break; case 5: n *= 2; break; case 6: n += 7; break; }
	return n > 3 && n < 90 && (abs(n) || n == 7) ? abs(n) : n;
}

static int conditions(int a, int b)
{
	int x = a ? b ? 1 : 2 : b ? 3 : 4;
	int y = (a && b) || (!a && !b);

	return x + y +
	       (a && b);
}

static void early(int n)
{
	if (n > 5)
		return;
	abs(n);
}

static void early_brace(int n)
{
	if (n > 5) { abs(n); return; }
	while (n--) abs(n); }

static int early_value(int n)
{
	if (n > 5) { return 3; }
	while (n--) abs(n); return 4; }

static int looks(int n)
{
	int bits = 0, hold = n;

	switch (n % 3) {
	case 0:
		do { while (bits < 3) do { if (hold < -7) goto out; bits++; hold += bits; } while (0); } while (0);
		break;
	case 1:
		for (;;) {
			hold = bits + n;
			if (hold > n + 3)
				break;
			do { if (n == -1) goto out; bits++; } while (0);
		}
		break;
	}
out:
	return hold;
}

#define CASES(n) case 'x': if (n > 9) { n = 0; return 1; } /* fall through */ \
		case 'a': case 'b': n += 1; break; \
		case 'y': if (n > 8) { n = 0; return 2; } n += 2; break;

static int scans(const char *text)
{
	int n = 0;

	while (*text) {
		switch (*text++) {
		CASES(n)
		case 'c': n++; break;
		}
	}
	return n;
}

static void ends_on_brace(int n)
{
	if (n & 1) {
		abs(n);
	} else {
		if (n > 7)
			abs(n + 1);
	}
}

static void quits(int n) { if (n == zero + 199) exit(0); }

int main(void)
{
	int i, sum = 0;

	for (i = 0; i < 200; i++) sum += on_a_line(i), sum += in_the_middle(i);
	for (i = 0; i < 200; i++) { sum += retried(i); last(i); }
	for (i = 0; i < 200; i++)
		ends_on_brace(i), sum += scans(i ? "abca" : "c") + looks(i) + loops(i) + switches(i) + conditions(i % 3, i % 2), early(i), early_brace(i), early_value(i);
	zero = sum == 42;
	for (i = 0; i < 1000; i++)
		quits(i);
}
