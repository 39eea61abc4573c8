/* SPDX-License-Identifier: MIT
 *
 * A screen as it is to be: lines of text, of which parts are painted.
 */
#ifndef CP_VIEW_FRAME_H
#define CP_VIEW_FRAME_H

#include "base/buf.h"
#include "base/vec.h"
#include "transcript/look.h"

struct cp_frame_part {
	size_t from, to; /* bytes of the line */
	enum cp_paint paint;
};

struct cp_frame_line {
	struct cp_buf text; /* UTF-8, nothing in it that a terminal would take for more */
	CP_VEC(struct cp_frame_part) parts; /* in their order; what is between is plain */
	bool reverse; /* the chosen one; a title */
};

/* Begins as zeros. */
struct cp_frame {
	unsigned columns;
	struct cp_frame_line *lines; /* owned; `rows` of them */
	unsigned rows, used, capacity;
};

/* Empties it, for a screen of that size; false without memory. */
bool cp_frame_begin(struct cp_frame *f, unsigned rows, unsigned columns);
void cp_frame_deinit(struct cp_frame *f);
/* The next line, empty; NULL: the screen is full. */
struct cp_frame_line *cp_frame_next(struct cp_frame *f);

/* All these take NULL for the line, and do nothing then. */
void cp_frame_add(struct cp_frame_line *line, enum cp_paint paint, const char *text);
/* Text in a column so wide: cut in the middle if need be, or aligned to the right. */
void cp_frame_add_fit(struct cp_frame_line *line, enum cp_paint paint, const char *text,
		      size_t columns);
void cp_frame_add_right(struct cp_frame_line *line, enum cp_paint paint, const char *text,
			size_t columns);
/* Blanks up to a column. */
void cp_frame_pad(struct cp_frame_line *line, size_t columns);
/* Cuts what does not fit. */
void cp_frame_cut(struct cp_frame_line *line, size_t columns);

#endif
