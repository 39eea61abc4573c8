/* SPDX-License-Identifier: MIT
 *
 * Reading bytes that someone else wrote: a cursor that never leaves its
 * bounds. After a read beyond the end `bad` is set and stays set, every read
 * answers 0, and the position no longer moves; so a parser may read a whole
 * record and check `bad` once.
 */
#ifndef CP_BASE_CURSOR_H
#define CP_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline struct cp_cursor cp_cursor(const void *bytes, size_t size)
{
	return (struct cp_cursor){ bytes, (const uint8_t *)bytes + size, false };
}

static inline size_t cp_cursor_left(const struct cp_cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* `size` bytes in place, or NULL when there are not that many. */
const void *cp_cursor_bytes(struct cp_cursor *c, size_t size);
static inline uint8_t cp_cursor_u8(struct cp_cursor *c)
{
	if (!c->bad && c->at < c->end)
		return *c->at++;
	c->bad = true;
	return 0;
}
uint16_t cp_cursor_u16(struct cp_cursor *c); /* all little-endian */
uint32_t cp_cursor_u32(struct cp_cursor *c);
uint64_t cp_cursor_u64(struct cp_cursor *c);
uint64_t cp_cursor_uleb_long(struct cp_cursor *c);
/* LEB128; over 64 bits: bad */
static inline uint64_t cp_cursor_uleb(struct cp_cursor *c)
{
	if (!c->bad && c->at < c->end && *c->at < 0x80)
		return *c->at++;
	return cp_cursor_uleb_long(c);
}
int64_t cp_cursor_sleb(struct cp_cursor *c);
/* A NUL-terminated string in place; NULL and bad without a NUL. */
const char *cp_cursor_string(struct cp_cursor *c);

#endif
