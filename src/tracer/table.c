/* SPDX-License-Identifier: MIT
 *
 * The table of sites: found by address, through a hash of numbers.
 *
 *     address ─hash─► index: number of a site ─► sites ─next─► another one there
 *
 * Processes that were forked share the table, as they share pages, until one of
 * them gets other sites; what differs (armed or not, hits) is each one's own.
 */
#include <stdlib.h>
#include <string.h>

#include "tracer/space.h"

#define FREE 0u /* else number + 1 */
#define REMOVED UINT32_MAX

struct site_table *table_create(void)
{
	struct site_table *t = calloc(1, sizeof(*t));

	if (t)
		*t = (struct site_table){ .users = 1, .free = SITE_NONE };
	return t;
}

static void free_area(struct area *area)
{
	free(area->owners);
	free(area->records);
}

void table_release(struct site_table *t)
{
	size_t i;

	if (!t || --t->users)
		return;
	for (i = 0; i < t->areas.count; i++)
		free_area(&t->areas.items[i]);
	cp_vec_free(&t->areas);
	cp_vec_free(&t->sites);
	cp_vec_free(&t->fetches);
	free(t->index);
	free(t);
}

/* ---- sharing ---- */

#define COPY_VEC(to, from) \
	(!(from)->count || \
	 (cp_vec_reserve((to), (from)->count) && \
	  (memcpy((to)->items, (from)->items, (from)->count * sizeof(*(to)->items)), \
	   (to)->count = (from)->count, true)))

static void *copy_list(const void *from, size_t size)
{
	void *to = malloc(size + 1);

	return to ? memcpy(to, from, size) : NULL;
}

static bool copy_areas(struct site_table *to, const struct site_table *from)
{
	size_t i;

	for (i = 0; i < from->areas.count; i++) {
		struct area area = from->areas.items[i];

		area.owners = copy_list(area.owners, area.slot_count * sizeof(*area.owners));
		area.records = copy_list(area.records, area.slot_count * sizeof(*area.records));
		if (!area.owners || !area.records || !cp_vec_push(&to->areas, area)) {
			free_area(&area);
			return false;
		}
	}
	return true;
}

static bool copy_index(struct site_table *to, const struct site_table *from)
{
	if (!from->index_size)
		return true;
	to->index = malloc(from->index_size * sizeof(*to->index));
	if (!to->index)
		return false;
	memcpy(to->index, from->index, from->index_size * sizeof(*to->index));
	to->index_size = from->index_size;
	to->indexed = from->indexed;
	return true;
}

bool table_own(struct space *space)
{
	struct site_table *from = space->table, *to;

	if (from->users == 1)
		return true;
	to = table_create();
	if (!to)
		return false;
	to->free = from->free;
	if (!COPY_VEC(&to->sites, &from->sites) || !COPY_VEC(&to->fetches, &from->fetches) ||
	    !copy_areas(to, from) || !copy_index(to, from)) {
		table_release(to);
		return false;
	}
	table_release(from);
	space->table = to;
	return true;
}

bool table_share(struct space *to, const struct space *from)
{
	if (!COPY_VEC(&to->states, &from->states))
		return false;
	table_release(to->table);
	to->table = from->table;
	to->table->users++;
	return true;
}

/* ---- finding ---- */

/* Sites of the same 64 bytes of code are looked for in the same 64 bytes of the
 * index: a table that large does not fit into a cache, and batches come in
 * order of address. */
static size_t place_of(const struct site_table *t, uint64_t address)
{
	size_t mask = t->index_size - 1;
	size_t at = (cp_hash_u64(address / 64) * 16 + address % 64 / 4) & mask;

	while (t->index[at] != FREE &&
	       (t->index[at] == REMOVED || t->sites.items[t->index[at] - 1].address != address))
		at = (at + 1) & mask;
	return at;
}

uint32_t table_find(const struct site_table *t, uint64_t address)
{
	return t->index_size ? t->index[place_of(t, address)] - 1 : SITE_NONE;
}

static bool rehash(struct site_table *t, size_t sites)
{
	struct site_table fresh = { .sites = t->sites, .index_size = 64 };
	size_t i;

	while (fresh.index_size < sites * 2)
		fresh.index_size *= 2;
	fresh.index = calloc(fresh.index_size, sizeof(*fresh.index));
	if (!fresh.index)
		return false;
	for (i = 0; i < t->index_size; i++) {
		if (t->index[i] == FREE || t->index[i] == REMOVED)
			continue;
		fresh.index[place_of(&fresh, t->sites.items[t->index[i] - 1].address)] =
			t->index[i];
		fresh.indexed++;
	}
	free(t->index);
	t->index = fresh.index;
	t->index_size = fresh.index_size;
	t->indexed = fresh.indexed;
	return true;
}

/* ---- changing ---- */

bool table_reserve(struct space *space, size_t more)
{
	struct site_table *t = space->table;
	size_t sites = t->sites.count + more;

	return cp_vec_reserve(&t->sites, sites) && cp_vec_reserve(&space->states, sites) &&
	       ((t->indexed + more) * 2 <= t->index_size || rehash(t, t->indexed + more));
}

uint32_t table_add(struct space *space, uint64_t address, uint32_t last)
{
	struct site_table *t = space->table;
	uint32_t number = t->free;

	if (number != SITE_NONE) {
		t->free = t->sites.items[number].next;
	} else {
		number = (uint32_t)t->sites.count++;
		space->states.count = t->sites.count;
	}
	t->sites.items[number] = (struct site){ .address = address, .next = SITE_NONE };
	space->states.items[number] = 0;
	if (last != SITE_NONE) {
		t->sites.items[last].next = number;
	} else {
		t->index[place_of(t, address)] = number + 1;
		t->indexed++;
	}
	return number;
}

void table_remove(struct space *space, uint32_t number)
{
	struct site_table *t = space->table;
	struct site *site = &t->sites.items[number];
	uint32_t first = table_find(t, site->address);

	if (first == number)
		t->index[place_of(t, site->address)] = REMOVED;
	site_disarm(space, site);
	*site = (struct site){ .next = t->free };
	t->free = number;
}
