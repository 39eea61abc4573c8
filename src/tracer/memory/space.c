/* SPDX-License-Identifier: MIT
 *
 * Address spaces: who shares one, and their memory.
 *
 * The memory is read and written through /proc/PID/mem, which belongs to the
 * memory and not to the process: it stays right when the process that it was
 * opened for is gone, and writes to pages that the program may only read or
 * execute (copying them first, so that no file changes).
 */
#include "tracer/memory/space.h"

#include <cprof/trace_format.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "tracer/calls/finish.h"

/* Between a fork and our seeing the child. */
#define JUST_NS CP_NS_PER_S

struct space *space_create(pid_t pid)
{
	struct space *space = calloc(1, sizeof(*space));

	if (space)
		*space = (struct space){
			.users = 1, .pid = pid, .mem = -1, .table = table_create()
		};
	if (space && space->table)
		return space;
	free(space);
	return NULL;
}

void space_release(struct space *space)
{
	if (!space || --space->users)
		return;
	table_release(space->table);
	cp_map_free(&space->by_group);
	cp_map_free(&space->faults);
	cp_vec_free(&space->states);
	cp_vec_free(&space->entered);
	cp_vec_free(&space->groups);
	cp_vec_free(&space->annotated);
	finish_release(space);
	heap_sample_free(&space->heap);
	cp_close_fd(&space->mem);
	free(space);
}

int space_open(struct space *space)
{
	char path[64];

	if (space->mem >= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)space->pid);
	space->mem = open(path, O_RDWR | O_CLOEXEC);
	return space->mem < 0 ? errno : 0;
}

bool space_read(const struct space *space, uint64_t address, void *to, size_t size)
{
	return pread(space->mem, to, size, (off_t)address) == (ssize_t)size;
}

bool space_write(const struct space *space, uint64_t address, const void *from, size_t size)
{
	return pwrite(space->mem, from, size, (off_t)address) == (ssize_t)size;
}

size_t space_reader(void *space, uint64_t address, void *to, size_t size)
{
	return space_read(space, address, to, size) ? size : 0;
}

/* ---- who shares one ---- */

static bool same_memory(pid_t a, pid_t b)
{
	return !syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);
}

static bool copy_map(struct cp_map *to, const struct cp_map *from)
{
	uint64_t key, value;
	size_t cursor = 0;

	while (cp_map_next(from, &cursor, &key, &value)) {
		if (!cp_map_put(to, key, value))
			return false;
	}
	return true;
}

static bool copy_groups(struct space *to, const struct space *from)
{
	if (from->groups.count && !cp_vec_reserve(&to->groups, from->groups.count))
		return false;
	to->groups.count = from->groups.count;
	if (to->groups.count)
		memcpy(to->groups.items, from->groups.items,
		       to->groups.count * sizeof(*to->groups.items));
	return copy_map(&to->by_group, &from->by_group);
}

static bool copy_annotated(struct space *to, const struct space *from)
{
	const uint64_t *root;

	cp_vec_for_each(&from->annotated, root)
		if (!cp_vec_push(&to->annotated, *root))
			return false;
	return true;
}

static struct space *copy(const struct space *from, pid_t pid)
{
	struct space *to = space_create(pid);

	if (!to)
		return NULL;
	to->armed = from->armed;
	to->syscall_insn = from->syscall_insn;
	to->guard_syscall = from->guard_syscall;
	to->guard_restorer = from->guard_restorer;
	to->handler = from->handler;
	to->restorer = from->restorer;
	to->own = from->own;
	to->watched = from->watched;
	to->reset = from->reset;
	to->reset_by = to->pid; /* the only one, and it is past that */
	to->stale = from->stale;
	to->cleared = from->cleared;
	to->clock = from->clock;
	to->pause = from->pause;
	to->pause.pid = pid;
	if (copy_groups(to, from) && copy_annotated(to, from) && finish_copy(to, from) &&
	    table_share(to, from) && !space_open(to))
		return to;
	space_release(to);
	return NULL;
}

static bool is_recent(uint64_t ns)
{
	return cp_now() - ns < JUST_NS;
}

