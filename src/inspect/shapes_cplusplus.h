/* SPDX-License-Identifier: MIT
 *
 * The declarations that are shipped, of libstdc++.
 */
#ifndef CP_INSPECT_SHAPES_CPLUSPLUS_H
#define CP_INSPECT_SHAPES_CPLUSPLUS_H

#include "inspect/shapes.h"

extern const struct cp_shape_row cp_shapes_cplusplus[];
extern const size_t cp_shapes_cplusplus_count;

#endif
