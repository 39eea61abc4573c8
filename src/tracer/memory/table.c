/* SPDX-License-Identifier: MIT
 *
 * The table of sites: found by address, through a hash of numbers.
 *
 *     address ─hash─► index: number of a site ─► sites ─next─► another one there
 *
 * Processes that were forked share the table, as they share pages, until one of
 * them gets other sites; what differs (armed or not, hits) is each one's own.
 */
#include "tracer/memory/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tracer/memory/space.h"

#define FREE 0u /* else number + 1 */
#define REMOVED UINT32_MAX

struct site_place {
	uint32_t site;
	uint32_t low; /* half of its address */
};

#define GROUP 16u /* places for 64 bytes of code */
#define PAGE ((uintptr_t)4096)

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
	cp_vec_free(&t->windows);
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
	    !COPY_VEC(&to->windows, &from->windows) || !copy_areas(to, from) ||
	    !copy_index(to, from)) {
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

/* Sites of the same 64 bytes of code are looked for in the same 128 bytes of the
 * index: a table that large does not fit into a cache, and batches come in
 * order of address. Nor do the sites, so those of other addresses are not
 * looked at: half of an address tells nearly all of them apart. Multiples of the
 * golden ratio keep what is near each other in the program away from each other. */
static size_t begin_at(const struct site_table *t, uint32_t low)
{
	unsigned groups = (unsigned)__builtin_ctzll(t->index_size / GROUP);

	return (size_t)(low / 64 * UINT64_C(0x9e3779b97f4a7c15) >> (64 - groups)) * GROUP +
	       low % 64 / (64 / GROUP);
}

static size_t place_of(const struct site_table *t, uint64_t address)
{
	uint32_t low = (uint32_t)address;
	size_t at = begin_at(t, low), mask = t->index_size - 1;

	while (t->index[at].site != FREE &&
	       (t->index[at].low != low || t->index[at].site == REMOVED ||
		t->sites.items[t->index[at].site - 1].address != address))
		at = (at + 1) & mask;
	return at;
}

uint32_t table_find(const struct site_table *t, uint64_t address)
{
	return t->index_size ? t->index[place_of(t, address)].site - 1 : SITE_NONE;
}

void table_expect(const struct site_table *t, uint64_t address)
{
	if (t->index_size)
		__builtin_prefetch(&t->index[begin_at(t, (uint32_t)address)], 1);
}

/* For an address that it does not have. */
static void put_place(struct site_table *t, uint64_t address, uint32_t number)
{
	size_t at = begin_at(t, (uint32_t)address), mask = t->index_size - 1;

	while (t->index[at].site != FREE)
		at = (at + 1) & mask;
	t->index[at] = (struct site_place){ number + 1, (uint32_t)address };
	t->indexed++;
}

/* A hundred thousand sites are thousands of page faults, or a few. */
static void in_large_pages(void *memory, size_t size)
{
	uintptr_t start = ((uintptr_t)memory + PAGE - 1) & ~(PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(PAGE - 1);

	if (size >= LARGE_PAGES)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

static bool rehash(struct site_table *t, size_t sites)
{
	struct site_table fresh = { .index_size = 64 };
	size_t i;

	while (fresh.index_size < sites * 2)
		fresh.index_size *= 2;
	fresh.index = calloc(fresh.index_size, sizeof(*fresh.index));
	if (!fresh.index)
		return false;
	in_large_pages(fresh.index, fresh.index_size * sizeof(*fresh.index));
	for (i = 0; i < t->index_size; i++) {
		if (t->index[i].site != FREE && t->index[i].site != REMOVED)
			put_place(&fresh, t->index[i].low, t->index[i].site - 1);
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
	size_t sites = t->sites.count + more, capacity = t->sites.capacity;

	if (!cp_vec_reserve(&t->sites, sites) || !cp_vec_reserve(&space->states, sites) ||
	    ((t->indexed + more) * 2 > t->index_size && !rehash(t, t->indexed + more)))
		return false;
	if (t->sites.capacity != capacity)
		in_large_pages(t->sites.items, sites * sizeof(*t->sites.items));
	return true;
}

uint32_t table_add(struct space *space, uint64_t address, uint32_t last)
{
	struct site_table *t = space->table;
	uint32_t number = t->free;
	struct site *site;

	if (number != SITE_NONE) {
		t->free = t->sites.items[number].next;
	} else {
		number = (uint32_t)t->sites.count++;
		space->states.count = t->sites.count;
	}
	site = &t->sites.items[number];
	site->address = address;
	site->next = site->window = SITE_NONE;
	site->first = last == SITE_NONE;
	site->first_fetch = site->fetch_count = site->flags = 0;
	space->states.items[number] = 0;
	if (last != SITE_NONE)
		t->sites.items[last].next = number;
	else
		put_place(t, address, number);
	return number;
}

void table_remove(struct space *space, uint32_t number)
{
	struct site_table *t = space->table;
	struct site *site = &t->sites.items[number];
	uint32_t first = table_find(t, site->address);

	if (first == number)
		t->index[place_of(t, site->address)].site = REMOVED;
	site_disarm(space, site);
	*site = (struct site){ .next = t->free };
	t->free = number;
}
