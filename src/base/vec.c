/* SPDX-License-Identifier: MIT */
#include "base/vec.h"

#include <stdint.h>

bool cp_vec_grow(void **items, size_t *capacity, size_t want, size_t size)
{
	size_t n = *capacity ? *capacity : 8;
	void *grown;

	if (want <= *capacity)
		return true;
	while (n < want) {
		if (n > SIZE_MAX / 2)
			return false;
		n *= 2;
	}
	if (size && n > SIZE_MAX / size)
		return false;
	grown = realloc(*items, n * size);
	if (!grown)
		return false;
	*items = grown;
	*capacity = n;
	return true;
}

void cp_sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	const char *at = items;
	size_t i;

	for (i = 1; i < count && compare(at, at + size) <= 0; i++)
		at += size;
	if (i < count)
		qsort(items, count, size, compare);
}
