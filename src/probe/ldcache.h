/* SPDX-License-Identifier: MIT
 *
 * /etc/ld.so.cache: see ldcache.c.
 */
#ifndef CP_PROBE_LDCACHE_H
#define CP_PROBE_LDCACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The path that /etc/ld.so.cache has for a library of the machine;
 * malloc()ed, or NULL. The cache is read at the first call. */
struct cp_ldcache {
	uint8_t *bytes; /* owned */
	size_t size;
	bool tried;
};
char *cp_ldcache_find(struct cp_ldcache *cache, const char *name, uint16_t machine);
void cp_ldcache_free(struct cp_ldcache *cache);

#endif
