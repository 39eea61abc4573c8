/* SPDX-License-Identifier: MIT */
#include "report/look/title.h"

#include <stdint.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/look/table.h"

void cp_report_title(struct cp_buf *out, const struct cp_look *look, const char *title,
		     const char *note)
{
	struct cp_buf cut CP_CLEANUP(cp_buf_free) = { 0 };
	size_t used = cp_text_columns(title) + 2;

	cp_buf_u8(out, '\n');
	cp_paint(out, look, CP_PAINT_TITLE, title);
	if (note && *note) {
		cp_text_fit(&cut, note,
			    look->columns > used + 12 ? look->columns - used : SIZE_MAX);
		cp_buf_str(out, "  ");
		cp_paint(out, look, CP_PAINT_DIM, cut.bytes ? cut.bytes : "");
	}
	cp_buf_u8(out, '\n');
}

void cp_report_more(struct cp_buf *out, const struct cp_look *look, size_t shown, size_t count)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (shown >= count)
		return;
	cp_buf_str(&text, "  and ");
	cp_add_count(&text, count - shown);
	cp_buf_str(&text, " more (--limit=0 shows all)\n");
	cp_paint(out, look, CP_PAINT_DIM, text.bytes ? text.bytes : "");
}
