/* SPDX-License-Identifier: MIT
 *
 * A forked child whose memory is older than its parent's breakpoints.
 *
 *     parent  ──┬─ slots ─► tables ─► handler ─► breakpoints
 *             fork                                    ┊
 *     child     └──────────────────── first stop, where we see it
 *
 * It has the tables of its parent (inherit.c). What they say is made true here, in
 * the order in which its parent got it; or, where that can't be, all breakpoints
 * are forgotten.
 */
#include "tracer/lives/newborn.h"

#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "tracer/calls/inject.h"
#include "tracer/hits/mapping.h"
#include "tracer/known/proc.h"
#include "tracer/memory/rings.h"
#include "tracer/memory/sites.h"
#include "tracer/memory/windows.h"
#include "tracer/signals/trap.h"

#define CHUNK ((size_t)64 << 10)

/* ---- what there is ---- */

static bool read_header(const struct space *space, const struct area *area,
			struct cp_area_header *ret)
{
	return space_read(space, area->address, ret, sizeof(*ret)) && ret->magic == CP_AREA_MAGIC;
}

/* The last things that are written of slots, tables and handler. */
static bool same_state(const struct cp_area_header *a, const struct cp_area_header *b)
{
	return a->size == b->size && a->next == b->next && a->count == b->count &&
	       a->table == b->table && a->handler == b->handler && a->installed == b->installed;
}

/* Is the memory that a part of the parent's is in there, with what it has in it? */
static bool has_part(const struct space *space, const struct space *from, uint64_t at, uint64_t end)
{
	uint8_t there[CHUNK], here[CHUNK];

	for (size_t size; at < end; at += size) {
		size = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		if (!space_read(from, at, there, size) || !space_read(space, at, here, size) ||
		    memcmp(there, here, size) != 0)
			return false;
	}
	return true;
}

/* Rings and code of detours. */
static bool lacks_code(const struct space *space, const struct space *from)
{
	const struct chunk *c;
	uint8_t byte;

	if (space->rings && !space_read(space, space->rings->zero, &byte, 1))
		return true;
	cp_vec_for_each(&space->chunks, c)
		if (!has_part(space, from, c->address, c->address + c->size))
			return true;
	return false;
}

bool newborn_lacks(const struct space *space, const struct space *from)
{
	const struct area *area;
	struct cp_area_header here, there;

	cp_vec_for_each(&space->table->areas, area)
		if (!read_header(from, area, &there) || !read_header(space, area, &here) ||
		    !same_state(&here, &there) ||
		    !has_part(space, from, area->address + CP_AREA_HEAD,
			      area->address + area->size))
			return true;
	return lacks_code(space, from);
}

/* ---- making it so ---- */

static bool copy_part(const struct space *to, const struct space *from, uint64_t at, uint64_t end)
{
	uint8_t there[CHUNK], here[CHUNK];

	for (size_t size; at < end; at += size) {
		size = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		if (!space_read(from, at, there, size) || !space_read(to, at, here, size))
			return false;
		if (memcmp(there, here, size) != 0 && !space_write(to, at, there, size))
			return false;
	}
	return true;
}

/* Everything of an area but the handler, which trap_renew() puts there. */
static bool copy_area(const struct space *from, const struct area *area, struct injection *in)
{
	const struct space *to = in->space;
	struct cp_area_header here, there;
	uint64_t at = area->address;

	if (!read_header(from, area, &there))
		return false;
	if (!read_header(to, area, &here)) {
		if (mapping_make(in, &at, area->size))
			return false;
		here = there;
		here.handler = here.installed = 0;
	}
	here.next = there.next;
	here.count = there.count;
	here.table = there.table;
	return copy_part(to, from, at + CP_AREA_HEAD, at + area->size) &&
	       space_write(to, at, &here, sizeof(here));
}

static bool complete(const struct space *from, struct injection *in)
{
	const struct area *area;

	cp_vec_for_each(&in->space->table->areas, area)
		if (!copy_area(from, area, in))
			return false;
	return !in->space->handler || !trap_renew(in);
}

/* A guest has its parent's memory, and the handlers that its parent had at the fork: ours
 * may have come in between. */
static void complete_guest(struct tracer *tr, struct thread *t)
{
	const struct space *space = t->process->space;
	struct injection in;

	if (space->users - space->kept < 2 || !space->handler || tr->ending ||
	    proc_catches(t->tid, SIGTRAP) || !inject_here(tr, t, &in))
		return;
	trap_set(&in);
	inject_end(tr, &in);
}

void newborn_complete(struct tracer *tr, struct thread *t)
{
	struct space *space = t->process->space;
	const struct space *from = space->older_than;
	struct injection in;
	bool done = false;

	space->older_than = NULL;
	if (!from) {
		complete_guest(tr, t);
		return;
	}
	/* Their memory can't be had here: a file that is nobody's any more. */
	if (lacks_code(space, from))
		windows_forget(space);
	if (!tr->ending && inject_here(tr, t, &in)) {
		done = complete(from, &in);
		inject_end(tr, &in);
	}
	if (done)
		sites_sync(space);
	else
		sites_clean(space, true);
	cp_debug("process %d was forked before its parent's breakpoints; %s", (int)t->tid,
		 done ? "it has them now" : "it gets none");
}
