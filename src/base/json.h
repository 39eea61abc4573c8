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

#include "base/buf.h"

struct cp_json {
	struct cp_buf *out; /* borrowed */
	bool comma; /* the next value needs one before it */
	bool pretty; /* a line a value, indented */
	unsigned depth;
};

void cp_json_begin(struct cp_json *j, const char *key, char bracket);
void cp_json_end(struct cp_json *j, char bracket);
void cp_json_str(struct cp_json *j, const char *key, const char *value);
void cp_json_u64(struct cp_json *j, const char *key, uint64_t value);
void cp_json_i64(struct cp_json *j, const char *key, int64_t value);
void cp_json_f64(struct cp_json *j, const char *key, double value);
void cp_json_bool(struct cp_json *j, const char *key, bool value);
void cp_json_null(struct cp_json *j, const char *key);
/* A value that is JSON already. */
void cp_json_raw(struct cp_json *j, const char *key, const void *text, size_t size);
/* An address: "0x1f". */
void cp_json_hex(struct cp_json *j, const char *key, uint64_t value);

#endif
