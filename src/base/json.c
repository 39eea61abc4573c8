/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <inttypes.h>
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

/* What lead() writes where nothing is laid out, in one piece. */
static void lead_plain(struct cp_json *j, const char *key)
{
	size_t size = key ? strlen(key) : 0;
	char *to = cp_buf_take(j->out, j->comma + (key ? size + 3 : 0));

	if (!to)
		return;
	if (j->comma)
		*to++ = ',';
	if (key) {
		*to++ = '"';
		memcpy(to, key, size);
		memcpy(to + size, "\":", 2);
	}
}

static void lead(struct cp_json *j, const char *key)
{
	if (!j->pretty) {
		lead_plain(j, key);
		j->comma = true;
		return;
	}
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

void cp_json_begin(struct cp_json *j, const char *key, char bracket)
{
	lead(j, key);
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

void cp_json_str(struct cp_json *j, const char *key, const char *value)
{
	if (!value) {
		cp_json_null(j, key);
		return;
	}
	lead(j, key);
	cp_buf_u8(j->out, '"');
	cp_escape(j->out, CP_ESCAPE_JSON, value, strlen(value));
	cp_buf_u8(j->out, '"');
}

void cp_json_u64(struct cp_json *j, const char *key, uint64_t value)
{
	lead(j, key);
	cp_buf_decimal(j->out, value);
}

void cp_json_i64(struct cp_json *j, const char *key, int64_t value)
{
	lead(j, key);
	if (value < 0)
		cp_buf_u8(j->out, '-');
	cp_buf_decimal(j->out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void cp_json_f64(struct cp_json *j, const char *key, double value)
{
	lead(j, key);
	if (isfinite(value))
		cp_buf_printf(j->out, "%.10g", value);
	else
		cp_buf_printf(j->out, "\"%f\"", value);
}

void cp_json_bool(struct cp_json *j, const char *key, bool value)
{
	lead(j, key);
	cp_buf_str(j->out, value ? "true" : "false");
}

void cp_json_null(struct cp_json *j, const char *key)
{
	lead(j, key);
	cp_buf_str(j->out, "null");
}

void cp_json_raw(struct cp_json *j, const char *key, const void *text, size_t size)
{
	lead(j, key);
	cp_buf_add(j->out, text, size);
}

void cp_json_hex(struct cp_json *j, const char *key, uint64_t value)
{
	lead(j, key);
	cp_buf_printf(j->out, "\"0x%" PRIx64 "\"", value);
}
