/* SPDX-License-Identifier: MIT
 *
 * What a stop has to read of types that are declared: see plan_shapes.c.
 */
#ifndef CP_INSPECT_PLAN_SHAPES_H
#define CP_INSPECT_PLAN_SHAPES_H

#include "inspect/plan.h"

struct cp_shape_row;
/* As in struct cp_shape_ops. */
bool cp_plan_shape(struct cp_plan *p, const struct cp_type *t, const struct cp_shape_row *row,
		   const struct cp_plan_source *s, uint64_t at, unsigned depth, unsigned hops);

#endif
