/* SPDX-License-Identifier: MIT
 *
 * Heapshots: moments that were marked while a recording was made, for what is live then.
 * A recording has no copy of it: it follows from all that was allocated and freed before.
 */
#ifndef CP_REPORT_HEAPSHOTS_H
#define CP_REPORT_HEAPSHOTS_H

#include "base/error.h"
#include "base/types.h"
#include "base/vec.h"

struct cp_record;

struct cp_heap_amount {
	uint64_t blocks, bytes;
};

struct cp_heapshot {
	uint64_t ts_ns;
	bool reached; /* the walk came as far; else `live` is not known */
	struct cp_heap_amount live;
};

/* In the order of time, which their numbers follow, from 1 on. */
struct cp_heapshots {
	struct cp_heapshot *items;
	size_t count, capacity;
};

CP_ERROR cp_heapshots_find(const struct cp_record *r, struct cp_heapshots *ret);
void cp_heapshots_free(struct cp_heapshots *shots);

#endif
