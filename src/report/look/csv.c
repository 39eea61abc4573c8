/* SPDX-License-Identifier: MIT */
#include "report/look/csv.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

static void begin(struct cp_buf *out)
{
	if (out->size && out->bytes[out->size - 1] != '\n')
		cp_buf_u8(out, ',');
}

void cp_csv_text(struct cp_buf *out, const char *raw)
{
	struct cp_buf text CP_CLEANUP(cp_buf_free) = { 0 };
	const char *at;

	begin(out);
	cp_escape(&text, CP_ESCAPE_TERMINAL, raw, strlen(raw));
	at = text.bytes ? text.bytes : "";
	out->failed |= text.failed;
	/* A first field that is empty would not be told from no field at all. */
	if (*at && !strpbrk(at, ",\"")) {
		cp_buf_str(out, at);
		return;
	}
	cp_buf_u8(out, '"');
	for (; *at; at++)
		cp_buf_str(out, *at == '"' ? "\"\"" : (const char[]){ *at, 0 });
	cp_buf_u8(out, '"');
}

void cp_csv_u64(struct cp_buf *out, uint64_t value)
{
	begin(out);
	cp_buf_decimal(out, value);
}

void cp_csv_end(struct cp_buf *out)
{
	cp_buf_u8(out, '\n');
}
