/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { SLOT_FREE, SLOT_FULL, SLOT_REMOVED };

struct cp_map_slot {
	uint64_t key, value;
	uint8_t state;
};

uint64_t cp_hash_u64(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

uint64_t cp_hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *p = bytes;
	uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ size, w;

	for (; size >= 8; p += 8, size -= 8) {
		memcpy(&w, p, 8);
		h = cp_hash_u64(h ^ w) + UINT64_C(0x9e3779b97f4a7c15);
	}
	w = 0;
	if (size)
		memcpy(&w, p, size);
	return cp_hash_u64(h ^ w);
}

static struct cp_map_slot *find(const struct cp_map *map, uint64_t key)
{
	size_t i;

	if (!map->capacity)
		return NULL;
	i = cp_hash_u64(key) & (map->capacity - 1);
	while (map->slots[i].state != SLOT_FREE) {
		if (map->slots[i].state == SLOT_FULL && map->slots[i].key == key)
			return &map->slots[i];
		i = (i + 1) & (map->capacity - 1);
	}
	return NULL;
}

uint64_t *cp_map_get(const struct cp_map *map, uint64_t key)
{
	struct cp_map_slot *slot = find(map, key);

	return slot ? &slot->value : NULL;
}

static void place(struct cp_map *map, uint64_t key, uint64_t value)
{
	size_t i = cp_hash_u64(key) & (map->capacity - 1);

	while (map->slots[i].state == SLOT_FULL)
		i = (i + 1) & (map->capacity - 1);
	if (map->slots[i].state == SLOT_FREE)
		map->used++;
	map->slots[i] = (struct cp_map_slot){ key, value, SLOT_FULL };
	map->count++;
}

static bool rehash(struct cp_map *map, size_t more)
{
	struct cp_map bigger = { .capacity = 16 };
	size_t i;

	while (bigger.capacity < map->count * 4 || bigger.capacity < (map->count + more) * 2)
		bigger.capacity *= 2;
	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (i = 0; i < map->capacity; i++) {
		if (map->slots[i].state == SLOT_FULL)
			place(&bigger, map->slots[i].key, map->slots[i].value);
	}
	free(map->slots);
	*map = bigger;
	return true;
}

bool cp_map_reserve(struct cp_map *map, size_t more)
{
	return (map->used + more + 1) * 4 <= map->capacity * 3 || rehash(map, more);
}

bool cp_map_put(struct cp_map *map, uint64_t key, uint64_t value)
{
	struct cp_map_slot *slot = find(map, key);

	if (!slot)
		return cp_map_add(map, key, value);
	slot->value = value;
	return true;
}

bool cp_map_add(struct cp_map *map, uint64_t key, uint64_t value)
{
	if ((map->used + 1) * 4 > map->capacity * 3 && !rehash(map, 0))
		return false;
	place(map, key, value);
	return true;
}

/* A slot that nobody looks beyond need not be kept: so a map that things go in and out of all
 * the time does not fill up with what is gone. Others stay where they are. */
static void free_removed(struct cp_map *map, size_t i)
{
	size_t mask = map->capacity - 1;

	if (map->slots[(i + 1) & mask].state != SLOT_FREE)
		return;
	for (; map->slots[i].state == SLOT_REMOVED; i = (i - 1) & mask) {
		map->slots[i].state = SLOT_FREE;
		map->used--;
	}
}

static void remove_slot(struct cp_map *map, struct cp_map_slot *slot)
{
	slot->state = SLOT_REMOVED;
	map->count--;
	free_removed(map, (size_t)(slot - map->slots));
}

bool cp_map_remove(struct cp_map *map, uint64_t key)
{
	struct cp_map_slot *slot = find(map, key);

	if (!slot)
		return false;
	remove_slot(map, slot);
	return true;
}

void cp_map_remove_found(struct cp_map *map, uint64_t *value)
{
	remove_slot(map, (void *)((char *)value - offsetof(struct cp_map_slot, value)));
}

