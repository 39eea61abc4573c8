/* SPDX-License-Identifier: MIT */
#include "report/events/durations.h"

bool cp_durations_add(struct cp_durations *d, struct cp_net_time one, uint64_t times)
{
	d->count += times;
	return cp_tally_add(one.at_most ? &d->bound : &d->known, one.ns, times);
}

bool cp_durations_sort(struct cp_durations *d)
{
	size_t a = 0, b = 0;
	uint64_t upto = 0;

	cp_tally_sort(&d->known);
	cp_tally_sort(&d->bound);
	if (!cp_vec_reserve(&d->items, d->known.distinct + d->bound.distinct))
		return false;
	while (a < d->known.distinct || b < d->bound.distinct) {
		bool bound = a == d->known.distinct ||
			     (b < d->bound.distinct &&
			      d->bound.slots[b].value <= d->known.slots[a].value);
		const struct cp_tallied *next = bound ? &d->bound.slots[b++] : &d->known.slots[a++];

		upto += next->count;
		d->items.items[d->items.count++] =
			(struct cp_duration){ { next->value, bound }, upto };
	}
	cp_tally_free(&d->known);
	cp_tally_free(&d->bound);
	return true;
}

struct cp_net_time cp_durations_at(const struct cp_durations *d, uint64_t rank)
{
	return d->items.items[cp_vec_partition(&d->items, it, it->upto <= rank)].time;
}

void cp_durations_deinit(struct cp_durations *d)
{
	cp_tally_free(&d->known);
	cp_tally_free(&d->bound);
	cp_vec_free(&d->items);
}
