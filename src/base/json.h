/* SPDX-License-Identifier: MIT
 *
 * Writes JSON into a buffer: commas, quoting and nesting are kept right, the
 * caller gives values. Keys are literals of ours and
 * need no escaping; string values are escaped.
 *
 *     cp_json_begin(&j, NULL, '{');  cp_json_u64(&j, "pid", 7);
 *     cp_json_end(&j, '}');
 *
 * `key` is NULL inside arrays and at the top.
 */
#ifndef CP_BASE_JSON_H
#define CP_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

struct cp_json {
	struct cp_buf *out; /* borrowed */
	bool comma; /* the next value needs one before it */
	bool pretty; /* a line a value, indented */
	unsigned depth;
};

/* What stands before a value where a line is one: laid out, cp_json_lay_out() does it. A key
 * is a literal, so it is copied as that. */
void cp_json_lay_out(struct cp_json *j, const char *key);
static inline void cp_json_key(struct cp_json *j, const char *key)
{
	size_t size = key ? strlen(key) : 0;
	char *to;

	if (j->pretty) {
		cp_json_lay_out(j, key);
		return;
	}
	to = cp_buf_take(j->out, j->comma + (key ? size + 3 : 0));
	if (!to)
		return;
	if (j->comma)
		*to++ = ',';
	if (key) {
		*to++ = '"';
		memcpy(to, key, size);
		memcpy(to + size, "\":", 2);
	}
	j->comma = true;
}

void cp_json_begin_value(struct cp_json *j, char bracket);
static inline void cp_json_begin(struct cp_json *j, const char *key, char bracket)
{
	cp_json_key(j, key);
	cp_json_begin_value(j, bracket);
}

void cp_json_end(struct cp_json *j, char bracket);

/* NULL: null. */
void cp_json_str_value(struct cp_json *j, const char *value);
static inline void cp_json_str(struct cp_json *j, const char *key, const char *value)
{
	cp_json_key(j, key);
	cp_json_str_value(j, value);
}

/* What the caller appends to `out` until the end is a string value; where that begins. */
size_t cp_json_str_begin(struct cp_json *j, const char *key);
void cp_json_str_end(struct cp_json *j, size_t from);

static inline void cp_json_u64(struct cp_json *j, const char *key, uint64_t value)
{
	cp_json_key(j, key);
	cp_buf_decimal(j->out, value);
}

static inline void cp_json_i64(struct cp_json *j, const char *key, int64_t value)
{
	cp_json_key(j, key);
	cp_buf_signed(j->out, value);
}

void cp_json_f64(struct cp_json *j, const char *key, double value);

static inline void cp_json_bool(struct cp_json *j, const char *key, bool value)
{
	cp_json_key(j, key);
	cp_buf_str(j->out, value ? "true" : "false");
}

void cp_json_null(struct cp_json *j, const char *key);
/* A value that is JSON already. */
static inline void cp_json_raw(struct cp_json *j, const char *key, const void *text, size_t size)
{
	cp_json_key(j, key);
	cp_buf_add(j->out, text, size);
}

/* An address: "0x1f". */
void cp_json_hex(struct cp_json *j, const char *key, uint64_t value);

#endif
