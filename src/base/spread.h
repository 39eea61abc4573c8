/* SPDX-License-Identifier: MIT
 *
 * How values are distributed, in buckets that are a thirty-second of an octave: what is
 * below 64 is exact, all else known to 3.1 %, up to 64 bits.
 *
 *     bucket    0  1  ...  63 | 64     65     ...  95      | 96       97       ...
 *     values    0  1  ...  63 | 64-65  66-67  ...  126-127 | 128-131  132-135  ...
 *
 * Only octaves with something in them take room.
 */
#ifndef CP_BASE_SPREAD_H
#define CP_BASE_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CP_SPREAD_BITS 5 /* of a value, behind its first one, tell its bucket */
#define CP_SPREAD_OCTAVE (1u << CP_SPREAD_BITS) /* buckets */
#define CP_SPREAD_OCTAVES (64u - CP_SPREAD_BITS + 1)
#define CP_SPREAD_BUCKETS (CP_SPREAD_OCTAVES * CP_SPREAD_OCTAVE)

/* Begins as zeros. */
struct cp_spread {
	uint64_t *counts; /* owned; octave by octave, as they came */
	uint8_t octaves; /* there are */
	uint8_t places[CP_SPREAD_OCTAVES]; /* of each, + 1; 0: nothing is in it */
	uint64_t total; /* of all counts */
};

static inline uint32_t cp_spread_bucket(uint64_t value)
{
	unsigned shift;

	if (value < 2 * CP_SPREAD_OCTAVE)
		return (uint32_t)value;
	shift = 63u - (unsigned)__builtin_clzll(value) - CP_SPREAD_BITS;
	return shift * CP_SPREAD_OCTAVE + (uint32_t)(value >> shift);
}

/* The least and the greatest value of a bucket. */
uint64_t cp_spread_low(uint32_t bucket);
uint64_t cp_spread_high(uint32_t bucket);

/* How many values are in a bucket. */
static inline uint64_t cp_spread_count(const struct cp_spread *s, uint32_t bucket)
{
	unsigned place = s->places[bucket / CP_SPREAD_OCTAVE];

	return place ? s->counts[(place - 1) * CP_SPREAD_OCTAVE + bucket % CP_SPREAD_OCTAVE] : 0;
}

/* Adds `count` values to a bucket; false without memory. */
bool cp_spread_add(struct cp_spread *s, uint32_t bucket, uint64_t count);
/* False without memory; then some may be added. */
bool cp_spread_merge(struct cp_spread *to, const struct cp_spread *from);
void cp_spread_free(struct cp_spread *s);

#endif
