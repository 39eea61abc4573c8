/* SPDX-License-Identifier: MIT */
#include "inspect/gaps.h"

#include "base/arena.h"

bool cp_gaps_are_all(const struct cp_bytes *bytes, uint64_t size)
{
	const uint64_t from = bytes->within * 8, to = from + size * 8;
	const struct cp_gap *gap = cp_gap_at(bytes->gaps, from, size * 8);
	uint64_t lacking = 0, low, high;

	for (; gap; gap = cp_gap_at(gap->next, from, size * 8)) {
		low = gap->at > from ? gap->at : from;
		high = gap->at + gap->size < to ? gap->at + gap->size : to;
		lacking += high - low;
	}
	return size && lacking >= size * 8;
}

const struct cp_bytes *cp_gap_leads(const struct cp_gap *gaps, uint64_t within, uint64_t size)
{
	const struct cp_gap *gap = cp_gap_at(gaps, within * 8, size * 8);

	return gap && gap->at == within * 8 && gap->size == size * 8 ? gap->leads : NULL;
}

/* They lead to others as far as they were read: they end. */
const struct cp_gap *cp_gaps_copy(struct cp_arena *arena, const struct cp_gap *gaps)
{
	const struct cp_gap *first = NULL, **last = &first;
	struct cp_bytes *leads;
	struct cp_gap *copy;

	for (; gaps; gaps = gaps->next, last = &copy->next) {
		copy = (struct cp_gap *)cp_arena_copy(arena, gaps, sizeof(*gaps));
		if (!copy)
			return NULL;
		*last = copy;
		if (!gaps->leads)
			continue;
		leads = (struct cp_bytes *)cp_arena_copy(arena, gaps->leads, sizeof(*leads));
		copy->leads = leads;
		if (!leads)
			continue;
		leads->at = (const uint8_t *)cp_arena_copy(arena, leads->at, leads->size);
		leads->gaps = cp_gaps_copy(arena, leads->gaps);
		if (!leads->at)
			copy->leads = NULL;
	}
	return first;
}
