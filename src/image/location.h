/* SPDX-License-Identifier: MIT
 *
 * Where variables are: DWARF's location expressions. They come prepared (see
 * dwarf/location.c): what only a unit can tell is filled in, so that they are
 * evaluated without debug information, at any time, on any thread.
 */
#ifndef CP_IMAGE_LOCATION_H
#define CP_IMAGE_LOCATION_H

#include "arch/arch.h"
#include "base/types.h"

enum cp_located_kind {
	CP_LOCATED_NOWHERE, /* optimised out */
	CP_LOCATED_MEMORY, /* at `value` */
	CP_LOCATED_REGISTER, /* number `value`, by DWARF */
	CP_LOCATED_VALUE, /* it is `value` */
	CP_LOCATED_BYTES, /* it is these bytes, in the expression */
	/* It is a pointer that is nowhere; what it leads to is told by `bytes`, which
	 * cp_image_implied() reads. */
	CP_LOCATED_IMPLIED,
};

struct cp_located {
	uint8_t kind; /* enum cp_located_kind */
	uint64_t value;
	const uint8_t *bytes;
	uint32_t size; /* bytes of the variable that are here; 0: all */
	uint32_t skip; /* bytes of the register before those that count */
	uint8_t size_bits, skip_bits; /* and bits beyond those bytes */
};
#define CP_LOCATED_MAX 32
#define CP_PASSED_MAX 16

/* What a caller passed for parameters that the function has no place for, as gcc makes
 * clones without them. */
struct cp_passed {
	bool all; /* just asked for whether that would do: anything is known, as 0 */
	uint32_t count;
	struct {
		uint64_t die; /* of the parameter */
		uint64_t value;
	} items[CP_PASSED_MAX];
};

struct cp_location_env {
	const struct cp_arch *arch;
	const struct cp_regs *regs;
	const struct cp_regs *entry; /* registers when the function was entered, or NULL */
	const struct cp_passed *passed; /* or NULL */
	const struct cp_reader *memory; /* or NULL */
	uint64_t bias;
	uint64_t cfa; /* 0: unknown */
	const uint8_t *frame_base; /* expression, or NULL */
	uint32_t frame_base_size;
	/* Registers hold names instead of values, see cp_location_is_name(): what does more
	 * to one than to add a number is UNKNOWN. */
	bool named;
	/* Turns the offset of a thread-local variable into an address; NULL: unknown. */
	bool (*thread_local_address)(void *ctx, uint64_t offset, uint64_t *ret);
	void *ctx;
};

/* A name of register n is (n + 1) << this. */
#define CP_LOCATION_NAME_SHIFT 40

/* Can `value` be a name and a number added to it? */
static inline bool cp_location_is_name(uint64_t value)
{
	return value >= UINT64_C(1) << (CP_LOCATION_NAME_SHIFT - 1) &&
	       value < (uint64_t)(CP_REG_MAX + 1) << CP_LOCATION_NAME_SHIFT;
}

/* Operations of our own in prepared expressions: two bytes follow, size and
 * encoding. What is on the stack becomes a number of that type. */
#define CP_OP_CONVERT 0xe1
/* Eight bytes follow, the DIE of a parameter: what the caller passed for it. */
#define CP_OP_PASSED 0xe2
/* Three of eight bytes follow: a unit (an address of ours) and the DIE there of what a
 * pointer leads to, and how far into that. */
#define CP_OP_IMPLIED 0xe3
#define CP_OP_IMPLIED_BYTES 24

enum cp_location_status {
	CP_LOCATION_OK,
	CP_LOCATION_BAD, /* makes no sense, or is not supported */
	CP_LOCATION_UNKNOWN, /* depends on what is not known */
};

/* Evaluates an expression to up to CP_LOCATED_MAX parts, in the order of the
 * variable's bytes. */
enum cp_location_status cp_location_evaluate(const struct cp_location_env *env, const uint8_t *expr,
					     size_t size, struct cp_located *parts,
					     size_t *count_ret);

/* Is it where a static variable is, of the program or of each thread? */
bool cp_location_is_static(const uint8_t *expr, size_t size);
/* Does each thread have one of its own? */
bool cp_location_is_of_thread(const uint8_t *expr, size_t size);

#endif
