/* SPDX-License-Identifier: MIT
 *
 * Memory that is freed all at once: the strings of a recording.
 */
#ifndef CP_RECORD_ARENA_H
#define CP_RECORD_ARENA_H

#include <stddef.h>

#include "base/vec.h"

struct cp_record_arena {
	CP_VEC(void *) blocks;
	char *at;
	size_t left;
};

/* Uninitialised, aligned for anything; NULL without memory. */
void *cp_record_alloc(struct cp_record_arena *arena, size_t size);
/* A copy with a NUL behind it. */
char *cp_record_copy(struct cp_record_arena *arena, const void *bytes, size_t size);
void cp_record_arena_free(struct cp_record_arena *arena);

#endif
