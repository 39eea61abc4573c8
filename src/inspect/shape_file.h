/* SPDX-License-Identifier: MIT
 *
 * Declarations that a user writes: see shape_file.c.
 */
#ifndef CP_INSPECT_SHAPE_FILE_H
#define CP_INSPECT_SHAPE_FILE_H

#include "base/error.h"
#include "inspect/shapes.h"

/* Adds the declarations in `text`, which is that of `path`. CP_ERR_FORMAT with the line
 * that makes no sense; those before it were added. */
CP_ERROR cp_shapes_parse(struct cp_shapes *shapes, const char *path, const char *text);
void cp_shapes_free(struct cp_shapes *shapes);

#endif
