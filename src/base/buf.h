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

struct cp_buf {
	char *bytes; /* owned; a NUL follows the last byte when not NULL */
	size_t size, capacity;
	bool failed;
};

void cp_buf_add(struct cp_buf *buf, const void *bytes, size_t size);
void cp_buf_u8(struct cp_buf *buf, uint8_t value);
void cp_buf_u32(struct cp_buf *buf, uint32_t value); /* little-endian */
void cp_buf_u64(struct cp_buf *buf, uint64_t value);
void cp_buf_uleb(struct cp_buf *buf, uint64_t value);
void cp_buf_sleb(struct cp_buf *buf, int64_t value);
void cp_buf_str(struct cp_buf *buf, const char *text);
void cp_buf_decimal(struct cp_buf *buf, uint64_t value); /* a tenth of printf's time */
/* With `fill` before it, so that it takes `width` bytes or more. */
void cp_buf_decimal_fill(struct cp_buf *buf, uint64_t value, size_t width, char fill);
void cp_buf_fill(struct cp_buf *buf, char fill, size_t count);
/* Appends `size` bytes that are the caller's to write, all of them, before anything else
 * is appended; NULL without memory. */
char *cp_buf_take(struct cp_buf *buf, size_t size);
void cp_buf_printf(struct cp_buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Forgets the content, keeps the memory. */
void cp_buf_clear(struct cp_buf *buf);
void cp_buf_free(struct cp_buf *buf);

#endif
