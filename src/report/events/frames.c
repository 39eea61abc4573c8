/* SPDX-License-Identifier: MIT */
#include "report/events/frames.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "report/look/brief.h"
#include "report/look/table.h"
#include "report/profile/profile.h"

#define INDENT 6u
#define NAME_LEAST 24u /* columns */

/* Columns for its name; 0: as many as it takes. */
static size_t room_for(const struct cp_look *look, const struct cp_buf *place)
{
	size_t used = INDENT + (place->size ? cp_text_columns(place->bytes) : 0);

	if (!look->columns)
		return 0;
	return look->columns > used + NAME_LEAST ? look->columns - used : NAME_LEAST;
}

void cp_report_frame(const struct cp_profile *p, uint32_t frame, const struct cp_look *look,
		     struct cp_buf *out)
{
	const struct cp_frame *f = &p->frames.items[frame];
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (f->file) {
		cp_buf_str(&text, "  ");
		cp_add_name(&text, cp_basename(f->file));
		cp_buf_printf(&text, ":%u", f->line);
	}
	cp_buf_fill(out, ' ', INDENT);
	cp_brief_add(out, p->functions.items[f->function].name, room_for(look, &text));
	cp_paint(out, look, CP_PAINT_DIM, text.size ? text.bytes : "");
	cp_buf_u8(out, '\n');
}

void cp_report_frame_json(const struct cp_profile *p, uint32_t frame, struct cp_json *j)
{
	const struct cp_frame *f = &p->frames.items[frame];

	cp_json_begin(j, NULL, '{');
	cp_json_str(j, "function", p->functions.items[f->function].name);
	cp_json_str(j, "file", f->file);
	if (f->file)
		cp_json_u64(j, "line", f->line);
	cp_json_end(j, '}');
}
