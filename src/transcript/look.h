/* SPDX-License-Identifier: MIT
 *
 * Where text will be seen, and how it is painted there.
 */
#ifndef CP_TRANSCRIPT_LOOK_H
#define CP_TRANSCRIPT_LOOK_H

#include <stdbool.h>

#include "base/buf.h"

struct cp_look {
	unsigned columns; /* 0: no limit */
	bool color;
};

enum cp_paint {
	CP_PAINT_PLAIN,
	CP_PAINT_BOLD,
	CP_PAINT_DIM,
	CP_PAINT_HOT,
	CP_PAINT_WARM,
	CP_PAINT_COOL,
	CP_PAINT_NAME,
	CP_PAINT_TITLE,
	CP_PAINT_WARNING,
};

/* What comes between these two is painted, where there is colour. */
void cp_paint_begin(struct cp_buf *out, const struct cp_look *look, enum cp_paint paint);
void cp_paint_end(struct cp_buf *out, const struct cp_look *look, enum cp_paint paint);
/* Appends `text`, painted likewise. */
void cp_paint(struct cp_buf *out, const struct cp_look *look, enum cp_paint paint,
	      const char *text);

#endif
