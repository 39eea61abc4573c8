/* SPDX-License-Identifier: MIT
 *
 * The declarations that are shipped, of libc++.
 */
#ifndef CP_INSPECT_SHAPES_LIBCXX_H
#define CP_INSPECT_SHAPES_LIBCXX_H

#include "inspect/shapes.h"

extern const struct cp_shape_row cp_shapes_libcxx[];
extern const size_t cp_shapes_libcxx_count;

#endif
