/* SPDX-License-Identifier: MIT */
#include "base/spread.h"

#include <stdlib.h>
#include <string.h>

#define OCTAVE (1u << CP_SPREAD_BITS) /* buckets */

uint64_t cp_spread_low(uint32_t bucket)
{
	unsigned shift = bucket < 2 * OCTAVE ? 0 : bucket / OCTAVE - 1;

	return (uint64_t)(bucket - shift * OCTAVE) << shift;
}

uint64_t cp_spread_high(uint32_t bucket)
{
	unsigned shift = bucket < 2 * OCTAVE ? 0 : bucket / OCTAVE - 1;

	return cp_spread_low(bucket) + ((UINT64_C(1) << shift) - 1);
}

/* Whole octaves are there, from the first to the last that has something. */
static bool make_room(struct cp_spread *h, uint32_t bucket)
{
	uint32_t first = bucket / OCTAVE * OCTAVE, end = first + OCTAVE;
	uint64_t *counts;

	if (h->size && h->first < first)
		first = h->first;
	if (h->size && h->first + h->size > end)
		end = h->first + h->size;
	counts = calloc(end - first, sizeof(*counts));
	if (!counts)
		return false;
	if (h->size)
		memcpy(counts + (h->first - first), h->counts, h->size * sizeof(*counts));
	free(h->counts);
	h->counts = counts;
	h->first = first;
	h->size = end - first;
	return true;
}

bool cp_spread_add(struct cp_spread *h, uint32_t bucket, uint64_t count)
{
	if (bucket - h->first >= h->size && !make_room(h, bucket))
		return false;
	h->counts[bucket - h->first] += count;
	h->total += count;
	return true;
}

bool cp_spread_merge(struct cp_spread *to, const struct cp_spread *from)
{
	uint32_t i;

	for (i = 0; i < from->size; i++)
		if (from->counts[i] && !cp_spread_add(to, from->first + i, from->counts[i]))
			return false;
	return true;
}

void cp_spread_free(struct cp_spread *h)
{
	free(h->counts);
	*h = (struct cp_spread){ 0 };
}
