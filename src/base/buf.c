/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

bool cp_buf_reserve(struct cp_buf *buf, size_t more)
{
	if (buf->failed || more > SIZE_MAX / 2 - buf->size ||
	    (buf->size + more + 1 > buf->capacity &&
	     !cp_vec_grow((void **)&buf->bytes, &buf->capacity, buf->size + more + 1, 1))) {
		buf->failed = true;
		return false;
	}
	return true;
}

static void fixed(struct cp_buf *buf, uint64_t value, size_t size)
{
	uint8_t bytes[8];
	size_t i;

	for (i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	cp_buf_add(buf, bytes, size);
}

void cp_buf_u32(struct cp_buf *buf, uint32_t value)
{
	fixed(buf, value, 4);
}

void cp_buf_u64(struct cp_buf *buf, uint64_t value)
{
	fixed(buf, value, 8);
}

void cp_buf_uleb(struct cp_buf *buf, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
		n++;
	} while (value);
	cp_buf_add(buf, bytes, n);
}

void cp_buf_sleb(struct cp_buf *buf, int64_t value)
{
	uint8_t bytes[10], byte;
	size_t n = 0;
	bool more;

	do {
		byte = (uint8_t)(value & 0x7f);
		value >>= 7; /* arithmetic, as every compiler we build with */
		more = !((value == 0 && !(byte & 0x40)) || (value == -1 && (byte & 0x40)));
		bytes[n++] = (uint8_t)(byte | (more ? 0x80 : 0));
	} while (more);
	cp_buf_add(buf, bytes, n);
}

void cp_buf_fill(struct cp_buf *buf, char fill, size_t count)
{
	char *to = cp_buf_take(buf, count);

	if (to)
		memset(to, fill, count);
}

/* Writes the digits before `end`; where they begin. */
static char *put_digits(char *end, uint64_t value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	for (; value >= 100; value /= 100)
		memcpy(end -= 2, pairs + 2 * (value % 100), 2);
	if (value >= 10)
		memcpy(end -= 2, pairs + 2 * value, 2);
	else
		*--end = (char)('0' + value);
	return end;
}

void cp_buf_decimal_fill(struct cp_buf *buf, uint64_t value, size_t width, char fill)
{
	char digits[20], *end = digits + sizeof(digits), *p = put_digits(end, value), *to;
	size_t count = (size_t)(end - p), before = count < width ? width - count : 0;

	to = cp_buf_take(buf, before + count);
	if (!to)
		return;
	memset(to, fill, before);
	memcpy(to + before, p, count);
}

void cp_buf_decimal(struct cp_buf *buf, uint64_t value)
{
	char digits[20], *end = digits + sizeof(digits), *p = put_digits(end, value);

	cp_buf_add(buf, p, (size_t)(end - p));
}

void cp_buf_signed(struct cp_buf *buf, int64_t value)
{
	char digits[21], *end = digits + sizeof(digits), *p;

	p = put_digits(end, value < 0 ? -(uint64_t)value : (uint64_t)value);
	if (value < 0)
		*--p = '-';
	cp_buf_add(buf, p, (size_t)(end - p));
}

void cp_buf_hex(struct cp_buf *buf, uint64_t value)
{
	size_t size = value ? (67u - (unsigned)__builtin_clzll(value)) / 4 : 1;
	char *to = cp_buf_take(buf, size);

	for (; to && size; value >>= 4)
		to[--size] = "0123456789abcdef"[value & 15];
}

void cp_buf_printf(struct cp_buf *buf, const char *format, ...)
{
	va_list ap, again;
	size_t room;
	int n;

	if (!cp_buf_reserve(buf, 32)) /* enough for most, so that most format once */
		return;
	room = buf->capacity - buf->size;
	va_start(ap, format);
	va_copy(again, ap);
	n = vsnprintf(buf->bytes + buf->size, room, format, ap);
	if (n < 0)
		buf->failed = true;
	else if ((size_t)n < room || cp_buf_reserve(buf, (size_t)n)) {
		if ((size_t)n >= room)
			vsnprintf(buf->bytes + buf->size, (size_t)n + 1, format, again);
		buf->size += (size_t)n;
	}
	if (buf->failed)
		buf->bytes[buf->size] = 0;
	va_end(again);
	va_end(ap);
}

void cp_buf_clear(struct cp_buf *buf)
{
	buf->size = 0;
	if (buf->bytes)
		buf->bytes[0] = 0;
}

void cp_buf_free(struct cp_buf *buf)
{
	free(buf->bytes);
	*buf = (struct cp_buf){ 0 };
}
