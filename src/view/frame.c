/* SPDX-License-Identifier: MIT */
#include "view/frame.h"

#include <string.h>

#include "base/text.h"

bool cp_frame_begin(struct cp_frame *f, unsigned rows, unsigned columns)
{
	unsigned i;

	if (rows > f->capacity) {
		struct cp_frame_line *lines = realloc(f->lines, rows * sizeof(*lines));

		if (!lines)
			return false;
		memset(lines + f->capacity, 0, (rows - f->capacity) * sizeof(*lines));
		f->lines = lines;
		f->capacity = rows;
	}
	for (i = 0; i < f->capacity; i++) {
		cp_buf_clear(&f->lines[i].text);
		f->lines[i].parts.count = 0;
		f->lines[i].reverse = false;
	}
	f->rows = rows;
	f->columns = columns;
	f->used = 0;
	return true;
}

void cp_frame_deinit(struct cp_frame *f)
{
	unsigned i;

	for (i = 0; i < f->capacity; i++) {
		cp_buf_free(&f->lines[i].text);
		cp_vec_free(&f->lines[i].parts);
	}
	free(f->lines);
	*f = (struct cp_frame){ 0 };
}

struct cp_frame_line *cp_frame_next(struct cp_frame *f)
{
	return f->used < f->rows ? &f->lines[f->used++] : NULL;
}

void cp_frame_add(struct cp_frame_line *line, enum cp_paint paint, const char *text)
{
	struct cp_frame_part part = { .paint = paint };

	if (!line)
		return;
	part.from = line->text.size;
	cp_buf_str(&line->text, text);
	part.to = line->text.size;
	if (paint && part.to > part.from && !cp_vec_push(&line->parts, part))
		line->parts.count = 0;
}

static void add_blanks(struct cp_frame_line *line, size_t count)
{
	while (count--)
		cp_buf_u8(&line->text, ' ');
}

void cp_frame_add_fit(struct cp_frame_line *line, enum cp_paint paint, const char *text,
		      size_t columns)
{
	struct cp_buf fit = { 0 };

	if (!line)
		return;
	cp_text_fit(&fit, text, columns);
	cp_frame_add(line, paint, fit.bytes ? fit.bytes : "");
	add_blanks(line, columns - cp_text_columns(fit.bytes ? fit.bytes : ""));
	cp_buf_free(&fit);
}

void cp_frame_add_right(struct cp_frame_line *line, enum cp_paint paint, const char *text,
			size_t columns)
{
	size_t has = cp_text_columns(text);

	if (!line)
		return;
	add_blanks(line, has < columns ? columns - has : 0);
	cp_frame_add(line, paint, text);
}

static size_t columns_of(const struct cp_frame_line *line)
{
	return line->text.size ? cp_text_columns(line->text.bytes) : 0;
}

void cp_frame_pad(struct cp_frame_line *line, size_t columns)
{
	size_t has = line ? columns_of(line) : columns;

	if (has < columns)
		add_blanks(line, columns - has);
}

void cp_frame_cut(struct cp_frame_line *line, size_t columns)
{
	size_t at, length, used = 0;
	uint32_t code;

	if (!line || columns_of(line) <= columns)
		return;
	for (at = 0; at < line->text.size; at += length) {
		char one[8] = "";

		length = cp_utf8_decode(line->text.bytes + at, line->text.size - at, &code);
		length = length ? length : 1;
		memcpy(one, line->text.bytes + at, length);
		used += cp_text_columns(one);
		if (used > columns)
			break;
	}
	line->text.size = at;
	line->text.bytes[at] = 0;
	for (at = 0; at < line->parts.count; at++)
		if (line->parts.items[at].to > line->text.size)
			line->parts.items[at].to = line->text.size;
	while (line->parts.count &&
	       line->parts.items[line->parts.count - 1].from >= line->text.size)
		line->parts.count--;
}
