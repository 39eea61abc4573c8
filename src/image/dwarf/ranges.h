/* SPDX-License-Identifier: MIT
 *
 * Range lists, and which unit covers an address: see ranges.c.
 */
#ifndef CP_IMAGE_DWARF_RANGES_H
#define CP_IMAGE_DWARF_RANGES_H

#include "image/dwarf/debuginfo.h"
#include "image/types.h"

struct cp_range {
	uint64_t low, high;
};
struct cp_ranges {
	CP_VEC(struct cp_range) list;
};
/* The addresses of a DIE: its list of ranges, or low to high. Only ranges of
 * the image's code are kept. False without memory. */
bool cp_unit_ranges(const struct cp_unit *unit, const struct cp_attr *low,
		    const struct cp_attr *high, const struct cp_attr *ranges,
		    struct cp_ranges *ret);
/* The unit of the main file that covers `at`, or NULL. */
struct cp_unit *cp_debuginfo_unit(struct cp_debuginfo *all, uint64_t at);

/* The addresses of a DIE as cp_unit_ranges() has them, in `arena`; NULL: it has none. */
const struct cp_extent *cp_unit_extents(const struct cp_unit *unit, const struct cp_attr *low,
					const struct cp_attr *high, const struct cp_attr *ranges,
					struct cp_arena *arena);

#endif
