/* SPDX-License-Identifier: MIT
 *
 * What values and expressions ask of declarations: see shape_ops.c.
 */
#ifndef CP_INSPECT_SHAPE_OPS_H
#define CP_INSPECT_SHAPE_OPS_H

#include "inspect/shapes.h"

extern const struct cp_shape_ops cp_shape_ops;

#endif