static bool same_field(pid_t a, pid_t b, unsigned field)
{
	char x[32], y[32];

	return cp_file_stat_field(a, field, x, sizeof(x)) &&
	       cp_file_stat_field(b, field, y, sizeof(y)) && !strcmp(x, y);
}

/* The same program at the same addresses: where its code begins and its stack. */
static bool same_layout(pid_t a, pid_t b)
{
	return same_field(a, b, 26) && same_field(a, b, 28);
}

static bool holds(int fd, uint64_t address, uint64_t magic)
{
	uint64_t there;

	return pread(fd, &there, sizeof(there), (off_t)address) == sizeof(there) && there == magic;
}

/* Is the memory of `pid` a copy of that of `space`? Then our first area is
 * there, unless that came just now, or what we switched on. */
static bool is_copy(const struct space *space, pid_t pid)
{
	bool areas = space->table->areas.count;
	char path[64];

	if (!areas && !space->annotated.count)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	CP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!areas)
		return holds(fd, space->annotated.items[0], CPROF_TRACE_MAGIC);
	return holds(fd, space->table->areas.items[0].address, CP_AREA_MAGIC) ||
	       (is_recent(space->grown_ns) && same_layout(pid, space->pid));
}

/* The space that `pid` got its memory from: its parent's, or, when that is not
 * who made it (CLONE_PARENT) or is gone, one that looks like it. */
static struct space *origin(struct tracer *tr, pid_t pid, pid_t parent, bool *shared_ret)
{
	struct process *p = process_find(tr, parent);
	uint64_t key, value;
	size_t cursor = 0;

	*shared_ret = p && same_memory(pid, parent);
	if (p && (*shared_ret || is_copy(p->space, pid)))
		return p->space;
	while (cp_map_next(&tr->by_pid, &cursor, &key, &value)) {
		p = (struct process *)(uintptr_t)value;
		*shared_ret = same_memory(pid, p->pid);
		if (*shared_ret || is_copy(p->space, pid))
			return p->space;
	}
	return NULL;
}

struct space *space_of_child(struct tracer *tr, pid_t pid, pid_t parent)
{
	bool shared;
	struct space *from = origin(tr, pid, parent, &shared), *space;

	if (!from)
		return space_create(pid);
	if (shared) {
		from->users++;
		return from;
	}
	space = copy(from, pid);
	if (space && is_recent(from->grown_ns) && newborn_lacks(space, from))
		space->older_than = from;
	else if (space && is_recent(from->changed_ns))
		sites_sync(space);
	return space;
}

void space_renew(struct process *p)
{
	struct space *fresh;

	if (p->space->users == 1 && !p->space->table->areas.count && p->space->mem < 0)
		return; /* as new */
	fresh = space_create(p->pid);
	if (!fresh) {
		cp_debug("no memory for a new address space");
		return;
	}
	/* Ours was no SIG_IGN, which an exec keeps. */
	fresh->ignored = p->space->users - p->space->kept == 1 && p->space->handler &&
			 p->space->own.handler == (uintptr_t)SIG_IGN;
	space_release(p->space);
	p->space = fresh;
}

/* ---- where things are ---- */

struct area *space_area(const struct space *space, uint64_t address)
{
	size_t i;

	for (i = 0; i < space->table->areas.count; i++) {
		struct area *area = &space->table->areas.items[i];

		if (address - area->address < area->size)
			return area;
	}
	return NULL;
}

struct site *space_site(const struct space *space, uint64_t address)
{
	uint32_t number = table_find(space->table, address);

	return number == SITE_NONE ? NULL : &space->table->sites.items[number];
}

bool space_any_armed(const struct space *space, const struct site *site)
{
	while (site && !site_armed(space, site))
		site = site_next(space, site);
	return site;
}

struct site *space_slot_site(const struct space *space, uint64_t pc, uint64_t *slot_ret)
{
	const struct area *area = space_area(space, pc);
	uint64_t first, n;

	if (!area)
		return NULL;
	first = cp_area_slot(area->address, area->size, 0);
	n = (pc - first) / CP_SLOT_SIZE;
	if (pc < first || n >= area->slot_count || !area->owners[n])
		return NULL;
	*slot_ret = first + n * CP_SLOT_SIZE;
	return space_site(space, area->owners[n]);
}
