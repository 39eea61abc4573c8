/* SPDX-License-Identifier: MIT
 *
 * Allocations by the type that they are for, as far as names on their stacks tell it.
 */
#ifndef CP_REPORT_PROFILE_HEAPTYPES_H
#define CP_REPORT_PROFILE_HEAPTYPES_H

#include "base/map.h"
#include "report/profile/heap.h"

struct cp_heap_type {
	const char *name; /* NULL: nothing on the stack tells; lives as long as the types */
	struct cp_heap_amount allocated, left;
};

struct cp_heap_types {
	struct cp_interner names; /* "": not told */
	struct cp_heap_type *items;
	size_t count, capacity;
};

/* Adds up h->stacks: what is left first, then what was allocated. */
CP_ERROR cp_heap_types_build(const struct cp_heap *h, struct cp_heap_types *ret);
void cp_heap_types_deinit(struct cp_heap_types *types);
/* Is any type told? */
bool cp_heap_types_are_told(const struct cp_heap_types *types);

#endif
