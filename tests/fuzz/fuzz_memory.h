/* SPDX-License-Identifier: MIT
 *
 * For targets whose input is memory of a program, from FUZZ_BASE on.
 */
#ifndef CP_TESTS_FUZZ_MEMORY_H
#define CP_TESTS_FUZZ_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FUZZ_BASE UINT64_C(0x10000)

struct fuzz_memory {
	const uint8_t *data;
	size_t size;
};

/* For a struct cp_reader; `ctx` is a struct fuzz_memory. */
static inline size_t fuzz_memory_read(void *ctx, uint64_t address, void *buffer, size_t size)
{
	const struct fuzz_memory *m = ctx;
	uint64_t at = address - FUZZ_BASE;
	size_t n = at < m->size ? m->size - (size_t)at : 0;

	n = n < size ? n : size;
	if (n)
		memcpy(buffer, m->data + at, n);
	return n;
}

#endif
