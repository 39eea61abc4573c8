/* SPDX-License-Identifier: MIT
 *
 * The memory of what is inspected that may hold pointers, in pieces.
 */
#ifndef CP_CMD_REGIONS_H
#define CP_CMD_REGIONS_H

#include "base/vec.h"
#include "cmd/inspecting.h"

struct cp_region {
	uint64_t start, end;
	char *name; /* owned; a file, "[heap]", "[stack]", "" */
};

struct cp_regions {
	CP_VEC(struct cp_region) list; /* by address */
};

CP_ERROR cp_regions_read(const struct cp_inspected *in, struct cp_regions *ret);
void cp_regions_free(struct cp_regions *regions);
/* NULL: none covers it. */
const struct cp_region *cp_region_at(const struct cp_regions *regions, uint64_t address);
/* Hands all bytes that were ever written to `chunk`, as far as they can be read, in any
 * order; answers how many were too many to look at. */
uint64_t cp_regions_scan(const struct cp_inspected *in, const struct cp_regions *regions,
			 void (*chunk)(void *ctx, uint64_t address, const uint8_t *bytes,
				       size_t size),
			 void *ctx);

#endif
