/* SPDX-License-Identifier: MIT */
#include "base/cursor.h"

#include <string.h>

const void *cp_cursor_bytes(struct cp_cursor *c, size_t size)
{
	const void *here = c->at;

	if (c->bad || size > cp_cursor_left(c)) {
		c->bad = true;
		return NULL;
	}
	c->at += size;
	return here;
}

static uint64_t fixed(struct cp_cursor *c, size_t size)
{
	const uint8_t *p = cp_cursor_bytes(c, size);
	uint64_t value = 0;

	while (p && size--)
		value = value << 8 | p[size];
	return value;
}

uint16_t cp_cursor_u16(struct cp_cursor *c)
{
	return (uint16_t)fixed(c, 2);
}

uint32_t cp_cursor_u32(struct cp_cursor *c)
{
	return (uint32_t)fixed(c, 4);
}

uint64_t cp_cursor_u64(struct cp_cursor *c)
{
	return fixed(c, 8);
}

/* Both LEB128 kinds; *sign_ret tells whether the last byte had its sign bit
 * set, *shift_ret how many bits were read. */
static uint64_t leb(struct cp_cursor *c, unsigned *shift_ret, bool *sign_ret)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	/* Where the longest would fit nothing has to be looked at for each byte. */
	if (!c->bad && cp_cursor_left(c) >= 10) {
		const uint8_t *at = c->at;

		do {
			byte = *at++;
			value |= (uint64_t)(byte & 0x7f) << shift;
			shift += 7;
		} while (byte & 0x80 && shift < 63);
		if (!(byte & 0x80)) {
			c->at = at;
			*shift_ret = shift;
			*sign_ret = byte & 0x40;
			return value;
		}
		value = shift = 0;
	}
	do {
		byte = cp_cursor_u8(c);
		if (c->bad || shift >= 70) {
			c->bad = true;
			return 0;
		}
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*shift_ret = shift;
	*sign_ret = byte & 0x40;
	return value;
}

uint64_t cp_cursor_uleb_long(struct cp_cursor *c)
{
	unsigned shift = 0;
	bool sign = false;

	return leb(c, &shift, &sign);
}

int64_t cp_cursor_sleb(struct cp_cursor *c)
{
	unsigned shift = 0;
	bool sign = false;
	uint64_t value = leb(c, &shift, &sign);

	if (sign && shift < 64)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

const char *cp_cursor_string(struct cp_cursor *c)
{
	const uint8_t *nul;
	const char *s = (const char *)c->at;

	nul = c->bad ? NULL : memchr(c->at, 0, cp_cursor_left(c));
	if (!nul) {
		c->bad = true;
		return NULL;
	}
	c->at = nul + 1;
	return s;
}
