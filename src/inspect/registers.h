/* SPDX-License-Identifier: MIT
 *
 * Registers in expressions: see registers.c.
 */
#ifndef CP_INSPECT_REGISTERS_H
#define CP_INSPECT_REGISTERS_H

#include "inspect/thing.h"

/* What is known of a frame's registers. */
struct cp_register_values {
	const struct cp_regs *regs;
	const uint64_t *others; /* of the innermost frame, as cp_arch.other_names; or NULL */
	const uint8_t *vectors; /* of that one, as cp_arch_vector_note(); or NULL */
	size_t vectors_size;
};

/* The register that is called `name` ("rip", "xmm0", "pc", "sp", "fp"); false: none is.
 * What is not known is a thing that is unavailable. */
bool cp_register_thing(const struct cp_register_values *values, const char *name,
		       struct cp_arena *arena, struct cp_thing *ret);

#endif
