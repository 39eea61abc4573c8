/* SPDX-License-Identifier: MIT
 *
 * /etc/ld.so.cache, as glibc has written it since 2.2 (the old format may
 * stand before it):
 *
 *     "glibc-ld.so.cache1.1" | number of entries | size of strings | ... (48 bytes)
 *     entries of 24 bytes: flags, name, path (offsets from the beginning), ...
 *     strings
 */
#include "probe/ldcache.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/file.h"

#define MAX_CACHE (16u << 20)
#define MAGIC "glibc-ld.so.cache1.1"
#define HEADER 48
#define ENTRY 24
#define FLAGS_X86_64 0x303u /* ELF of glibc, 64 bits */
#define FLAGS_AARCH64 0xa03u

static void load(struct cp_ldcache *cache)
{
	struct cp_buf file = { 0 };
	struct cp_error *err;
	const char *at = NULL;

	cache->tried = true;
	err = cp_file_read(AT_FDCWD, "/etc/ld.so.cache", MAX_CACHE, &file);
	if (!err && file.size)
		at = memmem(file.bytes, file.size, MAGIC, strlen(MAGIC));
	cp_error_free(err);
	if (at) {
		cache->size = file.size - (size_t)(at - file.bytes);
		cache->bytes = malloc(cache->size);
		if (cache->bytes)
			memcpy(cache->bytes, at, cache->size);
	}
	cp_buf_free(&file);
}

/* The string at an offset of the cache, or NULL. */
static const char *string_at(const struct cp_ldcache *cache, uint32_t offset)
{
	if (offset >= cache->size || !memchr(cache->bytes + offset, 0, cache->size - offset))
		return NULL;
	return (const char *)cache->bytes + offset;
}

char *cp_ldcache_find(struct cp_ldcache *cache, const char *name, uint16_t machine)
{
	uint32_t wanted = machine == EM_AARCH64 ? FLAGS_AARCH64 : FLAGS_X86_64;
	uint32_t count, flags, key, value, i;
	const char *text;
	struct cp_cursor c;

	if (!cache->tried)
		load(cache);
	if (!cache->bytes || cache->size < HEADER)
		return NULL;
	c = cp_cursor(cache->bytes, cache->size);
	cp_cursor_bytes(&c, strlen(MAGIC));
	count = cp_cursor_u32(&c);
	cp_cursor_bytes(&c, HEADER - strlen(MAGIC) - 4);
	for (i = 0; i < count && !c.bad; i++) {
		flags = cp_cursor_u32(&c);
		key = cp_cursor_u32(&c);
		value = cp_cursor_u32(&c);
		cp_cursor_bytes(&c, ENTRY - 12);
		text = flags == wanted && !c.bad ? string_at(cache, key) : NULL;
		if (!text || strcmp(text, name) != 0)
			continue;
		text = string_at(cache, value);
		return text ? strdup(text) : NULL;
	}
	return NULL;
}

void cp_ldcache_free(struct cp_ldcache *cache)
{
	free(cache->bytes);
	*cache = (struct cp_ldcache){ 0 };
}
