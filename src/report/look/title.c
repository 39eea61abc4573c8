/* SPDX-License-Identifier: MIT */
#include "report/look/title.h"

#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/look/table.h"

#define INDENT 2

/* `note` without words that are longer than a line. */
static void cut_words(const char *note, size_t columns, struct cp_buf *out)
{
	while (*note) {
		struct cp_buf word CP_CLEANUP(cp_buf_free) = { 0 };
		size_t size = strcspn(note, " ");

		cp_buf_add(&word, note, size);
		cp_buf_u8(&word, 0);
		if (!word.failed)
			cp_text_fit(out, word.bytes, columns);
		note += size;
		size = strspn(note, " ");
		cp_buf_add(out, note, size);
		note += size;
	}
}

void cp_report_title(struct cp_buf *out, const struct cp_look *look, const char *title,
		     const char *note)
{
	struct cp_buf words CP_CLEANUP(cp_buf_free) = { 0 };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_buf_u8(out, '\n');
	cp_paint(out, look, CP_PAINT_TITLE, title);
	if (note && *note) {
		cut_words(note, look->columns > INDENT ? look->columns - INDENT : SIZE_MAX, &words);
		cp_add_wrapped(&text, look, cp_text_columns(title) + 2, INDENT,
			       words.bytes ? words.bytes : "");
		cp_buf_str(out, "  ");
		cp_paint_begin(out, look, CP_PAINT_DIM);
		cp_buf_add(out, text.bytes, text.size ? text.size - 1 : 0);
		cp_paint_end(out, look, CP_PAINT_DIM);
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
