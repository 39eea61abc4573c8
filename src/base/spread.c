/* SPDX-License-Identifier: MIT */
#include "base/spread.h"

#include <stdlib.h>
#include <string.h>

uint64_t cp_spread_low(uint32_t bucket)
{
	unsigned shift = bucket < 2 * CP_SPREAD_OCTAVE ? 0 : bucket / CP_SPREAD_OCTAVE - 1;

	return (uint64_t)(bucket - shift * CP_SPREAD_OCTAVE) << shift;
}

uint64_t cp_spread_high(uint32_t bucket)
{
	unsigned shift = bucket < 2 * CP_SPREAD_OCTAVE ? 0 : bucket / CP_SPREAD_OCTAVE - 1;

	return cp_spread_low(bucket) + ((UINT64_C(1) << shift) - 1);
}

static bool add_octave(struct cp_spread *s, uint32_t octave)
{
	size_t one = CP_SPREAD_OCTAVE * sizeof(*s->counts);
	uint64_t *counts = realloc(s->counts, (s->octaves + 1u) * one);

	if (!counts)
		return false;
	s->counts = counts;
	memset(counts + s->octaves * CP_SPREAD_OCTAVE, 0, one);
	s->places[octave] = ++s->octaves;
	return true;
}

bool cp_spread_add(struct cp_spread *s, uint32_t bucket, uint64_t count)
{
	uint32_t octave = bucket / CP_SPREAD_OCTAVE;

	if (!s->places[octave] && !add_octave(s, octave))
		return false;
	s->counts[(s->places[octave] - 1u) * CP_SPREAD_OCTAVE + bucket % CP_SPREAD_OCTAVE] += count;
	s->total += count;
	return true;
}

bool cp_spread_merge(struct cp_spread *to, const struct cp_spread *from)
{
	uint32_t octave, i;

	for (octave = 0; octave < CP_SPREAD_OCTAVES; octave++) {
		if (!from->places[octave])
			continue;
		for (i = octave * CP_SPREAD_OCTAVE; i < (octave + 1) * CP_SPREAD_OCTAVE; i++) {
			uint64_t count = cp_spread_count(from, i);

			if (count && !cp_spread_add(to, i, count))
				return false;
		}
	}
	return true;
}

void cp_spread_free(struct cp_spread *s)
{
	free(s->counts);
	*s = (struct cp_spread){ 0 };
}
