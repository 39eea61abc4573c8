/* SPDX-License-Identifier: MIT
 *
 * Areas: the memory in the program that slots live in, and the table that finds
 * a slot for a site, for the handler that uses it when we are gone (signals/trap.c).
 *
 *     our SIGKILL ─► the stop that was under way becomes a SIGTRAP for the
 *     program ─► handler ─► table: this is the slot of that site ─► slot
 *
 * So everything is in its place before the first breakpoint: slots, table, the
 * link to the next area, handler. The table is sorted; a new one is written
 * next to the one in use, and one write of 16 bytes changes over.
 */
#include "tracer/memory/area.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tracer/memory/sigcall.h"
#include "tracer/memory/space.h"

/* ---- a new one ---- */

static bool remember(struct space *space, uint64_t address, uint64_t size)
{
	struct area area = { .address = address, .size = size };

	area.slot_count = cp_area_slot_count(size);
	area.owners = calloc(area.slot_count + 1, sizeof(*area.owners));
	area.records = calloc(area.slot_count + 1, sizeof(*area.records));
	if (area.owners && area.records && cp_vec_push(&space->table->areas, area))
		return true;
	free(area.owners);
	free(area.records);
	return false;
}

/* The header, without a table. The area before it leads to it from now on; what a killed
 * cprof left comes behind all of them: handlers of signals may return into the code of its
 * detours, which has stops. */
static bool write_header(const struct space *space, const struct area *area, bool blank)
{
	const struct cp_area_header header = {
		.magic = CP_AREA_MAGIC,
		.size = area->size,
		.next = space->left_area,
		.table = area->address + CP_AREA_HEAD,
		.slots = cp_area_slot(area->address, area->size, 0),
	};
	size_t n = space->table->areas.count;
	uint8_t head[CP_AREA_HEAD] = { 0 };
	size_t size = sigcall_code(space, head + CP_AREA_SIGCALL);
	uint64_t link;
	bool ok;

	memcpy(head, &header, sizeof(header));
	if (blank && size)
		ok = space_write(space, area->address, head, CP_AREA_SIGCALL + size);
	else
		ok = space_write(space, area->address, head, sizeof(header)) &&
		     (!size || space_write(space, area->address + CP_AREA_SIGCALL,
					   head + CP_AREA_SIGCALL, size));
	if (!ok)
		return false;
	if (n < 2)
		return true;
	link = space->table->areas.items[n - 2].address + offsetof(struct cp_area_header, next);
	return space_write(space, link, &area->address, sizeof(area->address));
}

bool area_keep(struct space *space, uint64_t address, uint64_t size, bool blank)
{
	return remember(space, address, size) &&
	       write_header(space, &space->table->areas.items[space->table->areas.count - 1],
			    blank);
}

/* ---- the table ---- */

bool area_claim(struct area *area, uint64_t slot, uint64_t address)
{
	if (slot >= area->slot_count || (area->owners[slot] && area->owners[slot] != address))
		return false;
	area->owners[slot] = address;
	return true;
}

#define TABLE_AT_ONCE ((size_t)4096) /* entries */

/* Whose slot that is; the record may have become another one's since. */
static const struct site *owner_of(const struct space *space, const struct area *area,
				   uint64_t slot)
{
	const struct site_table *t = space->table;
	uint64_t address = area->owners[slot];
	uint32_t n = area->records[slot];

	if (!address)
		return NULL;
	return n < t->sites.count && t->sites.items[n].address == address
		       ? &t->sites.items[n]
		       : space_site(space, address);
}

static bool is_sorted(const struct area *area)
{
	uint64_t last = 0, i;

	for (i = 0; i < area->slot_count; i++) {
		if (area->owners[i] && area->owners[i] < last)
			return false;
		last = area->owners[i] ? area->owners[i] : last;
	}
	return true;
}

/* What may be done about it from outside: a thread may stand at a hop's jump, which may be
 * where a window has moved instructions away. */
static uint32_t mark_of(const struct space *space, const struct site *site)
{
	const struct site *behind;

	if (!(site->flags & SITE_JUMPS))
		return site->flags & SITE_PASSIVE ? CP_AREA_LANDING : 0;
	if (site->flags & CP_SITE_HOP)
		return CP_AREA_WINDOW | CP_AREA_LANDING | CP_AREA_STILL;
	behind = space_site(space, site->address + space->table->windows.items[site->window].size);
	while (behind && !(behind->flags & CP_SITE_HOP))
		behind = site_next(space, behind);
	return CP_AREA_WINDOW | (behind ? CP_AREA_STILL : 0);
}

