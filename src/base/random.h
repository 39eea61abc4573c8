/* SPDX-License-Identifier: MIT */
#ifndef CP_BASE_RANDOM_H
#define CP_BASE_RANDOM_H

#include <stdint.h>

/* What splitmix64 makes of a number times this one, for what need not be secret. */
#define CP_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)
static inline uint64_t cp_random_of(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The next one. *state begins with anything. */
static inline uint64_t cp_random(uint64_t *state)
{
	return cp_random_of(*state += CP_RANDOM_STEP);
}

#endif