bool cp_map_next(const struct cp_map *map, size_t *cursor, uint64_t *key_ret, uint64_t *value_ret)
{
	for (; *cursor < map->capacity; (*cursor)++) {
		const struct cp_map_slot *slot = &map->slots[*cursor];

		if (slot->state != SLOT_FULL)
			continue;
		(*cursor)++;
		*key_ret = slot->key;
		*value_ret = slot->value;
		return true;
	}
	return false;
}

void cp_map_clear(struct cp_map *map)
{
	if (map->slots)
		memset(map->slots, 0, map->capacity * sizeof(*map->slots));
	map->count = map->used = 0;
}

void cp_map_free(struct cp_map *map)
{
	free(map->slots);
	*map = (struct cp_map){ 0 };
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word_at(const unsigned char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* Takes a third of the time of cp_hash_bytes(); nobody keeps it. */
static uint64_t intern_hash(const void *bytes, size_t size)
{
	const uint64_t one = UINT64_C(0x9e3779b97f4a7c15), other = UINT64_C(0xd1b54a32d192ed03);
	const unsigned char *p = bytes;
	uint64_t h = one ^ size, w[2] = { 0 };
	size_t left = size;

	for (; left > 16; p += 16, left -= 16)
		h = mix(word_at(p) ^ one, word_at(p + 8) ^ h) + other;
	if (left >= 8) {
		w[0] = word_at(p);
		w[1] = word_at(p + left - 8);
	} else if (left) {
		memcpy(w, p, left);
	}
	return mix(mix(w[0] ^ one, w[1] ^ h) + other, one);
}

static uint32_t *intern_slot(const struct cp_interner *in, uint64_t hash, const void *bytes,
			     size_t size)
{
	size_t i = hash & (in->capacity - 1);

	for (; in->slots[i]; i = (i + 1) & (in->capacity - 1)) {
		const struct cp_interned *it = &in->items[in->slots[i] - 1];

		if (it->hash == hash && it->size == size && !memcmp(it->bytes, bytes, size))
			break;
	}
	return &in->slots[i];
}

static bool intern_rehash(struct cp_interner *in)
{
	size_t capacity = in->capacity ? in->capacity * 2 : 64, i, k;
	uint32_t *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return false;
	for (i = 0; i < in->count; i++) {
		k = in->items[i].hash & (capacity - 1);
		while (slots[k])
			k = (k + 1) & (capacity - 1);
		slots[k] = (uint32_t)i + 1;
	}
	free(in->slots);
	in->slots = slots;
	in->capacity = capacity;
	return true;
}

bool cp_intern(struct cp_interner *in, const void *bytes, size_t size, uint32_t *id_ret,
	       bool *fresh_ret)
{
	uint64_t hash = intern_hash(bytes, size);
	uint32_t *slot;
	char *copy;

	if ((in->count + 1) * 2 > in->capacity && !intern_rehash(in))
		return false;
	slot = intern_slot(in, hash, bytes, size);
	if (fresh_ret)
		*fresh_ret = !*slot;
	if (*slot) {
		*id_ret = *slot - 1;
		return true;
	}
	if (in->count >= in->items_capacity &&
	    !cp_vec_grow((void **)&in->items, &in->items_capacity, in->count + 1,
			 sizeof(*in->items)))
		return false;
	copy = malloc(size + 1);
	if (!copy)
		return false;
	if (size)
		memcpy(copy, bytes, size);
	copy[size] = 0;
	in->items[in->count] = (struct cp_interned){ copy, size, hash };
	*slot = (uint32_t)++in->count;
	*id_ret = *slot - 1;
	return true;
}

bool cp_interned(const struct cp_interner *in, const void *bytes, size_t size, uint32_t *id_ret)
{
	const uint32_t *slot =
		in->capacity ? intern_slot(in, intern_hash(bytes, size), bytes, size) : NULL;

	if (!slot || !*slot)
		return false;
	*id_ret = *slot - 1;
	return true;
}

void cp_interner_free(struct cp_interner *in)
{
	size_t i;

	for (i = 0; i < in->count; i++)
		free(in->items[i].bytes);
	free(in->items);
	free(in->slots);
	*in = (struct cp_interner){ 0 };
}
