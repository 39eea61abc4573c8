/* SPDX-License-Identifier: MIT
 *
 * Bytes as code: a header of eight says where functions begin, the rest is
 * what they consist of. Whatever it is, sites lie inside of the ranges, at
 * different addresses but for the entry's, and the entry comes first; blocks
 * do not overlap, and a branch ends its block.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe/blocks.h"
#include "probe/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE 0x401000u
#define HEADER 8
#define FUNCTIONS 4
#define PADS 64 /* landing pads, wherever they come to lie */

struct bytes {
	const uint8_t *at;
	size_t size;
};

static size_t read_bytes(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	const struct bytes *b = ctx;

	if (addr < BASE || addr - BASE >= b->size)
		return 0;
	if (size > b->size - (addr - BASE))
		size = b->size - (addr - BASE);
	memcpy(buffer, b->at + (addr - BASE), size);
	return size;
}

static int by_address(const void *a, const void *b)
{
	const struct cp_probe_function *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void check(const struct cp_probe_plan *plan, const struct cp_probe_function *f)
{
	const struct cp_probe_site *s;
	uint64_t last = 0;
	bool inside;
	size_t i;

	if (plan->range_count > CP_PROBE_RANGES || !plan->why_text)
		abort();
	cp_vec_for_each(&plan->sites, s) {
		inside = false;
		for (i = 0; i < plan->range_count; i++)
			inside |= s->address >= plan->ranges[i].start &&
				  s->address + s->size <= plan->ranges[i].end;
		if (!inside || !s->size ||
		    (s == plan->sites.items) != (s->kind == CP_PROBE_SITE_ENTRY))
			abort();
		if (s == plan->sites.items ? s->address != f->address : s->address <= last)
			abort();
		last = s == plan->sites.items ? 0 : s->address;
	}
	if ((plan->why == CP_PROBE_FULL) != (plan->sites.count > 1))
		abort();
}

static void check_blocks(const struct cp_probe_blocks *found, const struct cp_probe_function *f)
{
	const struct cp_probe_block *b;
	const struct cp_probe_branch *j;
	uint64_t last = 0;

	if (found->entry >= found->blocks.count || !found->why_text ||
	    found->blocks.items[found->entry].address != f->address ||
	    found->complete == (found->blocks.items[found->entry].size == 0))
		abort();
	cp_vec_for_each(&found->blocks, b) {
		if (b->address < last || b->insn_size > sizeof(b->code) ||
		    (found->complete && b->insn_size > b->size))
			abort();
		last = b->address + b->size;
	}
	cp_vec_for_each(&found->branches, j) {
		if (j->block >= found->blocks.count ||
		    (j->taken_block != CP_NO_BLOCK && j->taken_block >= found->blocks.count) ||
		    (j->passed_block != CP_NO_BLOCK && j->passed_block >= found->blocks.count))
			abort();
		b = &found->blocks.items[j->block];
		if (j->address + j->size != b->address + b->size)
			abort();
		if (j->taken_block != CP_NO_BLOCK &&
		    found->blocks.items[j->taken_block].address != j->target)
			abort();
	}
}

static void plan_all(const struct cp_arch *arch, const struct cp_reader *memory,
		     const struct cp_probe_functions *all)
{
	struct cp_decoder *decoder = cp_decoder_create(arch);
	struct cp_probe_plan plan = { 0 };
	struct cp_probe_blocks blocks = { 0 };
	struct cp_code code = { 0 };
	size_t i;

	for (i = 0; decoder && i < 2 * all->count; i++) {
		struct cp_probe_function *f = &all->items[i / 2];

		if (cp_probe_plan_function(decoder, memory, i & 1 ? all : NULL, f, &plan))
			abort();
		check(&plan, f);
		if (cp_probe_blocks_find(&code, decoder, memory, i & 1 ? all : NULL, f, &blocks))
			abort();
		check_blocks(&blocks, f);
	}
	cp_probe_plan_free(&plan);
	cp_probe_blocks_free(&blocks);
	cp_code_free(&code);
	cp_decoder_destroy(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cp_probe_function items[FUNCTIONS] = { 0 };
	uint64_t pads[PADS];
	struct cp_probe_functions all = {
		.items = items, .count = FUNCTIONS, .pads = pads, .pad_count = PADS
	};
	struct bytes bytes = { data + HEADER, size - HEADER };
	struct cp_reader memory = { read_bytes, &bytes };
	size_t i;

	if (size <= HEADER)
		return 0;
	for (i = 0; i < FUNCTIONS; i++) {
		items[i].linkage_name = "f";
		items[i].address = BASE + data[i];
		items[i].size = (uint64_t)data[FUNCTIONS + i] * 4 + 1;
		items[i].ranges[0] = (struct cp_probe_range){ items[i].address,
							      items[i].address + items[i].size };
		items[i].range_count = 1;
	}
	for (i = 0; i < PADS; i++)
		pads[i] = BASE + 5 * i;
	qsort(items, FUNCTIONS, sizeof(*items), by_address);
	plan_all(&cp_arch_x86_64, &memory, &all);
	plan_all(&cp_arch_aarch64, &memory, &all);
	return 0;
}
