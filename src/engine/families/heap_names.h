/* SPDX-License-Identifier: MIT
 *
 * Functions that allocate and free, by their names. Private to src/engine.
 */
#ifndef CP_ENGINE_FAMILIES_HEAP_NAMES_H
#define CP_ENGINE_FAMILIES_HEAP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MALLOC = 1, /* (size) */
	CALLOC, /* (count, size) */
	ALIGNED, /* (alignment, size) */
	POSIX, /* (where to, alignment, size) */
	REALLOC, /* (address, size) */
	REALLOCARRAY, /* (address, count, size) */
	RUST_REALLOC, /* (address, old size, alignment, size) */
	FREE, /* (address) */
	GOES_ON, /* where one of these jumped to */
	ROLES
};

/* The role of a function of an image (its file's name); 0: it has none. */
uint8_t engine_heap_role_of(const char *image, const char *name, size_t length, bool local);

#endif
