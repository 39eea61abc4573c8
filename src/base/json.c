/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static void newline(struct cp_json *j)
{
	unsigned i;

	if (!j->pretty)
		return;
	cp_buf_u8(j->out, '\n');
	for (i = 0; i < j->depth; i++)
		cp_buf_str(j->out, "  ");
}

void cp_json_lay_out(struct cp_json *j, const char *key)
{
	if (j->comma)
		cp_buf_u8(j->out, ',');
	if (j->depth)
		newline(j);
	if (key) {
		cp_buf_u8(j->out, '"');
		cp_buf_str(j->out, key);
		cp_buf_str(j->out, "\": ");
	}
	j->comma = true;
}

void cp_json_begin_value(struct cp_json *j, char bracket)
{
	cp_buf_u8(j->out, (uint8_t)bracket);
	j->comma = false;
	j->depth++;
}

void cp_json_end(struct cp_json *j, char bracket)
{
	bool empty = !j->comma;

	j->depth--;
	if (!empty)
		newline(j);
	cp_buf_u8(j->out, (uint8_t)bracket);
	j->comma = true;
}

void cp_json_str_value(struct cp_json *j, const char *value)
{
	if (!value) {
		cp_buf_str(j->out, "null");
		return;
	}
	cp_buf_u8(j->out, '"');
	cp_escape(j->out, CP_ESCAPE_JSON, value, strlen(value));
	cp_buf_u8(j->out, '"');
}

size_t cp_json_str_begin(struct cp_json *j, const char *key)
{
	cp_json_key(j, key);
	cp_buf_u8(j->out, '"');
	return j->out->size;
}

void cp_json_str_end(struct cp_json *j, size_t from)
{
	cp_escape_from(j->out, CP_ESCAPE_JSON, from);
	cp_buf_u8(j->out, '"');
}

void cp_json_f64(struct cp_json *j, const char *key, double value)
{
	cp_json_key(j, key);
	if (isfinite(value))
		cp_buf_printf(j->out, "%.10g", value);
	else
		cp_buf_printf(j->out, "\"%f\"", value);
}

void cp_json_null(struct cp_json *j, const char *key)
{
	cp_json_key(j, key);
	cp_buf_str(j->out, "null");
}

void cp_json_hex(struct cp_json *j, const char *key, uint64_t value)
{
	cp_json_key(j, key);
	cp_buf_str(j->out, "\"0x");
	cp_buf_hex(j->out, value);
	cp_buf_u8(j->out, '"');
}
