/* SPDX-License-Identifier: MIT
 *
 * Areas: the memory in the program that slots live in, and the table that finds
 * a slot for a site, for the handler that uses it when we are gone (trap.c).
 *
 *     our SIGKILL ─► the stop that was under way becomes a SIGTRAP for the
 *     program ─► handler ─► table: this is the slot of that site ─► slot
 *
 * So everything is in its place before the first breakpoint: slots, table, the
 * link to the next area, handler. The table is sorted; a new one is written
 * next to the one in use, and one write of 16 bytes changes over.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/log.h"
#include "tracer/known/proc.h"
#include "tracer/restore.h"
#include "tracer/signals/trap.h"

#define AREA_MAX (UINT64_C(1) << 30)
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static struct space *space_by_pid(struct tracer *tr, pid_t pid)
{
	struct process *p = process_find(tr, pid);

	return p ? p->space : NULL;
}

/* ---- mapping ---- */

static bool keep_area(struct space *space, uint64_t address, uint64_t size)
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

/* The header, without a table. The area before it leads to it from now on. */
static bool write_header(const struct space *space, const struct area *area)
{
	struct cp_area_header header = {
		.magic = CP_AREA_MAGIC,
		.size = area->size,
		.table = area->address + CP_AREA_HEAD,
		.slots = cp_area_slot(area->address, area->size, 0),
	};
	size_t n = space->table->areas.count;
	uint64_t link;

	if (!space_write(space, area->address, &header, sizeof(header)) ||
	    !sigcall_place(space, area))
		return false;
	if (n < 2)
		return true;
	link = space->table->areas.items[n - 2].address + offsetof(struct cp_area_header, next);
	return space_write(space, link, &area->address, sizeof(area->address));
}

int area_map_at(struct tracer *tr, struct injection *in, uint64_t *at, uint64_t size)
{
	const uint64_t args[6] = { *at,
				   size,
				   PROT_READ | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | (*at ? MAP_FIXED_NOREPLACE : 0),
				   (uint64_t)-1,
				   0 };
	int64_t result = inject_call(tr, in, SYS_mmap, args);

	if (result < 0 && result > -4096)
		return (int)-result;
	*at = (uint64_t)result;
	/* It will be filled: thousands of page faults, or a few. */
	if (size >= LARGE_PAGES)
		inject_call(tr, in, SYS_madvise, (const uint64_t[6]){ *at, size, MADV_HUGEPAGE });
	return 0;
}

static int map_area(struct tracer *tr, struct space *space, uint64_t *at, uint64_t size)
{
	struct injection in;
	int err = inject_begin(tr, space, &in);

	if (err)
		return err;
	err = area_map_at(tr, &in, at, size);
	inject_end(tr, &in);
	return err;
}

/* ---- taking one that was left ---- */

/* Where that was not known to be otherwise, a thread may have been on its way
 * through a slot when it was left, and wait for a processor since. */
#define REST_NS (300 * CP_NS_PER_S)

static bool anybody_in(struct tracer *tr, const struct space *space, uint64_t address,
		       uint64_t size)
{
	uint64_t key, value, pc, sp;
	size_t cursor = 0;

	while (cp_map_next(&tr->by_tid, &cursor, &key, &value)) {
		struct thread *t = (struct thread *)(uintptr_t)value;

		if (t->process->space == space && proc_where(tr, t, &pc, &sp) == PROC_BLOCKED &&
		    pc - address < size)
			return true;
	}
	return false;
}

static int take_left(struct tracer *tr, const struct space *space, uint64_t address, uint64_t size)
{
	struct cp_area_header header;

	if (!space_read(space, address, &header, sizeof(header)) || header.magic != CP_AREA_MAGIC ||
	    header.size != size || header.count || !header.left_ns ||
	    (!header.empty && cp_now() < header.left_ns + REST_NS) || space_area(space, address) ||
	    anybody_in(tr, space, address, size))
		return EEXIST;
	return 0;
}

void area_map(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	struct space *space = space_by_pid(tr, rq->pid);
	uint64_t size = (rq->size + 4095) & ~UINT64_C(4095);

	if (!space) {
		ret->errnum = ESRCH;
		return;
	}
	if (size < 2 * CP_AREA_HEAD || rq->size > AREA_MAX || rq->address % 4096) {
		ret->errnum = EINVAL;
		return;
	}
	ret->errnum = space_open(space);
	if (!ret->errnum && !space->cleared) {
		space->cleared = true;
		cp_restore_memory(rq->pid, space->mem);
	}
	ret->address = rq->address;
	if (!ret->errnum)
		ret->errnum = rq->flags & CP_MAP_LEFT ? take_left(tr, space, rq->address, size)
						      : map_area(tr, space, &ret->address, size);
	if (ret->errnum)
		return;
	space->grown_ns = cp_now();
	if (!keep_area(space, ret->address, size) ||
	    !write_header(space, &space->table->areas.items[space->table->areas.count - 1]))
		ret->errnum = ENOMEM;
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

static int by_site(const void *a, const void *b)
{
	const struct cp_area_entry *x = a, *y = b;

	return x->site < y->site ? -1 : x->site > y->site;
}

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
		memcpy(table[n++].original, s->original, sizeof(s->original));
	}
	return n;
}

/* Slots mostly are in the order of their sites: then it goes a piece at a time. */
bool area_write_table(struct space *space, struct area *area)
{
	bool ok, sorted = is_sorted(area);
	size_t room = sorted ? TABLE_AT_ONCE : area->slot_count + 1, n;
	struct cp_area_entry *table = malloc(room * sizeof(*table));
	struct {
		uint64_t count, table;
	} change = { .table = area->address + CP_AREA_HEAD };
	uint64_t slot = 0;

	if (!area->twin)
		change.table += area->slot_count * sizeof(*table);
	ok = table != NULL;
	while (ok && (n = fill_table(space, area, &slot, table, room))) {
		if (!sorted)
			qsort(table, n, sizeof(*table), by_site);
		ok = space_write(space, change.table + change.count * sizeof(*table), table,
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

void area_forget(const struct space *space)
{
	const uint64_t none = 0, now = cp_now(), empty = !space->occupied;
	size_t i;

	for (i = 0; i < space->table->areas.count; i++) {
		uint64_t address = space->table->areas.items[i].address;

		space_write(space, address + offsetof(struct cp_area_header, count), &none,
			    sizeof(none));
		if (space->handler || space->users > 1)
			continue;
		space_write(space, address + offsetof(struct cp_area_header, empty), &empty,
			    sizeof(empty));
		space_write(space, address + offsetof(struct cp_area_header, left_ns), &now,
			    sizeof(now));
	}
}
