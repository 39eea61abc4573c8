/* SPDX-License-Identifier: MIT
 *
 * Numbers in expressions: integers of 128 bits with a sign or without, floats, addresses.
 */
#ifndef CP_INSPECT_NUMBER_H
#define CP_INSPECT_NUMBER_H

#include "inspect/thing.h"

__extension__ typedef __int128 cp_wide;

struct cp_number {
	enum cp_number_kind { CP_NUMBER_NONE, CP_NUMBER_INTEGER, CP_NUMBER_FLOAT } kind;
	cp_wide i;
	bool large; /* it has no sign: it is 2^128 more than `i` says */
	long double f;
};

/* The number that a thing is; NONE: it is none, or (thing->error) can't be had. */
struct cp_number cp_number_of(const struct cp_expression_env *env, struct cp_thing *thing);
/* The type of an integer that has none of its own. */
const struct cp_type *cp_number_type(struct cp_number number);
/* A thing of `type` that is the number; what does not fit is cut off, as C does. */
CP_ERROR cp_number_thing(const struct cp_expression_env *env, struct cp_number number,
			 const struct cp_type *type, struct cp_thing *ret);
/* Is it not 0, not NULL? thing->error: that can't be had. An error: it is neither. */
CP_ERROR cp_number_truth(const struct cp_expression_env *env, struct cp_thing *thing, bool *ret);

/* Below 0, 0 or above: of integers, whether `a` is less, the same, or more. */
int cp_number_order(struct cp_number a, struct cp_number b);

/* `op` is an enum cp_operator. What has more than 128 bits, or less than -2^127, is an error. */
CP_ERROR cp_number_unary(const struct cp_expression_env *env, uint8_t op, struct cp_thing *a,
			 struct cp_thing *ret);
/* Compares what could hold something and does not (NOT_CONSTRUCTED), which is less than what
 * does, as C++ and Rust have it. *done_ret false: neither is empty, or it can't be told. */
CP_ERROR cp_number_empty(const struct cp_expression_env *env, uint8_t op, const struct cp_thing *a,
			 const struct cp_thing *b, struct cp_thing *ret, bool *done_ret);
CP_ERROR cp_number_binary(const struct cp_expression_env *env, uint8_t op, struct cp_thing *a,
			  struct cp_thing *b, struct cp_thing *ret);

#endif
