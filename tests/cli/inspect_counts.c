/* SPDX-License-Identifier: MIT
 *
 * Counts by tens, a line of its standard input each; for tests of `cprof inspect --watch`.
 * "x" ends it.
 */
#include <stdio.h>

int counter, steady = 5;
char name[32] = "after 0";

int main(void)
{
	char line[16];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && *line != 'x') {
		counter += 10;
		snprintf(name, sizeof(name), "after %d", counter);
	}
	return 0;
}
