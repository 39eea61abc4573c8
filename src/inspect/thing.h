/* SPDX-License-Identifier: MIT
 *
 * What an expression stands for: a place in the program, or a number that was worked
 * out. Two steps: expression -> thing (evaluate.c), thing -> value (thing.c).
 */
#ifndef CP_INSPECT_THING_H
#define CP_INSPECT_THING_H

#include "base/arena.h"
#include "image/types.h"
#include "inspect/gaps.h"
#include "inspect/inspect.h"
#include "inspect/made_types.h"

struct cp_thing {
	const struct cp_type *type; /* NULL: not known */
	bool in_memory; /* at `address`; else it is `bytes` */
	uint64_t address;
	const uint8_t *bytes;
	uint64_t size; /* of bytes */
	const struct cp_gap *gaps; /* of bytes, as struct cp_bytes has them */
	uint64_t within;
	uint64_t extent; /* in memory: how many belong to it, beyond its type's; 0: not told */
	const struct cp_type_member *bits; /* it is a bit-field of what is there; or NULL */
	uint8_t source; /* cprof_value_source */
	uint8_t error; /* cprof_value_error: it can't be had; `address`: where not */
};

/* What names and types mean, and where the program's memory is. */
struct cp_expression_env {
	struct cp_arena *arena; /* of things and types that are made */
	const struct cp_reader *memory;
	/* CP_ERR_NOT_FOUND: there is none. `file`: that it is declared in, or NULL. */
	struct cp_error *(*variable)(void *ctx, const char *name, const char *file,
				     struct cp_thing *ret);
	struct cp_error *(*type)(void *ctx, const char *name, const struct cp_type **ret);
	void *ctx;
	struct cp_value_arena *values;
	const struct cp_value_limits *limits;
	const struct cp_shapes *shapes; /* as in struct cp_capture */
	const char *(*symbol)(void *ctx, uint64_t address); /* as in struct cp_capture */
	/* As struct cp_dynamic_env has it; NULL: nobody knows what objects really are. */
	char *(*variable_at)(void *ctx, uint64_t address, uint64_t *offset_ret);
};

/* Nothing can be read there: for what types alone tell. */
extern const struct cp_reader cp_no_memory;

/* The value of a thing, in env->values. */
const cprof_value *cp_thing_value(const struct cp_expression_env *env,
				  const struct cp_thing *thing);
/* All bytes of a thing that is no bit-field, in the arena; NULL, and thing->error
 * set: they can't be had. */
const uint8_t *cp_thing_bytes(const struct cp_expression_env *env, struct cp_thing *thing);
/* What is at an address. */
/* Of what a capture has; it is not changed meanwhile. */
static inline struct cp_thing cp_thing_of(const struct cp_type *type,
					  const struct cp_value_bytes *bytes)
{
	return (struct cp_thing){
		.type = type,
		.in_memory = bytes->address != 0,
		.address = bytes->address,
		.bytes = bytes->at,
		.size = bytes->size,
	};
}
static inline struct cp_thing cp_thing_at(const struct cp_type *type, uint64_t address)
{
	return (struct cp_thing){
		.type = type, .in_memory = true, .address = address, .source = CPROF_SOURCE_MEMORY
	};
}
/* What a pointer leads to, `at` bytes on, as of `type`, where that is known and the pointer is
 * not: false. */
bool cp_thing_implied(const struct cp_thing *thing, const struct cp_type *type, int64_t at,
		      struct cp_thing *ret);
/* What a reference refers to; other things as they are. */
struct cp_thing cp_thing_referred(const struct cp_expression_env *env, struct cp_thing thing);

/* What has elements: Rust's references, which debug information has as pointers, are none
 * of a row of what they lead to. */
struct cp_thing cp_thing_elements(const struct cp_expression_env *env, struct cp_thing thing);

/* A type of C itself by its name; NULL: it is none. */
const struct cp_type *cp_type_of_c(const char *name);

#endif
