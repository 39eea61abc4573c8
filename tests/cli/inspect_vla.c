/* SPDX-License-Identifier: MIT
 *
 * Arrays whose sizes a frame tells, for tests of `cprof inspect --frame`. Says "ready", and
 * waits.
 */
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) int work(int n, int m, int given[n][m])
{
	int row[n], grid[n][m], i, k;
	int(*last)[m] = &grid[n - 1];
	char text[m + 3];
	double later[2][n];
	struct {
		int a;
	} things[n];
	char c;

	for (i = 0; i < n; i++) {
		row[i] = i * 10;
		things[i].a = i;
		for (k = 0; k < m; k++)
			grid[i][k] = i * 100 + k;
		later[0][i] = i + .5;
		later[1][i] = -i;
	}
	snprintf(text, sizeof(text), "ab%d", n);
	__asm__ volatile(""
			 :
			 : "r"(row), "r"(text), "r"(grid), "r"(later), "r"(things), "r"(last)
			 : "memory");
	puts("ready");
	fflush(stdout);
	if (read(0, &c, 1) < 0)
		return 0;
	__asm__ volatile(""
			 :
			 : "r"(row), "r"(text), "r"(grid), "r"(later), "r"(things), "r"(last)
			 : "memory");
	return given[1][1] + row[1];
}

int main(int argc, char **argv)
{
	int numbers[3][2] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };

	(void)argv;
	return work(argc + 2, argc + 1, numbers);
}
