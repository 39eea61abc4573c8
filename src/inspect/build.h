/* SPDX-License-Identifier: MIT
 *
 * A value in the making: what value.c shares with bytes.c (where its bytes
 * come from) and scalar.c (numbers and enums).
 */
#ifndef CP_INSPECT_BUILD_H
#define CP_INSPECT_BUILD_H

#include <string.h>

#include "inspect/internal.h"

struct cp_build {
	const struct cp_value_request *request;
	const struct cp_value_limits *limits;
	struct cp_arena *arena;
	uint8_t source;
	unsigned left; /* values */
	/* What is being built around the value, for cycles. */
	struct {
		uint64_t address;
		const struct cp_type *type;
	} around[CP_VALUE_DEPTH];
	unsigned around_count;
};

/* Bytes at hand: `size` of them are there, of a value that may be longer. */
struct cp_bytes {
	const uint8_t *at;
	uint64_t size;
	uint64_t address; /* 0: not in memory */
};

/* ---- bytes.c ---- */

/* Up to `want` bytes at `address`; size 0: none, and *tried_ret tells whether
 * they can't be read, or were not asked for. */
struct cp_bytes cp_build_memory(struct cp_build *b, uint64_t address, uint64_t want,
				bool *tried_ret);
/* The bytes of a parameter; size 0: none, and *error_ret says why. */
struct cp_bytes cp_build_bytes(struct cp_build *b, const struct cp_parameter *p,
			       uint8_t *error_ret);

/* ---- scalar.c ---- */

void cp_build_error(cprof_value *v, uint8_t error, uint64_t address);
/* `t` is stripped; `bits` of the bytes count. */
void cp_build_integer(cprof_value *v, const struct cp_type *t, const uint8_t *at, unsigned bits);
void cp_build_enum(struct cp_build *b, cprof_value *v, const struct cp_type *t, const uint8_t *at,
		   unsigned bits);
/* Numbers of any kind; `type` is `t` before it was stripped. */
void cp_build_scalar(struct cp_build *b, cprof_value *v, const struct cp_type *type,
		     const struct cp_type *t, const uint8_t *at);

/* ---- value.c ---- */

void cp_build_value(struct cp_build *b, cprof_value *v, const struct cp_type *type,
		    struct cp_bytes from, unsigned depth, unsigned hops);
/* `t` is an array; `from` has as much of it as there is. */
void cp_build_elements(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		       struct cp_bytes from, unsigned depth, unsigned hops);
/* The part of `from` at `offset`; less than `size` when that is all there is. */
struct cp_bytes cp_build_part(struct cp_bytes from, uint64_t offset, uint64_t size);

/* ---- shapes.c ---- */

/* False: it is of no shape that is known, or its parts are not there. */
bool cp_build_shape(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		    struct cp_bytes from, unsigned depth, unsigned hops);

/* Little-endian, of up to 8 bytes. */
static inline uint64_t cp_build_number(const uint8_t *at, uint64_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size < 8 ? size : 8);
	return value;
}

#endif
