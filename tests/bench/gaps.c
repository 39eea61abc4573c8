/* SPDX-License-Identifier: MIT
 *
 * gaps SECONDS: one thread that does nothing but look at the clock, and so
 * sees each time that it was held. Prints every gap of 2 us and more, in ns.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 4000000u
#define GAP_NS 2000u

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	uint32_t *gaps = malloc(MOST * sizeof(*gaps));
	uint64_t last = now(), end = last + (uint64_t)(seconds * 1e9), t;
	size_t count = 0, i;

	if (!gaps)
		return 1;
	for (t = last; t < end; last = t) {
		t = now();
		if (t - last >= GAP_NS && count < MOST)
			gaps[count++] = (uint32_t)(t - last);
	}
	for (i = 0; i < count; i++)
		printf("%u\n", gaps[i]);
	return 0;
}
