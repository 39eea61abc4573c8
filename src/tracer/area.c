/* SPDX-License-Identifier: MIT
 *
 * Areas: the memory in the program that slots live in, the table that finds a
 * slot for a site, and the handler that uses it when we are gone.
 *
 *     our SIGKILL ─► the stop that was under way becomes a SIGTRAP for the
 *     program ─► handler ─► table: this is the slot of that site ─► slot
 *
 * So everything is in its place before the first breakpoint: slots, table, the
 * link to the next area, handler. The table is sorted; a new one is written
 * next to the one in use, and one write of 16 bytes changes over.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "tracer/restore.h"
#include "tracer/proc.h"
#include "tracer/space.h"

#define HANDLER_AT 256 /* of the area; behind the header */
/* The last is SA_RESTORER. */
#define HANDLER_FLAGS (SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART | 0x04000000)
#define AREA_MAX (UINT64_C(1) << 30)
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* As the kernel has it. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

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
	if (!area.owners)
		return false;
	if (cp_vec_push(&space->table->areas, area))
		return true;
	free(area.owners);
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

	if (!space_write(space, area->address, &header, sizeof(header)))
		return false;
	if (n < 2)
		return true;
	link = space->table->areas.items[n - 2].address + offsetof(struct cp_area_header, next);
	return space_write(space, link, &area->address, sizeof(area->address));
}

