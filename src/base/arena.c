/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ((size_t)32 << 10)
#define FIRST ((size_t)1 << 10) /* most arenas stay small */
#define ALIGN ((size_t)16)

struct cp_arena_block {
	struct cp_arena_block *next;
	size_t size; /* of bytes */
	_Alignas(16) uint8_t bytes[];
};

void *cp_arena_alloc(struct cp_arena *arena, size_t size)
{
	struct cp_arena_block *block;
	size_t take, room;
	void *got;

	if (size > SIZE_MAX / 4)
		return NULL;
	take = (size ? size + ALIGN - 1 : ALIGN) / ALIGN * ALIGN;
	if (take > arena->left) {
		room = arena->total ? BLOCK : FIRST;
		room = take > room ? take : room;
		block = malloc(sizeof(*block) + room);
		if (!block)
			return NULL;
		*block = (struct cp_arena_block){ arena->blocks, room };
		arena->blocks = block;
		arena->left = room;
		arena->total += room;
	}
	block = arena->blocks;
	got = block->bytes + block->size - arena->left;
	arena->left -= take;
	return memset(got, 0, take);
}

void *cp_arena_array(struct cp_arena *arena, size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? NULL : cp_arena_alloc(arena, bytes);
}

char *cp_arena_copy(struct cp_arena *arena, const void *bytes, size_t size)
{
	char *copy = size < SIZE_MAX ? cp_arena_alloc(arena, size + 1) : NULL;

	if (copy && size)
		memcpy(copy, bytes, size);
	return copy;
}

void cp_arena_reset(struct cp_arena *arena)
{
	struct cp_arena_block *keep = NULL, *next;

	for (; arena->blocks; arena->blocks = next) {
		next = arena->blocks->next;
		if (!keep && arena->blocks->size <= BLOCK)
			keep = arena->blocks;
		else
			free(arena->blocks);
	}
	arena->blocks = keep;
	arena->left = arena->total = 0;
	if (keep) {
		keep->next = NULL;
		arena->left = arena->total = keep->size;
	}
}

void cp_arena_free(struct cp_arena *arena)
{
	struct cp_arena_block *next;

	for (; arena->blocks; arena->blocks = next) {
		next = arena->blocks->next;
		free(arena->blocks);
	}
	*arena = (struct cp_arena){ 0 };
}
