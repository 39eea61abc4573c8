/* SPDX-License-Identifier: MIT
 *
 * The functions of a profile in an order and by name; cost by neighbour and by line.
 */
#ifndef CP_REPORT_PLACES_H
#define CP_REPORT_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "report/profile/profile.h"

enum cp_profile_order {
	CP_ORDER_SELF,
	CP_ORDER_TOTAL,
	CP_ORDER_NAME,
	CP_ORDER_CALLS, /* this one and the following: of traced calls; else as SELF */
	CP_ORDER_MIN,
	CP_ORDER_MAX,
	CP_ORDER_AVERAGE,
	CP_ORDER_DEVIATION,
};
/* The functions with any cost, most self (or total) first. *ret is the
 * caller's to free. */
CP_ERROR cp_profile_sorted(const struct cp_profile *p, enum cp_profile_order order, uint32_t **ret,
			   size_t *count_ret);

/* Numbers of those of `costs` that are not zero, most first. */
CP_ERROR cp_cost_sorted(const struct cp_cost *costs, size_t count, uint32_t **ret,
			size_t *count_ret);
/* Self costs by image, the caller's to free; NULL without memory. */
struct cp_cost *cp_profile_image_costs(const struct cp_profile *p);

/* Finds the one function that `name` means: its name, its name without
 * parameters, its linkage name, a glob or a part of the name, in that order;
 * of several the first way that finds any counts, and must find one. */
CP_ERROR cp_profile_find(const struct cp_profile *p, const char *name, uint32_t *function_ret);
/* Likewise among `functions`; of equal names the first one counts. */
CP_ERROR cp_profile_find_among(const struct cp_profile *p, const uint32_t *functions, size_t count,
			       const char *name, uint32_t *function_ret);

/* ---- cost by place ---- */

/* Cost by neighbour of one function, or by source line. Of a function that is
 * on a stack more than once, callers are those of its outermost, callees those
 * of its innermost occurrence: so both add up to its total. */
struct cp_edge {
	uint32_t function; /* the neighbour; CP_RECORD_NONE: the root, or itself (callees) */
	struct cp_cost cost;
};
struct cp_edges {
	struct cp_edge *items;
	size_t count, capacity;
};
struct cp_butterfly {
	uint32_t function;
	struct cp_edges callers, callees; /* most first */
	struct cp_cost recursive; /* in stacks that hold it more than once */
	size_t deepest; /* most occurrences in one stack */
};
CP_ERROR cp_butterfly_build(const struct cp_profile *p, uint32_t function,
			    struct cp_butterfly *ret);
void cp_butterfly_deinit(struct cp_butterfly *b);

struct cp_line {
	const char *file;
	uint32_t line;
	uint32_t function;
	struct cp_cost self, total;
};
struct cp_lines {
	CP_VEC(struct cp_line) items; /* most self first, then most total */
};
/* Lines of one function, or of all with CP_RECORD_NONE. */
CP_ERROR cp_lines_build(const struct cp_profile *p, uint32_t function, struct cp_lines *ret);
void cp_lines_deinit(struct cp_lines *lines);

#endif
