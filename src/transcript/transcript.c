/* SPDX-License-Identifier: MIT */
#include "transcript/transcript.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

/* ---- what they are made of ---- */

void cp_line_put(const struct cp_transcript *l, struct cp_transcript_line *line,
		 enum cp_paint paint, const char *text)
{
	cp_paint(&line->text, l->look, paint, text);
	line->columns += cp_text_columns(text);
}

void cp_line_fit(const struct cp_transcript *l, struct cp_transcript_line *line,
		 enum cp_paint paint, const char *text, size_t reserve, size_t least)
{
	struct cp_buf cut CP_CLEANUP(cp_buf_free) = { 0 };
	size_t room = l->look->columns, used = line->columns + reserve;

	if (!room) {
		cp_line_put(l, line, paint, text);
		return;
	}
	cp_text_fit(&cut, text, room > used + least ? room - used : least);
	cp_line_put(l, line, paint, cut.bytes ? cut.bytes : "");
}

void cp_line_time(const struct cp_transcript *l, struct cp_transcript_line *line, uint64_t ns,
		  bool at_most, uint64_t cpu_ns)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (l->no_durations)
		return;
	cp_buf_str(&text, "  ");
	cp_add_time_at_most(&text, ns, at_most);
	if (cpu_ns &&
	    (!l->look->columns || line->columns + CP_LINE_TIME(at_most) + 15 <= l->look->columns)) {
		cp_buf_str(&text, ", ");
		cp_add_time(&text, cpu_ns);
		cp_buf_str(&text, " CPU");
	}
	cp_line_put(l, line, ns >= 1000000 ? CP_PAINT_WARM : CP_PAINT_DIM,
		    text.bytes ? text.bytes : "");
}

void cp_line_function(const struct cp_transcript *l, struct cp_transcript_line *line,
		      const char *raw, size_t reserve, size_t least)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	cp_escape(&text, CP_ESCAPE_TERMINAL, raw, cp_short_name(raw));
	cp_line_fit(l, line, CP_PAINT_NAME, text.bytes ? text.bytes : "", reserve, least);
}

void cp_line_name(const struct cp_transcript *l, struct cp_transcript_line *line,
		  enum cp_paint paint, const char *raw)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	if (!raw || !*raw)
		return;
	cp_buf_u8(&text, ' ');
	cp_escape(&text, CP_ESCAPE_TERMINAL, raw, strlen(raw));
	cp_line_fit(l, line, paint, text.bytes ? text.bytes : "", 11, 8);
}

void cp_line_add_label(struct cp_buf *out, const char *name, int32_t tid)
{
	size_t columns = cp_text_columns(name);

	cp_buf_printf(out, "%s%*s %7d  ", name,
		      columns < CP_LINE_LABEL ? (int)(CP_LINE_LABEL - columns) : 0, "", tid);
}

/* ---- the queue ---- */

void cp_transcript_deinit(struct cp_transcript *l)
{
	size_t i;

	for (i = l->head; i < l->queue.count; i++)
		cp_buf_free(&l->queue.items[i].text);
	cp_vec_free(&l->queue);
}

/* Two columns a call. */
static void put_indent(const struct cp_transcript *l, struct cp_transcript_line *line,
		       uint32_t indent)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t most = l->most_indent, blanks = 2 * (size_t)indent;

	if (l->look->columns) /* what the rest of a line takes at least */
		most = l->look->columns > line->columns + CP_LINE_LEAST + 8
			       ? l->look->columns - line->columns - CP_LINE_LEAST
			       : 8;
	if (blanks > most) {
		cp_buf_printf(&text, "%u", indent);
		blanks = most > text.size ? most - text.size : 0;
	}
	cp_buf_printf(&text, "%*s", (int)blanks, "");
	cp_line_put(l, line, CP_PAINT_DIM, text.bytes ? text.bytes : "");
}

uint64_t cp_transcript_new(struct cp_transcript *l, uint64_t ns, uint32_t thread, uint32_t indent)
{
	struct cp_transcript_line line = { .open = true, .thread = thread };
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };

	l->any = true;
	if (!l->untimed) {
		cp_buf_printf(&text, "%5" PRIu64 ".%06" PRIu64 "  ", ns / 1000000000,
			      ns / 1000 % 1000000);
		cp_line_put(l, &line, CP_PAINT_DIM, text.bytes ? text.bytes : "");
		cp_buf_clear(&text);
	}
	l->owner->label(l->ctx, ns, thread, &text);
	if (text.size)
		cp_line_put(l, &line, CP_PAINT_DIM, text.bytes);
	put_indent(l, &line, indent);
	if (!cp_vec_push(&l->queue, line)) {
		cp_buf_free(&line.text);
		l->no_memory = true;
		return CP_NO_LINE;
	}
	return l->first + (l->queue.count - 1 - l->head);
}

void cp_line_end(struct cp_transcript_line *line)
{
	cp_buf_u8(&line->text, '\n');
	line->open = false;
}

/* The line at the head has waited too long. */
static void force_head(struct cp_transcript *l)
{
	l->owner->force(l->ctx, l->first, l->queue.items[l->head].thread);
	if (l->queue.items[l->head].open) /* nobody's */
		cp_line_end(&l->queue.items[l->head]);
}

bool cp_transcript_write(struct cp_transcript *l, bool all)
{
	bool any = false;
	size_t i;

	while (l->head < l->queue.count) {
		if (l->queue.items[l->head].open && (all || l->queue.count - l->head > l->longest))
			force_head(l);
		if (l->queue.items[l->head].open)
			break;
		l->owner->write(l->ctx, &l->queue.items[l->head].text);
		cp_buf_free(&l->queue.items[l->head].text);
		any = true;
		l->head++;
		l->first++;
	}
	if (l->head > l->longest) {
		for (i = l->head; i < l->queue.count; i++)
			l->queue.items[i - l->head] = l->queue.items[i];
		l->queue.count -= l->head;
		l->head = 0;
	}
	return any;
}
