/* SPDX-License-Identifier: MIT
 *
 * Moves the end of its heap by hand, as some allocators do. It has hundreds of
 * functions, so that breakpoints in all of them need a lot of room near by.
 */
#include "tracee.h"

#define F(n) \
	NOIPA uint32_t f##n(uint32_t x); \
	uint32_t f##n(uint32_t x) \
	{ \
		return tracee_mix(x, 1); \
	}
#define F8(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
#define F64(n) F8(n##0) F8(n##1) F8(n##2) F8(n##3) F8(n##4) F8(n##5) F8(n##6) F8(n##7)
F64(0) F64(1) F64(2) F64(3) F64(4) F64(5) F64(6) F64(7);

/* A breakpoint is in what `text` is. */
NOIPA unsigned char first_of(const char *text);
unsigned char first_of(const char *text)
{
	return (unsigned char)*text;
}

int main(int argc, char **argv)
{
	char *start = sbrk(0);
	long i;

	tracee_begin("heap", argc, argv, (struct tracee_options){ .rounds = 1 });
	while (tracee_more()) {
		CHECK(f000(1) == f777(1), "two that are the same differ");
		CHECK(first_of((const char *)(uintptr_t)f000), "no code");
		for (i = 0; i < 64; i++)
			CHECK(sbrk(1 << 20) == start + (i << 20), "no room after %ld MiB", i);
		TRY(brk(start));
	}
	return tracee_ok("64 MiB");
}
