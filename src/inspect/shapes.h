/* SPDX-License-Identifier: MIT
 *
 * Types of standard libraries that read as what they stand for: see shapes.c.
 */
#ifndef CP_INSPECT_SHAPES_H
#define CP_INSPECT_SHAPES_H

#include "image/image.h"
#include "image/types.h"

enum cp_shape_kind {
	CP_SHAPE_TEXT, /* `length` bytes at `pointer` */
	CP_SHAPE_LIST, /* elements there */
	CP_SHAPE_POINTER, /* it is its pointer */
	CP_SHAPE_OPTIONAL, /* `pointer` is where the value is, `length` whether it is */
	CP_SHAPE_COUNT, /* only how many elements there are is shown */
};

struct cp_shape {
	enum cp_shape_kind kind;
	bool ended; /* LIST: `length` is a pointer to the end */
	bool terminated; /* TEXT: with a NUL behind it */
	uint64_t pointer, length; /* offsets in the value */
	const struct cp_type *type; /* of what is at `pointer` */
};
/* `image` reads what was not read of the types yet; NULL: don't. */
bool cp_shape_of(struct cp_image *image, const struct cp_type *t, struct cp_shape *ret);

#endif
