/* SPDX-License-Identifier: MIT
 *
 * All types of a file: their sizes and holes.
 */
#ifndef CP_CMD_LAYOUT_ALL_H
#define CP_CMD_LAYOUT_ALL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "image/image.h"
#include "transcript/look.h"

struct cp_layout_wish {
	const char *glob; /* of names; NULL: all */
	bool holes; /* only those that lose bytes, those that lose most first */
	bool json;
	struct cp_look look;
};

/* A table of them, or JSON. CP_ERR_NOT_FOUND: there are none. */
CP_ERROR cp_layout_all(struct cp_image *image, const struct cp_layout_wish *wish,
		       struct cp_buf *out);

#endif
