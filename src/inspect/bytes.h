/* SPDX-License-Identifier: MIT
 *
 * Where the bytes of values come from: see bytes.c.
 */
#ifndef CP_INSPECT_BYTES_H
#define CP_INSPECT_BYTES_H

#include "inspect/build.h"

/* Finds up to `want` bytes at `address`; size 0: none, and *tried_ret tells whether
 * they can't be read, or were not asked for. */
struct cp_bytes cp_build_memory(struct cp_build *b, uint64_t address, uint64_t want,
				bool *tried_ret);
/* The bytes of a parameter; size 0: none, and *error_ret says why. */
struct cp_bytes cp_build_bytes(struct cp_build *b, const struct cp_parameter *p,
			       uint8_t *error_ret);

#endif
