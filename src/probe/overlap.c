/* SPDX-License-Identifier: MIT
 *
 * Functions that lie on top of each other. Symbols may be wrong: one that points
 * into the middle of an instruction decodes to something else, and a breakpoint
 * there would change that instruction.
 *
 *     f:  mov $0x12345678,%eax │ ret
 *     g:        ▲ js ... │ ...           where f's code is, g's sites have to
 *                                        begin instructions of f, too
 */
#include "probe/overlap.h"

#include <stdlib.h>

/* Functions that one is compared with; on top of more, it gets no sites. */
#define MOST 16

struct cp_probe_overlaps {
	const struct cp_probe_functions *functions;
	struct cp_code code; /* of the other one */
	struct cp_probe_blocks blocks; /* the same */
	uint64_t ends[]; /* of each function: where it and all before it end */
};

struct cp_probe_overlaps *cp_probe_overlaps_create(const struct cp_probe_functions *functions)
{
	struct cp_probe_overlaps *o = calloc(1, sizeof(*o) + functions->count * sizeof(o->ends[0]));
	uint64_t end = 0;
	size_t i;

	if (!o)
		return NULL;
	o->functions = functions;
	for (i = 0; i < functions->count; i++) {
		const struct cp_probe_range *r = &functions->items[i].ranges[0];

		end = r->end > end ? r->end : end;
		o->ends[i] = end;
	}
	return o;
}

void cp_probe_overlaps_destroy(struct cp_probe_overlaps *o)
{
	if (!o)
		return;
	cp_code_free(&o->code);
	cp_probe_blocks_free(&o->blocks);
	free(o);
}

/* The number of functions that begin below `address`. */
static size_t count_below(const struct cp_probe_functions *functions, uint64_t address)
{
	size_t low = 0, high = functions->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (functions->items[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Is `address` in the middle of an instruction? */
static bool in_the_middle(const struct cp_code *code, uint64_t address)
{
	size_t offset, back;
	uint32_t number;

	if (!cp_code_offset(code, address, &offset))
		return false;
	for (back = 1; back < 16 && back <= offset; back++) {
		number = code->starts.items[offset - back];
		if (number && code->marks.items[number - 1] & CP_CODE_REACHED &&
		    code->insns.items[number - 1].pc == address - back &&
		    code->insns.items[number - 1].size > back)
			return true;
	}
	return false;
}

static bool in_ranges(const struct cp_probe_function *f, uint64_t address)
{
	return address >= f->ranges[0].start && address < f->ranges[0].end;
}

/* `code` NULL: nothing is known of the other function's instructions. */
static void drop(struct cp_probe_blocks *found, const struct cp_probe_function *other,
		 const struct cp_code *code)
{
	struct cp_probe_branch *branch;
	struct cp_probe_block *block;

	cp_vec_for_each(&found->blocks, block)
		if (in_ranges(other, block->address) &&
		    (!code || in_the_middle(code, block->address)))
			block->insn_size = 0;
	cp_vec_for_each(&found->branches, branch)
		if (in_ranges(other, branch->address) &&
		    (!code || in_the_middle(code, branch->address)))
			branch->size = 0;
}

static CP_ERROR compare(struct cp_probe_overlaps *o, struct cp_decoder *decoder,
			const struct cp_reader *memory, const struct cp_probe_function *other,
			struct cp_probe_blocks *found)
{
	CP_TRY(cp_probe_blocks_find(&o->code, decoder, memory, o->functions, other, &o->blocks));
	drop(found, other, o->blocks.complete ? &o->code : NULL);
	return NULL;
}

CP_ERROR cp_probe_overlaps_check(struct cp_probe_overlaps *o, const struct cp_code *code,
				 struct cp_decoder *decoder, const struct cp_reader *memory,
				 const struct cp_probe_function *function,
				 struct cp_probe_blocks *found)
{
	unsigned compared = 0;
	size_t i, k;

	for (i = 0; i < code->range_count; i++) {
		for (k = count_below(o->functions, code->ranges[i].end);
		     k && o->ends[k - 1] > code->ranges[i].start; k--) {
			const struct cp_probe_function *other = &o->functions->items[k - 1];

			if (other == function || other->ranges[0].end <= code->ranges[i].start ||
			    other->kind == CP_PROBE_PLT)
				continue;
			if (++compared > MOST)
				drop(found, other, NULL);
			else
				CP_TRY(compare(o, decoder, memory, other, found));
		}
	}
	return NULL;
}
