/* SPDX-License-Identifier: MIT
 *
 * Language-specific data areas. The input is memory at FUZZ_BASE, that of the first
 * function at its begin, as .gcc_except_table has it; calls that return to many
 * addresses are looked up, of a function at START.
 */
#include <stdlib.h>

#include "fuzz_memory.h"
#include "unwind/lsda.h"

#define START UINT64_C(0x8000)
#define CALLS 40
#define APART 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_memory memory = { data, size };
	const struct cp_reader reader = { fuzz_memory_read, &memory };
	struct cp_lsda_site site;
	unsigned i;

	for (i = 0; i < CALLS; i++) {
		bool found = cp_lsda_find(&reader, FUZZ_BASE, START, START + 1 + i * APART, &site);

		if (site.count > CP_LSDA_ACTIONS || (!found && (site.count || site.catches_all)) ||
		    (site.catches_all && site.filters[0] <= 0))
			abort();
	}
	return 0;
}
