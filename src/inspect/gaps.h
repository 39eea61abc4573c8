/* SPDX-License-Identifier: MIT
 *
 * Bytes of a value of which some can't be had: debug information knows pieces of a
 * structure and not others, or what a pointer leads to and not the pointer.
 *
 *     value   | 00 11 22 33 44 55 66 77 | 00 00 00 00 00 00 00 00 |
 *     gaps                                ^ at 64, 64 bits, optimised out
 */
#ifndef CP_INSPECT_GAPS_H
#define CP_INSPECT_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_arena;
struct cp_gap;

/* Bytes at hand: `size` of them are there, of a value that may be longer. */
struct cp_bytes {
	const uint8_t *at;
	uint64_t size;
	uint64_t address; /* 0: not in memory */
	const struct cp_gap *gaps; /* what is not known of them, in no order; NULL: all is */
	uint64_t within; /* bytes of the whole value, which `gaps` count from, before these */
};

/* Bits that can't be had; of none of them there are two. */
struct cp_gap {
	uint64_t at, size; /* bits */
	uint8_t error; /* cprof_value_error, at `address` */
	uint64_t address;
	const struct cp_bytes *leads; /* they are a pointer to these, which are known; or NULL */
	const struct cp_gap *next;
};

/* One that has some of `size` bits at bit `at`; NULL: they are all known. */
static inline const struct cp_gap *cp_gap_at(const struct cp_gap *gaps, uint64_t at, uint64_t size)
{
	while (gaps && (gaps->at >= at + size || at >= gaps->at + gaps->size))
		gaps = gaps->next;
	return gaps;
}

/* The same of bytes, with `size` bits from bit `at` of them. */
static inline const struct cp_gap *cp_gap_in(const struct cp_bytes *bytes, uint64_t at,
					     uint64_t size)
{
	return cp_gap_at(bytes->gaps, bytes->within * 8 + at, size);
}

/* Is nothing known of `size` bytes of them? */
bool cp_gaps_are_all(const struct cp_bytes *bytes, uint64_t size);
/* What a pointer of `size` bytes that begins there leads to, where that is known though the
 * pointer is not; NULL: it is not. */
const struct cp_bytes *cp_gap_leads(const struct cp_gap *gaps, uint64_t within, uint64_t size);
/* Copies in the arena, with all that they lead to; NULL, too, without memory. */
const struct cp_gap *cp_gaps_copy(struct cp_arena *arena, const struct cp_gap *gaps);

#endif
