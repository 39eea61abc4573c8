#ifndef UTIL_H
#define UTIL_H

static inline int twice(int n)
{
	return 2 * n;
}

static inline int half(int n)
{
	if (n < 0)
		return -half(-n);
	return n / 2;
}

void report(int sum);

#endif
