/* SPDX-License-Identifier: MIT */
#include <cprof/format.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "inspect/inspect.h"

/* Copies what fits of `from`, NUL-terminated, and frees it; the length of all of it. */
static size_t hand_over(struct cp_buf *from, char *buffer, size_t size)
{
	size_t whole = from->failed ? 0 : from->size, n = whole;

	if (size && n >= size) {
		n = size - 1;
		while (n && ((unsigned char)from->bytes[n] & 0xc0) == 0x80)
			n--;
	}
	if (size) {
		if (n)
			memcpy(buffer, from->bytes, n);
		buffer[n] = 0;
	}
	cp_buf_free(from);
	return whole;
}

size_t cprof_escape(char *buffer, size_t size, cprof_escape_for how, const char *text)
{
	static const enum cp_escape ways[] = {
		[CPROF_ESCAPE_TERMINAL] = CP_ESCAPE_TERMINAL,
		[CPROF_ESCAPE_JSON] = CP_ESCAPE_JSON,
		[CPROF_ESCAPE_XML] = CP_ESCAPE_XML,
		[CPROF_ESCAPE_FOLDED] = CP_ESCAPE_FOLDED,
	};
	struct cp_buf out = { 0 };

	if (text && (unsigned)how < sizeof(ways) / sizeof(ways[0]))
		cp_escape(&out, ways[how], text, strlen(text));
	return hand_over(&out, buffer, size);
}

size_t cprof_value_format(char *buffer, size_t size, const cprof_value *value)
{
	struct cp_buf out = { 0 };

	if (value)
		cp_value_print(&out, value, NULL);
	return hand_over(&out, buffer, size);
}

size_t cprof_value_format_lacks(char *buffer, size_t size, const cprof_value *value)
{
	struct cp_buf out = { 0 };

	if (value)
		cp_value_json_lacks(&out, value);
	return hand_over(&out, buffer, size);
}

size_t cprof_value_format_json(char *buffer, size_t size, const cprof_value *value)
{
	struct cp_buf out = { 0 };

	if (value)
		cp_value_json(&out, value);
	return hand_over(&out, buffer, size);
}
