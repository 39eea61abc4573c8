/* SPDX-License-Identifier: MIT */
#include "inspect/wide.h"

#include "base/buf.h"
#include "inspect/scalar.h"

static void put_utf8(struct cp_buf *to, uint32_t c)
{
	if (c < 0x80) {
		cp_buf_u8(to, (uint8_t)c);
		return;
	}
	if (c < 0x800) {
		cp_buf_u8(to, (uint8_t)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		cp_buf_u8(to, (uint8_t)(0xe0 | c >> 12));
		cp_buf_u8(to, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
	} else {
		cp_buf_u8(to, (uint8_t)(0xf0 | (c >> 18 & 7)));
		cp_buf_u8(to, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
		cp_buf_u8(to, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
	}
	cp_buf_u8(to, (uint8_t)(0x80 | (c & 0x3f)));
}

void cp_build_wide(struct cp_build *b, cprof_value *v, struct cp_bytes at, uint64_t unit,
		   uint64_t length)
{
	struct cp_buf text = { 0 };
	uint32_t c, high = 0;
	uint64_t i;

	for (i = 0; i + unit <= at.size && i / unit < length; i += unit) {
		c = (uint32_t)cp_build_number(at.at + i, unit);
		if (unit == 2 && c >= 0xd800 && c < 0xdc00) {
			high = c;
			continue;
		}
		if (unit == 2 && high && c >= 0xdc00 && c < 0xe000)
			c = 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00);
		put_utf8(&text, c < 0x110000 ? c : 0xfffd);
		high = 0;
	}
	v->kind = CPROF_VALUE_STRING;
	v->address = at.address;
	v->cut = at.size / unit < length;
	v->u.text.length = (uint32_t)text.size;
	v->u.text.bytes =
		cp_arena_copy(b->arena, text.bytes ? (const char *)text.bytes : "", text.size);
	if (!v->u.text.bytes || text.failed)
		cp_build_error(v, CPROF_VALUE_UNAVAILABLE, 0);
	cp_buf_free(&text);
}

uint64_t cp_wide_length(struct cp_bytes at, uint64_t unit, bool *ended_ret)
{
	uint64_t n = 0;

	while ((n + 1) * unit <= at.size && cp_build_number(at.at + n * unit, unit))
		n++;
	*ended_ret = (n + 1) * unit <= at.size;
	return n;
}
