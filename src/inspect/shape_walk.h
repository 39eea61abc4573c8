/* SPDX-License-Identifier: MIT
 *
 * What a container holds, one after the other: see shape_walk.c.
 */
#ifndef CP_INSPECT_SHAPE_WALK_H
#define CP_INSPECT_SHAPE_WALK_H

#include "inspect/shape_terms.h"

/* Told of each element; `key`: of a map, else NULL. Things are good until it returns.
 * False: enough. */
typedef bool (*cp_shape_visit_fn)(void *ctx, const struct cp_thing *key,
				  const struct cp_thing *value);

/* Of what holds elements that need not be in a row (CP_SHAPE_ITEMS and those behind it).
 * What can't be read is told as an element with an error, and ends it; `steps` bounds
 * how many nodes and slots are looked at. An error: the value is not as its declaration
 * has it. */
CP_ERROR cp_shape_walk(struct cp_shape_scope *scope, uint64_t steps, cp_shape_visit_fn visit,
		       void *ctx);

/* Of CP_SHAPE_NODE: a pointer to the value that it means (*end_ret: to none). An error: it
 * is not as declared, or cannot be told from the end. */
CP_ERROR cp_shape_node(struct cp_shape_scope *scope, struct cp_thing *ret, bool *end_ret);

#endif
