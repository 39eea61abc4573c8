/* SPDX-License-Identifier: MIT
 *
 * Numbers that are times: see shape_units.c.
 */
#ifndef CP_INSPECT_SHAPE_UNITS_H
#define CP_INSPECT_SHAPE_UNITS_H

#include "inspect/build.h"
#include "inspect/shapes.h"

/* Says of `v`, a number, what it is a number of, if `row` is one of times: its unit, or
 * its date. */
void cp_shape_put_unit(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		       const struct cp_shape_row *row);

#endif
