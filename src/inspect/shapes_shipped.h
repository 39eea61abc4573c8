/* SPDX-License-Identifier: MIT
 *
 * The declarations that are shipped, of libstdc++ and Rust's library.
 */
#ifndef CP_INSPECT_SHAPES_SHIPPED_H
#define CP_INSPECT_SHAPES_SHIPPED_H

#include "inspect/shapes.h"

extern const struct cp_shape_row cp_shapes_shipped[];
extern const size_t cp_shapes_shipped_count;

#endif
