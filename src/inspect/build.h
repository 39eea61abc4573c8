/* SPDX-License-Identifier: MIT
 *
 * A value in the making: what those who make a part of it share.
 */
#ifndef CP_INSPECT_BUILD_H
#define CP_INSPECT_BUILD_H

#include <string.h>

#include "inspect/gaps.h"
#include "inspect/signature.h"

#define CP_VALUE_SHARED 64

struct cp_value_arena {
	struct cp_arena memory;
	struct cp_decoder *decoder; /* owned; made when first needed */
};

/* The signature and the capture that values are made of, and the memory for them. */
struct cp_value_request {
	const struct cp_signature *signature;
	const struct cp_capture *capture;
	struct cp_value_arena *arena;
	struct cp_notes *notes; /* NULL: none are taken (notes.h) */
	const struct cp_value_frame *frame; /* that they are of; NULL: of none */
};

#define CP_IMPLIED_MAX 64

struct cp_build {
	const struct cp_value_request *request;
	const struct cp_value_limits *limits;
	const struct cp_shapes *shapes; /* as in struct cp_capture */
	struct cp_arena *arena;
	struct cp_notes *notes; /* of the request */
	uint8_t source;
	bool live; /* types are completed when they are met: debug information may be read */
	bool clipped; /* not all bytes of what is built are at hand, for the limits */
	unsigned left; /* values */
	unsigned implied, implied_depth; /* pointers that are nowhere: followed, in a row */
	/* What is being built and in no memory: its bytes, at an address that nothing has. */
	struct cp_bytes apart;
	/* The values that are being built around this one, to notice cycles. */
	struct {
		uint64_t address;
		const struct cp_type *type;
	} around[CP_VALUE_DEPTH];
	unsigned around_count;
	/* Virtual bases of the object that is being built, each of which is told once. */
	const struct cp_type *shared[CP_VALUE_SHARED];
	unsigned shared_first, shared_count;
	bool is_base; /* what comes next: it is of the same object */
};

/* Can all memory be read, and not just what a capture has? */
static inline bool cp_build_is_whole(const struct cp_build *b)
{
	const struct cp_capture *c = b->request->capture;

	return c->memory && !c->memory_is_copy;
}

/* Little-endian, of up to 8 bytes. */
static inline uint64_t cp_build_number(const uint8_t *at, uint64_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size < 8 ? size : 8);
	return value;
}

/* Is that how far a virtual base can be from the object? */
static inline bool cp_base_is_near(int64_t offset)
{
	return offset > -(INT64_C(1) << 30) && offset < INT64_C(1) << 30;
}

#endif
