/* SPDX-License-Identifier: MIT
 *
 * The address spaces of processes that are born, or execute: who shares one, who has a
 * copy, and of what.
 */
#include "tracer/lives/inherit.h"

#include <cprof/trace_format.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "tracer/calls/finish.h"
#include "tracer/known/lookup.h"
#include "tracer/lives/newborn.h"
#include "tracer/memory/detours.h"
#include "tracer/memory/sites.h"
#include "tracer/memory/space.h"

#define BIRTH_FIELD 22 /* of /proc/PID/stat: in ticks since the machine started */

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
	to->translates = from->translates;
	to->reset = from->reset;
	to->reset_by = to->pid; /* the only one, and it is past that */
	to->stale = from->stale;
	to->cleared = from->cleared;
	to->clock = from->clock;
	to->pause = from->pause;
	to->pause.pid = pid;
	if (copy_groups(to, from) && copy_annotated(to, from) && finish_copy(to, from) &&
	    detours_share(to, from) && table_share(to, from) && !space_open(to))
		return to;
	space_release(to);
	return NULL;
}

/* When the process was born, by cp_now(), or before that; 0: not known. Between a fork and our
 * seeing the child lies as much time as others need the processors for. */
static uint64_t born_at(pid_t pid)
{
	uint64_t tick = CP_NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK), ticks, now = cp_now(), age;
	struct timespec boot;
	char word[32];

	if (!cp_file_stat_field(pid, BIRTH_FIELD, word, sizeof(word)) ||
	    !cp_parse_u64(word, UINT64_MAX / tick, &ticks) || clock_gettime(CLOCK_BOOTTIME, &boot))
		return 0;
	age = (uint64_t)boot.tv_sec * CP_NS_PER_S + (uint64_t)boot.tv_nsec - ticks * tick +
	      2 * tick;
	return age < now ? now - age : 0;
}

static bool same_field(pid_t a, pid_t b, unsigned field)
{
	char x[32], y[32];

	return cp_file_stat_field(a, field, x, sizeof(x)) &&
	       cp_file_stat_field(b, field, y, sizeof(y)) && !strcmp(x, y);
}

/* Have both the same program at the same addresses? Its code and its stack begin at the
 * same ones, then. */
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
	       (born_at(pid) <= space->grown_ns && same_layout(pid, space->pid));
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

struct space *inherit_space(struct tracer *tr, pid_t pid, pid_t parent)
{
	bool shared;
	struct space *from = origin(tr, pid, parent, &shared), *space;
	uint64_t born;

	if (!from)
		return space_create(pid);
	if (shared) {
		from->users++;
		return from;
	}
	space = copy(from, pid);
	if (!space)
		return NULL;
	born = born_at(pid);
	if (born <= from->grown_ns && newborn_lacks(space, from))
		space->older_than = from;
	else if (born <= from->changed_ns)
		sites_sync(space);
	return space;
}

void inherit_nothing(struct process *p)
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
