/* SPDX-License-Identifier: MIT
 *
 * Language-specific data areas. The input is memory at FUZZ_BASE, that of the first
 * function at its begin, as .gcc_except_table has it; calls that return to many
 * addresses are looked up, of a function at START, then all landing pads, among
 * which are those of the calls.
 */
#include <stdlib.h>

#include "fuzz_memory.h"
#include "unwind/lsda.h"

#define START UINT64_C(0x8000)
#define CALLS 40
#define APART 7

#define BUDGET 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct pads {
	uint64_t sought, count;
	bool found;
};

static bool look(void *ctx, const struct cp_lsda_landing *landing)
{
	struct pads *p = ctx;

	p->found |= landing->pad == p->sought;
	p->count++;
	return true;
}

static struct pads seek(const struct cp_reader *reader, uint64_t pad)
{
	struct pads p = { .sought = pad };
	uint64_t budget = BUDGET;

	/* Three numbers of a byte at least, and the action. */
	if (!cp_lsda_pads(reader, FUZZ_BASE, START, &budget, look, &p) ||
	    p.count > (BUDGET - budget) / 4)
		abort();
	p.found |= budget == BUDGET; /* too large */
	return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_memory memory = { data, size };
	const struct cp_reader reader = { fuzz_memory_read, &memory };
	struct cp_lsda_site site;
	unsigned i;

	for (i = 0; i < CALLS; i++) {
		bool found = cp_lsda_find(&reader, FUZZ_BASE, START, START + 1 + i * APART, &site);

		if (site.count > CP_LSDA_ACTIONS || (!found && (site.count || site.catches_all)) ||
		    (site.catches_all && site.filters[0] <= 0) ||
		    (found && site.landing_pad && !seek(&reader, site.landing_pad).found))
			abort();
	}
	seek(&reader, 0);
	return 0;
}
