/* SPDX-License-Identifier: MIT
 *
 * Values of types that read as what they stand for.
 */
#ifndef CP_INSPECT_SHAPE_VALUES_H
#define CP_INSPECT_SHAPE_VALUES_H

#include "inspect/build.h"

/* False: it is of no shape that is known, or its parts are not there. */
bool cp_build_shape(struct cp_build *b, cprof_value *v, const struct cp_type *t,
		    struct cp_bytes from, unsigned depth, unsigned hops);

#endif
