/* SPDX-License-Identifier: MIT
 *
 * Two hash tables: 64-bit key to 64-bit value, and bytes to a dense number
 * (the interner behind every dictionary). Both are open-addressed and start
 * as all-zero structs.
 */
#ifndef CP_BASE_MAP_H
#define CP_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_map {
	struct cp_map_slot *slots;
	size_t capacity; /* a power of two, or 0 */
	size_t count; /* keys present */
	size_t used; /* slots not free: present or removed */
};

/* The value of a key; NULL when absent. The pointer is good until the next put. */
uint64_t *cp_map_get(const struct cp_map *map, uint64_t key);
/* Sets `key` to `value`; false without memory. */
bool cp_map_put(struct cp_map *map, uint64_t key, uint64_t value);
/* The same of a key that is known to be absent, without looking for it. */
bool cp_map_add(struct cp_map *map, uint64_t key, uint64_t value);
/* Makes room for `more` keys at once. False without memory. */
bool cp_map_reserve(struct cp_map *map, size_t more);
/* Removes a key. True when it was there. */
bool cp_map_remove(struct cp_map *map, uint64_t key);
/* The same of what cp_map_get() has found, just now: `value` is its answer. */
void cp_map_remove_found(struct cp_map *map, uint64_t *value);
/* Walks all entries: *cursor starts at 0; false at the end. Removing the
 * entry just returned is allowed, putting is not. */
bool cp_map_next(const struct cp_map *map, size_t *cursor, uint64_t *key_ret, uint64_t *value_ret);
void cp_map_clear(struct cp_map *map);
void cp_map_free(struct cp_map *map);

uint64_t cp_hash_bytes(const void *bytes, size_t size);
uint64_t cp_hash_u64(uint64_t value);

/* Numbers 0, 1, 2, ... for distinct byte strings. */
struct cp_interner {
	uint32_t *slots; /* number + 1, 0 is free */
	size_t capacity;
	struct cp_interned *items; /* by number */
	size_t count, items_capacity;
};

struct cp_interned {
	void *bytes; /* owned; a NUL follows the last byte */
	size_t size;
	uint64_t hash;
};

/* The number of `bytes`, new or old, in *id_ret; *fresh_ret (may be NULL)
 * tells whether it was new. False without memory. */
bool cp_intern(struct cp_interner *in, const void *bytes, size_t size, uint32_t *id_ret,
	       bool *fresh_ret);
/* The number of `bytes`, if they are there. */
bool cp_interned(const struct cp_interner *in, const void *bytes, size_t size, uint32_t *id_ret);
void cp_interner_free(struct cp_interner *in);

#endif
