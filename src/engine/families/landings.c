/* SPDX-License-Identifier: MIT
 *
 * Where exceptions lead from covered blocks, for those who count how often a line was
 * begun: what a call that throws goes on to is begun no second time by that.
 *
 *     block of f ── its last instruction ──► call site ──► landing pad ── block of f
 */
#include "engine/families/landings.h"

#include <stdlib.h>

#include "arch/arch.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "engine/families/coverage.h"
#include "engine/target/state.h"
#include "image/image.h"
#include "probe/functions.h"
#include "unwind/pads.h"

struct landings {
	struct cp_lsda_landing *items; /* by `from` */
	size_t count;
};

/* Where who leaves the instruction that ends before `end` by an exception comes to; 0:
 * nowhere. */
static uint64_t pad_of(const struct landings *all, uint64_t end)
{
	size_t n = cp_vec_partition(all, it, it->from < end);

	return n && end - 1 - all->items[n - 1].from < all->items[n - 1].size
		       ? all->items[n - 1].pad
		       : 0;
}

/* 1 + the number of the function's block at `address`, 0: none. */
static uint32_t number_at(const struct engine_cover *cover, const struct engine_covered *f,
			  uint64_t address)
{
	uint32_t low = f->first_block, end = low + f->block_count, high = end, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (cover->blocks.items[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end && cover->blocks.items[low].address == address ? low - f->first_block + 1
									: 0;
}

static bool set_all(struct engine_cover *cover, const struct landings *all)
{
	const struct engine_covered *f;
	uint64_t pad;
	uint32_t i;

	if (!cp_vec_reserve(&cover->landings, cover->blocks.count))
		return false;
	cover->landings.count = cover->blocks.count;
	cp_vec_for_each(&cover->functions, f) {
		for (i = f->first_block; i < f->first_block + f->block_count; i++) {
			const struct cp_probe_block *b = &cover->blocks.items[i];

			pad = b->size ? pad_of(all, b->address + b->size) : 0;
			cover->landings.items[i] = pad ? number_at(cover, f, pad) : 0;
		}
	}
	return true;
}

void engine_landings_find(const cprof_assembly *a, struct engine_cover *cover)
{
	struct cp_reader file = cp_probe_file_reader(a->image);
	struct cp_unwind_section frames = { 0 };
	struct landings all = { 0 };

	if (cover->landed)
		return;
	cover->landed = true;
	if (!cp_image_section(a->image, ".eh_frame", &frames.bytes, &frames.size, &frames.addr))
		return;
	cp_error_free(cp_unwind_landings(cp_arch_host(), &frames, &file, &all.items, &all.count));
	if (all.count)
		set_all(cover, &all);
	free(all.items);
}
