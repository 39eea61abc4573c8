/* SPDX-License-Identifier: MIT */
#include "record/sample_sums.h"

bool cp_sample_sums_add(struct cp_sample_sums *s, const struct cp_record_sample_sum *more)
{
	uint64_t key = (uint64_t)more->thread << 32 | more->stack, *at;
	struct cp_map *places;

	if (more->flags >= CP_SAMPLE_SUMS_FLAGS)
		return false;
	places = &s->places[more->flags];
	at = cp_map_get(places, key);
	if (at) {
		s->rows.items[*at].count += more->count;
		s->rows.items[*at].weight_ns += more->weight_ns;
		return true;
	}
	return cp_map_put(places, key, s->rows.count) && cp_vec_push(&s->rows, *more);
}

void cp_sample_sums_free(struct cp_sample_sums *s)
{
	size_t i;

	for (i = 0; i < CP_SAMPLE_SUMS_FLAGS; i++)
		cp_map_free(&s->places[i]);
	cp_vec_free(&s->rows);
}
