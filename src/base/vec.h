/* SPDX-License-Identifier: MIT
 *
 * Growing arrays. CP_VEC(int) v = {0}; then cp_vec_push(&v, 3), v.items[i],
 * v.count; free with cp_vec_free(&v). Growing invalidates pointers into items.
 */
#ifndef CP_BASE_VEC_H
#define CP_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CP_VEC(type) \
	struct { \
		type *items; \
		size_t count; \
		size_t capacity; \
	}

/* Makes room for `want` items of `size` bytes; false without memory, and then
 * nothing has changed. Used by the macros below. */
bool cp_vec_grow(void **items, size_t *capacity, size_t want, size_t size);

#define cp_vec_reserve(v, n) \
	((n) <= (v)->capacity || \
	 cp_vec_grow((void **)&(v)->items, &(v)->capacity, (n), sizeof(*(v)->items)))

/* Appends; false without memory. */
#define cp_vec_push(v, ...) \
	(cp_vec_reserve((v), (v)->count + 1) && (((v)->items[(v)->count++] = (__VA_ARGS__)), true))

/* Puts one before the item number `i`, which may be the count; false without memory. */
#define cp_vec_insert(v, i, ...) \
	(cp_vec_reserve((v), (v)->count + 1) && \
	 (cp_vec_open((v)->items, (v)->count++, (i), sizeof(*(v)->items)), \
	  ((v)->items[i] = (__VA_ARGS__)), true))

/* Takes out the item number `i`; the others stay in order. */
#define cp_vec_remove(v, i) cp_vec_close((v)->items, --(v)->count, (i), sizeof(*(v)->items))

/* The two above: move `count` items, less those before `at`, up or down by one. */
static inline void cp_vec_open(void *items, size_t count, size_t at, size_t size)
{
	char *from = (char *)items + at * size;

	memmove(from + size, from, (count - at) * size);
}

static inline void cp_vec_close(void *items, size_t count, size_t at, size_t size)
{
	char *to = (char *)items + at * size;

	memmove(to, to + size, (count - at) * size);
}

#define cp_vec_free(v) \
	do { \
		free((v)->items); \
		(v)->items = NULL; \
		(v)->count = (v)->capacity = 0; \
	} while (0)

/* An empty array may be a null pointer, which nothing may be added to. */
#define cp_vec_for_each(v, it) \
	for ((it) = (v)->items; (v)->count && (it) < (v)->items + (v)->count; (it)++)

/* qsort(), but of nothing, too, and not of what is in order already: what follows
 * the source, or the code, mostly is. */
void cp_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));
#define cp_vec_sort(v, compare) cp_sort((v)->items, (v)->count, sizeof(*(v)->items), (compare))

/* The number of items before the first for which `before`, an expression over `it`,
 * does not hold. It holds for none behind that one (binary search). */
#define cp_vec_partition(v, it, before) \
	__extension__({ \
		size_t low_ = 0, high_ = (v)->count; \
\
		while (low_ < high_) { \
			size_t middle_ = low_ + (high_ - low_) / 2; \
			const __typeof__(*(v)->items) *it = &(v)->items[middle_]; \
\
			if (before) \
				low_ = middle_ + 1; \
			else \
				high_ = middle_; \
		} \
		low_; \
	})

#endif
