/* SPDX-License-Identifier: MIT
 *
 * What dlopen_loop loads.
 */
#include <stdint.h>

uint32_t plugin_work(uint32_t x, long n);

static int constructed;

__attribute__((constructor)) static void begin(void)
{
	constructed = 1;
}

__attribute__((noinline)) uint32_t plugin_work(uint32_t x, long n)
{
	for (long i = 0; i < n; i++)
		x = x * 1664525 + 1013904223 + (uint32_t)constructed;
	return x;
}
