#include "util.h"
#include <stdlib.h>

static int check(int n)
{
	if (n > 3)
		return 1;
	if (n < 0 || n == 2)
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < argc; i++)
		sum += check(i) + twice(i);
	if (sum > 100) { /* LCOV_EXCL_START */
		abort();
	} /* LCOV_EXCL_STOP */
	if (sum > 10) /* LCOV_EXCL_BR_LINE */
		report(sum);
	return sum;
}

static int gone(void)
{
	return 7;
}

void never(int a)
{
	while (a)
		a = a & (a - 1);
}
