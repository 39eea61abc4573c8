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