/* Up to `room` entries, of slots from *slot on, which moves behind them. */
static size_t fill_table(const struct space *space, const struct area *area, uint64_t *slot,
			 struct cp_area_entry *table, size_t room)
{
	size_t n = 0;

	for (; *slot < area->slot_count && n < room; ++*slot) {
		const struct site *s = owner_of(space, area, *slot);

		if (!s)
			continue;
		table[n] = (struct cp_area_entry){ .site = s->address, .slot = (uint32_t)*slot };
		if (s->flags & CP_SITE_SIGCALL)
			table[n].slot |= CP_AREA_JUMP;
		table[n].slot |= mark_of(space, s);
		memcpy(table[n++].original, s->original, sizeof(s->original));
	}
	return n;
}

/* Merges the runs x[..count) and y[..count) into `to`. */
static void merge(const struct cp_area_entry *x, size_t x_count, const struct cp_area_entry *y,
		  size_t y_count, struct cp_area_entry *to)
{
	const struct cp_area_entry *x_end = x + x_count, *y_end = y + y_count;

	while (x < x_end && y < y_end)
		*to++ = y->site < x->site ? *y++ : *x++;
	memcpy(to, x, (size_t)(x_end - x) * sizeof(*to));
	memcpy(to + (x_end - x), y, (size_t)(y_end - y) * sizeof(*to));
}

/* How many entries from `first` on are in order. */
static size_t run_at(const struct cp_area_entry *table, size_t n, size_t first)
{
	size_t i = first + (first < n);

	while (i < n && table[i].site >= table[i - 1].site)
		i++;
	return i - first;
}

/* What came in a batch is in order, and of batches there are few: they are merged by twos.
 * `spare` has room for as many. */
static struct cp_area_entry *sort_table(struct cp_area_entry *table, struct cp_area_entry *spare,
					size_t n)
{
	struct cp_area_entry *other;
	size_t first, x, y;

	while (run_at(table, n, 0) < n) {
		for (first = 0; first < n; first += x + y) {
			x = run_at(table, n, first);
			y = run_at(table, n, first + x);
			merge(table + first, x, table + first + x, y, spare + first);
		}
		other = table;
		table = spare;
		spare = other;
	}
	return table;
}

/* Slots mostly are in the order of their sites: then it goes a piece at a time. */
bool area_write_table(struct space *space, struct area *area)
{
	bool ok, sorted = is_sorted(area);
	size_t room = sorted ? TABLE_AT_ONCE : area->slot_count + 1, n;
	struct cp_area_entry *table = malloc((sorted ? 1 : 2) * room * sizeof(*table)), *from;
	struct {
		uint64_t count, table;
	} change = { .table = area->address + CP_AREA_HEAD };
	uint64_t slot = 0;

	if (!area->twin)
		change.table += area->slot_count * sizeof(*table);
	ok = table != NULL;
	while (ok && (n = fill_table(space, area, &slot, table, room))) {
		from = sorted ? table : sort_table(table, table + room, n);
		ok = space_write(space, change.table + change.count * sizeof(*table), from,
				 n * sizeof(*table));
		change.count += n;
	}
	_Static_assert(offsetof(struct cp_area_header, table) ==
			       offsetof(struct cp_area_header, count) + 8,
		       "changed in one write");
	ok = ok && space_write(space, area->address + offsetof(struct cp_area_header, count),
			       &change, sizeof(change));
	free(table);
	area->twin ^= ok;
	return ok;
}

bool area_empty(struct space *space, struct area *area)
{
	memset(area->owners, 0, area->slot_count * sizeof(*area->owners));
	return area_write_table(space, area);
}

void area_forget(const struct space *space)
{
	const uint64_t none = 0, now = cp_now(), empty = !space->occupied;
	size_t i;

	if (space->handler) /* it is left, with what it has to know */
		return;
	for (i = 0; i < space->table->areas.count; i++) {
		uint64_t address = space->table->areas.items[i].address;

		space_write(space, address + offsetof(struct cp_area_header, count), &none,
			    sizeof(none));
		if (space->users > 1)
			continue;
		space_write(space, address + offsetof(struct cp_area_header, empty), &empty,
			    sizeof(empty));
		space_write(space, address + offsetof(struct cp_area_header, left_ns), &now,
			    sizeof(now));
	}
}
