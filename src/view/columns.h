/* SPDX-License-Identifier: MIT
 *
 * The columns of a row of the live view, as many as there is room for.
 */
#ifndef CP_VIEW_COLUMNS_H
#define CP_VIEW_COLUMNS_H

#include "view/frame.h"
#include "view/state.h"
#include "view/view.h"

/* Two lines of titles. `order`: what rows are in the order of; NULL: it is not said, and no file
 * stands in front of a function. `wall`: times are elapsed ones. */
void cp_columns_titles(struct cp_frame *f, enum cp_live_kind kind, enum cp_view_of of,
		       uint64_t last_ns, bool wall, const char *order);
/* The numbers of a row, of `rows`, and blanks. */
void cp_columns_numbers(const struct cp_frame *f, struct cp_frame_line *line,
			enum cp_live_kind kind, enum cp_view_of of, const struct cp_view_rows *rows,
			const struct cp_view_row *row);
/* The row; `text`: what stands in the last column, not escaped, and the file behind
 * it, or "". */
void cp_columns_row(struct cp_frame *f, struct cp_frame_line *line, enum cp_live_kind kind,
		    enum cp_view_of of, const struct cp_view_rows *rows,
		    const struct cp_view_row *row, const char *text, const char *file);

#endif
