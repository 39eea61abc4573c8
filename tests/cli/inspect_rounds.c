/* SPDX-License-Identifier: MIT
 *
 * A frame that comes, changes and goes, a step for each line of its standard input; for tests
 * of `cprof inspect --watch --frame`. "x" ends it.
 */
#include <stdio.h>

static char line[16];

static int step(void)
{
	return fgets(line, sizeof(line), stdin) && *line != 'x';
}

__attribute__((noinline)) static int serve(int steps)
{
	int done = 0, more = 1;

	while (done < steps && more) {
		__asm__ volatile("" : "+m"(done));
		more = step();
		done++;
	}
	return more;
}

__attribute__((noinline)) static int rest(void)
{
	return step();
}

int main(void)
{
	int round;

	puts("ready");
	fflush(stdout);
	for (round = 0; serve(2) && rest(); round++)
		;
	return 0;
}
