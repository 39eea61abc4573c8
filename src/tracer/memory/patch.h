/* SPDX-License-Identifier: MIT
 *
 * Breakpoints into text and out of it.
 */
#ifndef CP_TRACER_PATCH_H
#define CP_TRACER_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link/sites.h"

struct space;

/* A change of one breakpoint's bytes. */
struct patch {
	uint64_t address;
	uint8_t expect[CP_TRAP_MAX], bytes[CP_TRAP_MAX];
	bool done;
};

/* Sorts the patches by address and applies those where the expected bytes
 * stand. Returns how many were done. */
size_t patch_apply(const struct space *space, struct patch *patches, size_t count);

#endif
