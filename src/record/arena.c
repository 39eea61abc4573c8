/* SPDX-License-Identifier: MIT */
#include "record/arena.h"

#include <stdint.h>
#include <string.h>

#define BLOCK ((size_t)64 << 10)
#define ALIGN ((size_t)16)

void *cp_record_alloc(struct cp_record_arena *arena, size_t size)
{
	size_t take, block;
	void *got;

	if (size > SIZE_MAX / 2)
		return NULL;
	take = (size ? size + ALIGN - 1 : ALIGN) / ALIGN * ALIGN;
	if (take > arena->left) {
		block = take > BLOCK / 4 ? take : BLOCK;
		got = malloc(block ? block : ALIGN);
		if (!got || !cp_vec_push(&arena->blocks, got)) {
			free(got);
			return NULL;
		}
		if (block != BLOCK)
			return got; /* a block of its own; go on filling the last one */
		arena->at = got;
		arena->left = block;
	}
	got = arena->at;
	arena->at += take;
	arena->left -= take;
	return got;
}

char *cp_record_copy(struct cp_record_arena *arena, const void *bytes, size_t size)
{
	char *copy = cp_record_alloc(arena, size + 1);

	if (!copy)
		return NULL;
	if (size)
		memcpy(copy, bytes, size);
	copy[size] = 0;
	return copy;
}

void cp_record_arena_free(struct cp_record_arena *arena)
{
	size_t i;

	for (i = 0; i < arena->blocks.count; i++)
		free(arena->blocks.items[i]);
	cp_vec_free(&arena->blocks);
	arena->at = NULL;
	arena->left = 0;
}
