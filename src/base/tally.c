/* SPDX-License-Identifier: MIT */
#include "base/tally.h"

#include <stdlib.h>

#include "base/map.h"

#define FIRST 64
#define NEAR_BITS 4 /* values so near each other stand side by side: times are */

static struct cp_tallied *place(struct cp_tallied *slots, size_t capacity, uint64_t value)
{
	size_t near = value & ((1u << NEAR_BITS) - 1);
	size_t i = (cp_hash_u64(value >> NEAR_BITS) << NEAR_BITS | near) & (capacity - 1);

	while (slots[i].count && slots[i].value != value)
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static bool grow(struct cp_tally *t)
{
	size_t capacity = t->capacity ? 2 * t->capacity : FIRST, i;
	struct cp_tallied *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return false;
	for (i = 0; i < t->capacity; i++)
		if (t->slots[i].count)
			*place(slots, capacity, t->slots[i].value) = t->slots[i];
	free(t->slots);
	t->slots = slots;
	t->capacity = capacity;
	return true;
}

bool cp_tally_add(struct cp_tally *t, uint64_t value, uint64_t times)
{
	struct cp_tallied *slot;

	if (2 * (t->distinct + 1) > t->capacity && !grow(t))
		return false;
	slot = place(t->slots, t->capacity, value);
	t->distinct += !slot->count;
	slot->value = value;
	slot->count += times;
	return true;
}

static int by_value(const void *va, const void *vb)
{
	const struct cp_tallied *a = va, *b = vb;

	return (a->value > b->value) - (a->value < b->value);
}

void cp_tally_sort(struct cp_tally *t)
{
	size_t n = 0, i;

	for (i = 0; i < t->capacity; i++)
		if (t->slots[i].count)
			t->slots[n++] = t->slots[i];
	if (n)
		qsort(t->slots, n, sizeof(*t->slots), by_value);
}

void cp_tally_free(struct cp_tally *t)
{
	free(t->slots);
	*t = (struct cp_tally){ 0 };
}
