/* SPDX-License-Identifier: MIT
 *
 * Language-specific data areas. The input is memory at BASE, that of the first
 * function at its begin, as .gcc_except_table has it; calls that return to many
 * addresses are looked up, of a function at START.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind/lsda.h"

#define BASE UINT64_C(0x10000)
#define START UINT64_C(0x8000)
#define CALLS 40
#define APART 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size;
};

static size_t read_memory(void *ctx, uint64_t address, void *buffer, size_t size)
{
	const struct memory *m = ctx;
	uint64_t at = address - BASE;
	size_t n = at < m->size ? m->size - (size_t)at : 0;

	n = n < size ? n : size;
	if (n)
		memcpy(buffer, m->data + at, n);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory memory = { data, size };
	const struct cp_reader reader = { read_memory, &memory };
	struct cp_lsda_site site;
	unsigned i;

	for (i = 0; i < CALLS; i++) {
		bool found = cp_lsda_find(&reader, BASE, START, START + 1 + i * APART, &site);

		if (site.count > CP_LSDA_ACTIONS || (!found && (site.count || site.catches_all)) ||
		    (site.catches_all && site.filters[0] <= 0))
			abort();
	}
	return 0;
}
