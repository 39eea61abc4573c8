/* SPDX-License-Identifier: MIT
 *
 * Where the parts of a library's type are in each object of it: see shape_layout.c.
 */
#ifndef CP_INSPECT_SHAPE_LAYOUT_H
#define CP_INSPECT_SHAPE_LAYOUT_H

#include "inspect/shapes.h"

#define CP_LAYOUT_NONE UINT64_MAX

struct cp_layout {
	enum cp_shape_kind kind;
	const struct cp_type *type; /* of what it holds, of an element, of a character */
	/* Where that is; `indirect`: where a pointer is that leads there, and `behind`: so many
	 * bytes on. */
	uint64_t offset, behind;
	bool indirect;
	uint64_t length; /* where it says how many, or CP_LAYOUT_NONE */
	uint64_t count; /* NONE: how many, or 0 */
	bool ended; /* at `length` is a pointer to the end */
	bool terminated; /* TEXT: a NUL follows */
	uint64_t flag; /* CHOICE: of the byte that says whether there is anything, or NONE */
};

enum cp_layout_found {
	CP_LAYOUT_FOUND,
	CP_LAYOUT_OTHER, /* it is nothing of that kind */
	CP_LAYOUT_VARIES, /* where its parts are, each object says */
};
/* The layout of TEXT, a ROW, or (VALUE) of what holds one value. */
enum cp_layout_found cp_shape_layout(const struct cp_type *type, enum cp_shape_kind kind,
				     struct cp_layout *ret);

#endif
