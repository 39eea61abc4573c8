/* SPDX-License-Identifier: MIT */
#include "record/enclosed_encode.h"

#include "record/encode.h"

uint64_t cp_record_encode_frames(struct cp_record_encoder *e, const struct cp_record_frame *frames,
				 size_t count)
{
	uint64_t ref = 0;

	while (count--)
		ref = cp_record_encode_frame(e, ref, cp_record_encode_function(e, &frames[count]),
					     frames[count].line, frames[count].inlined);
	return ref;
}

static uint64_t string(struct cp_record_encoder *e, const char *text)
{
	uint64_t ref = cp_record_encode_string(e, text);

	if (ref)
		cp_record_encode_use(e, CP_RECORD_STRINGS, ref - 1);
	return ref;
}

/* Ends the section under way. */
static void end(struct cp_record_encoder *e, unsigned tag)
{
	struct cp_record_enclosing *to = &e->enclosing;

	cp_record_put_field(&to->sections, tag, to->body.bytes, to->body.size);
	to->sections.failed |= to->body.failed;
	e->pending += to->body.size + 2 * CP_RECORD_NUMBER_MAX;
	cp_buf_clear(&to->body);
	cp_record_encode_check(e);
}

void cp_record_encode_source(struct cp_record_encoder *e, const struct cp_record_source *s)
{
	struct cp_buf *body = &e->enclosing.body;

	if (cp_record_sink_failed(e->sink))
		return;
	cp_buf_uleb(body, string(e, s->path));
	cp_buf_uleb(body, s->written_ns);
	cp_buf_add(body, s->text, s->size);
	end(e, CP_RECORD_SOURCE);
}

static void push(struct cp_record_encoder *e, uint64_t value)
{
	cp_record_encode_ok(e, cp_vec_push(&e->enclosing.column, value));
}

static void put_column(struct cp_record_encoder *e)
{
	struct cp_record_enclosing *to = &e->enclosing;

	cp_record_put_column(&to->body, to->column.items, to->column.count);
	to->column.count = 0;
}

static void put_rows(struct cp_record_encoder *e, const struct cp_record_code_row *rows,
		     size_t count)
{
	size_t i;

	cp_buf_uleb(&e->enclosing.body, count);
	for (i = 0; i < count; i++)
		push(e, rows[i].offset);
	put_column(e);
	for (i = 0; i < count; i++)
		push(e, rows[i].frame);
	put_column(e);
}

static void put_names(struct cp_record_encoder *e, const struct cp_record_code *code)
{
	size_t i;

	cp_buf_uleb(&e->enclosing.body, code->name_count);
	for (i = 0; i < code->name_count; i++)
		push(e, code->names[i].address);
	put_column(e);
	for (i = 0; i < code->name_count; i++)
		push(e, code->names[i].data);
	put_column(e);
	for (i = 0; i < code->name_count; i++)
		push(e, string(e, code->names[i].name));
	put_column(e);
	for (i = 0; i < code->name_count; i++)
		push(e, code->names[i].offset);
	put_column(e);
}

/* What it refers to, in a chunk that has room for all of it. */
static void make_room(struct cp_record_encoder *e, const struct cp_record_code *code,
		      const struct cp_record_code_row *rows, size_t count)
{
	size_t i;

	cp_record_encode_use(e, CP_RECORD_IMAGES, code->image);
	for (i = 0; i < count; i++)
		if (rows[i].frame)
			cp_record_encode_use(e, CP_RECORD_FRAMES, rows[i].frame - 1);
	for (i = 0; i < code->name_count; i++)
		string(e, code->names[i].name);
}

void cp_record_encode_code(struct cp_record_encoder *e, const struct cp_record_code *code,
			   const struct cp_record_code_row *rows, size_t count)
{
	struct cp_buf *body = &e->enclosing.body;

	if (cp_record_sink_failed(e->sink))
		return;
	make_room(e, code, rows, count);
	cp_buf_uleb(body, code->image);
	cp_buf_uleb(body, code->start);
	cp_buf_uleb(body, code->size);
	put_rows(e, rows, count);
	put_names(e, code);
	cp_buf_add(body, code->bytes, code->size);
	end(e, CP_RECORD_CODE);
}

void cp_record_put_enclosed(struct cp_record_encoder *e)
{
	cp_buf_add(&e->payload, e->enclosing.sections.bytes, e->enclosing.sections.size);
	e->payload.failed |= e->enclosing.sections.failed;
	cp_buf_clear(&e->enclosing.sections);
}

void cp_record_enclosing_free(struct cp_record_encoder *e)
{
	cp_buf_free(&e->enclosing.sections);
	cp_buf_free(&e->enclosing.body);
	cp_vec_free(&e->enclosing.column);
}
