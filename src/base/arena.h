/* SPDX-License-Identifier: MIT
 *
 * Memory that is freed, or used again, all at once. Starts as an all-zero
 * struct.
 */
#ifndef CP_BASE_ARENA_H
#define CP_BASE_ARENA_H

#include <stddef.h>

struct cp_arena {
	struct cp_arena_block *blocks; /* the newest first */
	size_t left; /* bytes at the end of the newest */
	size_t total; /* bytes of all blocks */
};

/* Zeroed, aligned for anything; NULL without memory. */
void *cp_arena_alloc(struct cp_arena *arena, size_t size);
/* `count` items of `size` bytes; NULL also when that is absurd. */
void *cp_arena_array(struct cp_arena *arena, size_t count, size_t size);
/* A copy with a NUL behind it. */
char *cp_arena_copy(struct cp_arena *arena, const void *bytes, size_t size);
/* Forgets everything; keeps one block for what comes. */
void cp_arena_reset(struct cp_arena *arena);
void cp_arena_free(struct cp_arena *arena);

#endif
