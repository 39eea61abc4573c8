/* SPDX-License-Identifier: MIT
 *
 * The declarations that are shipped, of Rust's library.
 */
#ifndef CP_INSPECT_SHAPES_RUST_H
#define CP_INSPECT_SHAPES_RUST_H

#include "inspect/shapes.h"

extern const struct cp_shape_row cp_shapes_rust[];
extern const size_t cp_shapes_rust_count;

#endif
