/* SPDX-License-Identifier: MIT
 *
 * A growing byte buffer, for building records, tables and files. A failed
 * allocation sets `failed`, after which nothing more is appended: check once.
 */
#ifndef CP_BASE_BUF_H
#define CP_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cp_buf {
	char *bytes; /* owned; a NUL follows the last byte when not NULL */
	size_t size, capacity;
	bool failed;
};

/* Makes room for so many bytes more, and a NUL; false without memory. */
bool cp_buf_reserve(struct cp_buf *buf, size_t more);

static inline bool cp_buf_has_room(struct cp_buf *buf, size_t more)
{
	return (!buf->failed && more < buf->capacity - buf->size) || cp_buf_reserve(buf, more);
}

static inline void cp_buf_add(struct cp_buf *buf, const void *bytes, size_t size)
{
	if (!cp_buf_has_room(buf, size))
		return;
	if (size)
		memcpy(buf->bytes + buf->size, bytes, size);
	buf->size += size;
	buf->bytes[buf->size] = 0;
}

static inline void cp_buf_u8(struct cp_buf *buf, uint8_t value)
{
	if (!cp_buf_has_room(buf, 1))
		return;
	buf->bytes[buf->size++] = (char)value;
	buf->bytes[buf->size] = 0;
}

static inline void cp_buf_str(struct cp_buf *buf, const char *text)
{
	cp_buf_add(buf, text, strlen(text));
}

/* Appends `size` bytes that are the caller's to write, all of them, before anything else
 * is appended; NULL without memory. */
static inline char *cp_buf_take(struct cp_buf *buf, size_t size)
{
	if (!cp_buf_has_room(buf, size))
		return NULL;
	buf->size += size;
	buf->bytes[buf->size] = 0;
	return buf->bytes + buf->size - size;
}

void cp_buf_u32(struct cp_buf *buf, uint32_t value); /* little-endian */
void cp_buf_u64(struct cp_buf *buf, uint64_t value);
void cp_buf_uleb(struct cp_buf *buf, uint64_t value);
void cp_buf_sleb(struct cp_buf *buf, int64_t value);
void cp_buf_decimal(struct cp_buf *buf, uint64_t value); /* a tenth of printf's time */
void cp_buf_signed(struct cp_buf *buf, int64_t value); /* likewise */
void cp_buf_hex(struct cp_buf *buf, uint64_t value); /* likewise; without 0x */
/* With `fill` before it, so that it takes `width` bytes or more. */
void cp_buf_decimal_fill(struct cp_buf *buf, uint64_t value, size_t width, char fill);
void cp_buf_fill(struct cp_buf *buf, char fill, size_t count);
void cp_buf_printf(struct cp_buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Forgets what is behind the first `size` bytes, of which there are so many or more. */
static inline void cp_buf_cut(struct cp_buf *buf, size_t size)
{
	buf->size = size;
	if (buf->bytes)
		buf->bytes[size] = 0;
}

/* Forgets the content, keeps the memory. */
void cp_buf_clear(struct cp_buf *buf);
void cp_buf_free(struct cp_buf *buf);

#endif
