/* SPDX-License-Identifier: MIT
 *
 * Memory in the program for areas: mapped by one of its threads, or left by a cprof
 * that was there before.
 */
#include "tracer/hits/mapping.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "link/map.h"
#include "tracer/calls/ask.h"
#include "tracer/calls/inject.h"
#include "tracer/known/lookup.h"
#include "tracer/known/proc.h"
#include "tracer/memory/area.h"
#include "tracer/restore.h"

#define AREA_MAX (UINT64_C(1) << 30)
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static struct space *space_by_pid(struct tracer *tr, pid_t pid)
{
	struct process *p = process_find(tr, pid);

	return p ? p->space : NULL;
}

int mapping_make(struct injection *in, uint64_t *at, uint64_t size)
{
	const uint64_t args[6] = { *at,
				   size,
				   PROT_READ | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | (*at ? MAP_FIXED_NOREPLACE : 0),
				   (uint64_t)-1,
				   0 };
	int64_t result = inject_call(in, SYS_mmap, args);

	if (result < 0 && result > -4096)
		return (int)-result;
	*at = (uint64_t)result;
	/* A large area will be filled: by thousands of page faults, or by a few. */
	if (size >= LARGE_PAGES)
		inject_call(in, SYS_madvise, (const uint64_t[6]){ *at, size, MADV_HUGEPAGE });
	return 0;
}

static int map_area(struct tracer *tr, struct space *space, uint64_t *at, uint64_t size)
{
	struct injection in;
	int err = ask_begin(tr, space, &in);

	if (err)
		return err;
	err = mapping_make(&in, at, size);
	ask_end(tr, &in);
	return err;
}

/* ---- taking one that was left ---- */

/* When an area was left, a thread may have been on its way through a slot, unless that
 * is known to be otherwise, and wait for a processor since. */
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

/* Opens the memory; what a killed cprof left in it goes once, before anything of ours
 * comes. */
static int prepare(struct space *space, pid_t pid)
{
	int err = space_open(space);

	if (!err && !space->cleared) {
		space->cleared = true;
		if (!space->fresh)
			cp_restore_memory(pid, space->mem, false);
	}
	return err;
}

/* ---- several ---- */

static bool size_ok(uint64_t size)
{
	return size >= 2 * CP_AREA_HEAD && size <= AREA_MAX;
}

static bool pieces_ok(const struct cp_map_piece *pieces, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct cp_map_piece *m = &pieces[i];

		if (!m->address || m->address % 4096 || m->size % 4096 || !size_ok(m->size) ||
		    (m->joined && (!i || m->address != m[-1].address + m[-1].size)))
			return false;
	}
	return true;
}

/* Maps them, one thread asked once. Where something else is, there is none. */
static int map_pieces(struct tracer *tr, struct space *space, const struct cp_map_piece *pieces,
		      size_t count, uint32_t *made_ret)
{
	struct injection in;
	int err = ask_begin(tr, space, &in);
	size_t i, n;

	if (err)
		return err;
	for (i = 0; i < count; i += n) {
		uint64_t at = pieces[i].address, size = pieces[i].size;

		for (n = 1; i + n < count && pieces[i + n].joined; n++)
			size += pieces[i + n].size;
		if (!mapping_make(&in, &at, size) && at == pieces[i].address)
			*made_ret |= ((1u << n) - 1) << i;
	}
	ask_end(tr, &in);
	return 0;
}

static void map_many(struct tracer *tr, struct space *space, const struct cp_request *rq,
		     struct cp_answer *ret)
{
	struct cp_map_piece pieces[CP_MAP_PIECES];
	size_t count = rq->size / sizeof(*pieces), i;

	if (!count || count > CP_MAP_PIECES || rq->first > CP_LINK_PLAN - sizeof(pieces)) {
		ret->errnum = EINVAL;
		return;
	}
	memcpy(pieces, tr->link->plan + rq->first, count * sizeof(*pieces));
	ret->errnum = pieces_ok(pieces, count) ? prepare(space, rq->pid) : EINVAL;
	if (!ret->errnum)
		ret->errnum = map_pieces(tr, space, pieces, count, &ret->threads);
	for (i = 0; i < count; i++)
		if (ret->threads >> i & 1 &&
		    !area_keep(space, pieces[i].address, pieces[i].size, true))
			ret->threads &= ~(1u << i);
	space->grown_ns = cp_now();
}

void mapping_request(struct tracer *tr, const struct cp_request *rq, struct cp_answer *ret)
{
	struct space *space = space_by_pid(tr, rq->pid);
	uint64_t size = (rq->size + 4095) & ~UINT64_C(4095);

	if (!space) {
		ret->errnum = ESRCH;
		return;
	}
	if (rq->flags & CP_MAP_MANY) {
		map_many(tr, space, rq, ret);
		return;
	}
	if (!size_ok(size) || rq->address % 4096) {
		ret->errnum = EINVAL;
		return;
	}
	ret->errnum = prepare(space, rq->pid);
	ret->address = rq->address;
	if (!ret->errnum)
		ret->errnum = rq->flags & CP_MAP_LEFT ? take_left(tr, space, rq->address, size)
						      : map_area(tr, space, &ret->address, size);
	if (ret->errnum)
		return;
	space->grown_ns = cp_now();
	if (!area_keep(space, ret->address, size, !(rq->flags & CP_MAP_LEFT)))
		ret->errnum = ENOMEM;
}