static int map_area(struct tracer *tr, struct space *space, uint64_t address, uint64_t size,
		    uint64_t *got_ret)
{
	const uint64_t args[6] = { address,
				   size,
				   PROT_READ | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS |
					   (address ? MAP_FIXED_NOREPLACE : 0),
				   (uint64_t)-1,
				   0 };
	struct injection in;
	int64_t result;
	int err = inject_begin(tr, space, &in);

	if (err)
		return err;
	result = inject_call(tr, &in, SYS_mmap, args);
	inject_end(tr, &in);
	if (result < 0 && result > -4096)
		return (int)-result;
	*got_ret = (uint64_t)result;
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
	if (!ret->errnum)
		ret->errnum = map_area(tr, space, rq->address, size, &ret->address);
	if (ret->errnum)
		return;
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

static int by_site(const void *a, const void *b)
{
	const struct cp_area_entry *x = a, *y = b;

	return x->site < y->site ? -1 : x->site > y->site;
}

bool area_write_table(struct space *space, struct area *area)
{
	struct cp_area_entry *table = calloc(area->slot_count + 1, sizeof(*table));
	struct {
		uint64_t count, table;
	} change;
	uint64_t i, n = 0, at = area->address + CP_AREA_HEAD;
	bool ok, sorted = true;

	if (!table)
		return false;
	for (i = 0; i < area->slot_count; i++) {
		const struct site *s = area->owners[i] ? space_site(space, area->owners[i]) : NULL;

		if (!s)
			continue;
		sorted &= !n || table[n - 1].site <= s->address;
		table[n] = (struct cp_area_entry){ .site = s->address, .slot = (uint32_t)i };
		memcpy(table[n++].original, s->original, sizeof(s->original));
	}
	if (!sorted)
		qsort(table, n, sizeof(*table), by_site);
	if (!area->twin)
		at += area->slot_count * sizeof(*table);
	change.count = n;
	change.table = at;
	_Static_assert(offsetof(struct cp_area_header, table) ==
			       offsetof(struct cp_area_header, count) + 8,
		       "changed in one write");
	ok = (!n || space_write(space, at, table, n * sizeof(*table))) &&
	     space_write(space, area->address + offsetof(struct cp_area_header, count), &change,
			 sizeof(change));
	free(table);
	area->twin ^= ok;
	area->entries = n;
	return ok;
}

/* ---- the handler ---- */

/* What the program has for SIGTRAP. Reading it takes memory that can be written
 * to, so a page is mapped for a moment. */
static int read_action(struct tracer *tr, const struct space *space, struct injection *in,
		       struct action *ret)
{
	const uint64_t map[6] = {
		0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0
	};
	int64_t page = inject_call(tr, in, SYS_mmap, map), result;

	if (page < 0 && page > -4096)
		return (int)-page;
	result = inject_call(tr, in, SYS_rt_sigaction,
			     (const uint64_t[6]){ SIGTRAP, 0, (uint64_t)page, 8 });
	if (!result && !space_read(space, (uint64_t)page, ret, sizeof(*ret)))
		result = -EIO;
	inject_call(tr, in, SYS_munmap, (const uint64_t[6]){ (uint64_t)page, 4096 });
	return (int)-result;
}

/* An action that an earlier cprof left is not the program's: the one behind it
 * is. A handler of ours is in the first page of its area. */
static void see_through(const struct space *space, struct action *action)
{
	struct cp_area_header header;

	if (!space_read(space, action->handler & ~UINT64_C(4095), &header, sizeof(header)) ||
	    header.magic != CP_AREA_MAGIC || header.handler != action->handler)
		return;
	*action = (struct action){ header.old_handler, header.old_flags, header.old_restorer,
				   header.old_mask };
}

static int set_action(struct tracer *tr, const struct space *space, struct injection *in,
		      const struct action *action)
{
	/* In the area, where the kernel can read it. */
	uint64_t at = space->table->areas.items[0].address + HANDLER_AT - sizeof(*action);

	if (!space_write(space, at, action, sizeof(*action)))
		return EIO;
	return (int)-inject_call(tr, in, SYS_rt_sigaction,
				 (const uint64_t[6]){ SIGTRAP, at, 0, 8 });
}

/* Code and header of the first area; *ret is the action to be set. */
static bool place_handler(const struct space *space, const struct action *old, struct action *ret)
{
	uint64_t base = space->table->areas.items[0].address, at = base + HANDLER_AT;
	struct cp_area_header header;
	size_t size, entry, restorer, area_at;
	const uint8_t *code = cp_trap_handler(cp_arch_host(), &size, &entry, &restorer, &area_at);

	if (!code || size > CP_AREA_HEAD - HANDLER_AT ||
	    !space_read(space, base, &header, sizeof(header)))
		return false;
	*ret = (struct action){
		.handler = at + entry,
		.flags = HANDLER_FLAGS,
		.restorer = at + restorer,
	};
	header.handler = ret->handler;
	header.old_handler = old->handler;
	header.old_flags = old->flags;
	header.old_restorer = old->restorer;
	header.old_mask = old->mask;
	return space_write(space, at, code, size) &&
	       space_write(space, at + area_at, &base, sizeof(base)) &&
	       space_write(space, base, &header, sizeof(header));
}

int area_install_handler(struct tracer *tr, struct space *space)
{
	struct action old, ours;
	struct injection in;
	int err;

	if (space->handler)
		return 0;
	err = inject_begin(tr, space, &in);
	if (err)
		return err;
	err = read_action(tr, space, &in, &old);
	if (!err) {
		see_through(space, &old);
		err = place_handler(space, &old, &ours) ? set_action(tr, space, &in, &ours) : EIO;
	}
	inject_end(tr, &in);
	if (!err) {
		space->handler = ours.handler;
		space->restorer = ours.restorer;
	}
	return err;
}

/* Calls between looks at a handler that may be gone. */
#define LOOK_EVERY 64

void area_keep_handler(struct tracer *tr, struct thread *t)
{
	struct space *space = t->process->space;
	const uint64_t trap = UINT64_C(1) << (SIGTRAP - 1);
	struct action ours = { .handler = space->handler,
			       .flags = HANDLER_FLAGS,
			       .restorer = space->restorer };
	struct injection in;
	uint64_t mask;
	bool first = !t->hits++, changed, swallowed;
	siginfo_t si;

	if (!space->handler || ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(mask), &mask))
		return;
	changed = mask != t->sigmask;
	t->sigmask = mask;
	if ((!changed && t->hits % LOOK_EVERY) || proc_catches(t->tid, SIGTRAP))
		return;
	swallowed = !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &si) && si.si_code != SI_KERNEL;
	if (!inject_here(tr, t, &in))
		return;
	/* With the same mask as ever it was not blocked but ignored, or the
	 * program has given up handling it. Of the first hit this is a guess. */
	if (first ? mask != 0 : changed)
		t->sigmask = mask |= trap;
	in.mask = mask;
	set_action(tr, space, &in, &ours);
	inject_end(tr, &in);
	if (swallowed) /* somebody's signal, which was pending (hit.c) */
		syscall(SYS_tgkill, t->process->pid, t->tid, SIGTRAP);
}

void area_forget(const struct space *space)
{
	const uint64_t none = 0;
	size_t i;

	for (i = 0; i < space->table->areas.count; i++)
		space_write(space,
			    space->table->areas.items[i].address +
				    offsetof(struct cp_area_header, count),
			    &none, sizeof(none));
}

void area_remove_handler(struct tracer *tr, struct space *space)
{
	struct cp_area_header header;
	struct injection in;
	struct action now;

	if (!space->handler || inject_begin(tr, space, &in))
		return;
	if (!read_action(tr, space, &in, &now) && now.handler == space->handler &&
	    space_read(space, space->table->areas.items[0].address, &header, sizeof(header))) {
		now = (struct action){ header.old_handler, header.old_flags, header.old_restorer,
				       header.old_mask };
		if (!set_action(tr, space, &in, &now))
			space->handler = 0;
	}
	inject_end(tr, &in);
}
