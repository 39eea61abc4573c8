/* SPDX-License-Identifier: MIT
 *
 * For cover_gcov.bats: lines that are counted in all sorts of ways. It prints
 * nothing; what it is called with says how it ends.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jmp_buf back;

static int never(int a)
{
	return a + 1;
}

static inline int clamp(int a, int low, int high)
{
	return a < low ? low : a > high ? high : a;
}

static int loops(int n)
{
	int i, sum = 0;

	for (i = 0; i < n; i++)
		sum += i & 1 ? 3 : 1;
	while (sum > 10)
		sum -= 7;
	do {
		sum++;
	} while (sum % 5);
	for (; n; n--)
		sum ^= n;
	return sum;
}

static int choose(int n)
{
	switch (n) {
	case 0:
		return 5;
	case 1:
	case 2:
		n += 2;
		break;
	case 3:
		n++;
		/* fall through */
	case 7:
		n--;
		break;
	default:
		if (n < 0)
			goto out;
		n = n > 100 && n % 2 ? 1 : 2;
	}
	if ((n & 1 || n > 3) && n != 9)
		n *= 2;
out:
	return n;
}

/* Empty but for a break: where that is, others come to at once. */
static int breaks(int n)
{
	int i;

	switch (n) {
	case 1:
		return 10;
	case 2:
		return 20;
	case 3:
		return 30;
	default:
		break;
	}
	for (i = 0; i < n; i++) {
		switch (i & 7) {
		case 0:
			continue;
		case 1:
			n--;
			break;
		case 5:
			break;
		default:
			continue;
		}
	}
	switch (n) {
	case -3:
		break;
	case 6:
		break;
	default:
		break;
	}
	return -1;
}

static void jump(int n)
{
	if (n > 2)
		longjmp(back, n);
	jump(n + 1);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	int list[] = { 3, 1, 2, 9, -4 }, i, total = 0;

	for (i = 0; i < 5; i++)
		total += loops(list[i] > 0 ? list[i] : 0) + choose(list[i]) + clamp(i, 1, 3);
	for (i = -5; i < 40; i++)
		total += breaks(i % 13);
	qsort(list, 5, sizeof(*list), compare);
	if (!setjmp(back))
		jump(0);
	if (argc > 1 && !strcmp(argv[1], "never"))
		total += never(total);
	if (total == 12345)
		abort();
	exit(0);
}
