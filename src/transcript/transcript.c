/* SPDX-License-Identifier: MIT */
#include "transcript/transcript.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define SPARE_MOST 64 /* texts of lines that were written, for others */

/* ---- what they are made of ---- */

void cp_line_put(const struct cp_transcript *l, struct cp_transcript_line *line,
		 enum cp_paint paint, const char *text)
{
	cp_paint(&line->text, l->look, paint, text);
	if (l->look->columns)
		line->columns += cp_text_columns(text);
}

/* What is appended to the line's text until put_end(); returns where it begins. */
static size_t put_begin(const struct cp_transcript *l, struct cp_transcript_line *line,
			enum cp_paint paint)
{
	cp_paint_begin(&line->text, l->look, paint);
	return line->text.size;
}

static void put_end(const struct cp_transcript *l, struct cp_transcript_line *line,
		    enum cp_paint paint, size_t from)
{
	if (l->look->columns && line->text.bytes)
		line->columns += cp_text_columns(line->text.bytes + from);
	cp_paint_end(&line->text, l->look, paint);
}

void cp_line_fit(const struct cp_transcript *l, struct cp_transcript_line *line,
		 enum cp_paint paint, const char *text, size_t reserve, size_t least)
{
	size_t room = l->look->columns, used = line->columns + reserve, from;

	if (!room) {
		cp_line_put(l, line, paint, text);
		return;
	}
	from = put_begin(l, line, paint);
	cp_text_fit(&line->text, text, room > used + least ? room - used : least);
	put_end(l, line, paint, from);
}

void cp_line_time(const struct cp_transcript *l, struct cp_transcript_line *line, uint64_t ns,
		  bool at_most, uint64_t cpu_ns)
{
	enum cp_paint paint = ns >= 1000000 ? CP_PAINT_WARM : CP_PAINT_DIM;
	size_t from;

	if (l->no_durations)
		return;
	from = put_begin(l, line, paint);
	cp_buf_str(&line->text, "  ");
	cp_add_time_at_most(&line->text, ns, at_most);
	if (cpu_ns &&
	    (!l->look->columns || line->columns + CP_LINE_TIME(at_most) + 15 <= l->look->columns)) {
		cp_buf_str(&line->text, ", ");
		cp_add_time(&line->text, cpu_ns);
		cp_buf_str(&line->text, " CPU");
	}
	put_end(l, line, paint, from);
}

/* A name that escaping would leave as it is, and that needs not be cut: most are so. */
static bool put_plain(const struct cp_transcript *l, struct cp_transcript_line *line,
		      const char *raw, size_t size, size_t reserve)
{
	size_t i;

	if (l->look->columns && line->columns + reserve + size > l->look->columns)
		return false;
	for (i = 0; i < size; i++)
		if (raw[i] < ' ' || raw[i] > '~')
			return false;
	cp_paint_begin(&line->text, l->look, CP_PAINT_NAME);
	cp_buf_add(&line->text, raw, size);
	cp_paint_end(&line->text, l->look, CP_PAINT_NAME);
	line->columns += size;
	return true;
}

void cp_line_function(const struct cp_transcript *l, struct cp_transcript_line *line,
		      const char *raw, size_t reserve, size_t least)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	size_t size = cp_short_name(raw);

	if (put_plain(l, line, raw, size, reserve))
		return;
	cp_escape(&text, CP_ESCAPE_TERMINAL, raw, size);
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
	for (i = 0; i < l->spare.count; i++)
		cp_buf_free(&l->spare.items[i]);
	cp_vec_free(&l->spare);
}

/* Two columns a call. */
static void put_indent(const struct cp_transcript *l, struct cp_transcript_line *line,
		       uint32_t indent)
{
	size_t most = l->most_indent, blanks = 2 * (size_t)indent, from;

	if (l->look->columns) /* what the rest of a line takes at least */
		most = l->look->columns > line->columns + CP_LINE_LEAST + 8
			       ? l->look->columns - line->columns - CP_LINE_LEAST
			       : 8;
	from = put_begin(l, line, CP_PAINT_DIM);
	if (blanks > most) {
		cp_buf_decimal(&line->text, indent);
		blanks = most > line->text.size - from ? most - (line->text.size - from) : 0;
	}
	cp_buf_fill(&line->text, ' ', blanks);
	put_end(l, line, CP_PAINT_DIM, from);
}

static void put_time(const struct cp_transcript *l, struct cp_transcript_line *line, uint64_t ns)
{
	size_t from = put_begin(l, line, CP_PAINT_DIM);

	cp_buf_decimal_fill(&line->text, ns / 1000000000, 5, ' ');
	cp_buf_u8(&line->text, '.');
	cp_buf_decimal_fill(&line->text, ns / 1000 % 1000000, 6, '0');
	cp_buf_str(&line->text, "  ");
	put_end(l, line, CP_PAINT_DIM, from);
}

static void put_label(const struct cp_transcript *l, struct cp_transcript_line *line, uint64_t ns,
		      uint32_t thread)
{
	size_t before = line->text.size, from = put_begin(l, line, CP_PAINT_DIM);

	l->owner->label(l->ctx, ns, thread, &line->text);
	if (line->text.size != from)
		put_end(l, line, CP_PAINT_DIM, from);
	else
		line->text.size = before;
}

uint64_t cp_transcript_new(struct cp_transcript *l, uint64_t ns, uint32_t thread, uint32_t indent)
{
	struct cp_transcript_line line = { .open = true, .thread = thread };

	l->any = true;
	if (l->spare.count)
		line.text = l->spare.items[--l->spare.count];
	if (!l->untimed)
		put_time(l, &line, ns);
	put_label(l, &line, ns, thread);
	put_indent(l, &line, indent);
	cp_line_put(l, &line, CP_PAINT_COOL, l->mark);
	*l->mark = 0;
	if (!cp_vec_push(&l->queue, line)) {
		cp_buf_free(&line.text);
		l->no_memory = true;
		return CP_NO_LINE;
	}
	return cp_transcript_next(l) - 1;
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

/* The text was written. */
static void let_go(struct cp_transcript *l, struct cp_buf *text)
{
	cp_buf_clear(text);
	if (text->failed || l->spare.count >= SPARE_MOST || !cp_vec_push(&l->spare, *text))
		cp_buf_free(text);
	*text = (struct cp_buf){ 0 };
}

bool cp_transcript_write(struct cp_transcript *l, bool all)
{
	return cp_transcript_write_before(l, all ? UINT64_MAX : 0);
}

bool cp_transcript_write_before(struct cp_transcript *l, uint64_t number)
{
	bool any = false;
	size_t i;

	while (l->head < l->queue.count) {
		if (l->queue.items[l->head].open &&
		    (l->first < number || l->queue.count - l->head > l->longest))
			force_head(l);
		if (l->queue.items[l->head].open)
			break;
		l->owner->write(l->ctx, &l->queue.items[l->head].text);
		let_go(l, &l->queue.items[l->head].text);
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
