/* SPDX-License-Identifier: MIT
 *
 * Calls that return before anything else comes of their thread, for who adds calls up: about
 * half of all, and many are alike, for they are short and times are told in steps of 8 ns. So
 * those that are alike, by the same caller, are told together:
 *
 *     a caller's node, a function     80 ns  x 5,102
 *                                     88 ns  x 817
 *
 * There is room for some thousand such pairs; what makes room for another is told before.
 */
#ifndef CP_REPORT_LEAVES_H
#define CP_REPORT_LEAVES_H

#include "record/spans.h"

/* Told of `count` calls alike, of whose span `outer`, which has function, node, caller and data
 * alone, location, function, thread, again and all times but of when they began count. */
typedef struct cp_error *(*cp_leaves_fn)(void *ctx, struct cp_span *span, uint64_t count);

struct cp_leaves;

/* NULL without memory. `tell` is told of the first call of each kind at once. */
struct cp_leaves *cp_leaves_create(cp_leaves_fn tell, void *ctx);
/* A call that is over; `span` is not changed. An error is that of `tell`. */
CP_ERROR cp_leaves_add(struct cp_leaves *l, const struct cp_span *span);
/* Tells of all that was not told so far. */
CP_ERROR cp_leaves_flush(struct cp_leaves *l);
void cp_leaves_destroy(struct cp_leaves *l);

#endif
