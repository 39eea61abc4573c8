/* SPDX-License-Identifier: MIT
 *
 * Address spaces: their memory, and where things are in it.
 *
 * The memory is read and written through /proc/PID/mem, which belongs to the
 * memory and not to the process: it stays right when the process that it was
 * opened for is gone, and writes to pages that the program may only read or
 * execute (copying them first, so that no file changes).
 */
#include "tracer/memory/space.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tracer/memory/detours.h"

struct space *space_create(pid_t pid)
{
	struct space *space = calloc(1, sizeof(*space));

	if (space)
		*space = (struct space){
			.users = 1, .pid = pid, .mem = -1, .pagemap = -1, .table = table_create()
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
	cp_vec_free(&space->finisher.areas);
	detours_forget(space);
	free(space->heap.live);
	cp_close_fd(&space->mem);
	cp_close_fd(&space->pagemap);
	free(space);
}

bool space_keep(struct space *space)
{
	if (space->kept)
		return false;
	space->users++;
	space->kept = true;
	return true;
}

void space_let_go(struct space *space, bool kept)
{
	if (!kept)
		return;
	space->kept = false;
	space_release(space);
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

/* ---- SIGTRAP ---- */

bool space_has_trap(const struct space *space)
{
	return space->handler && space->users - space->kept == 1;
}

bool space_ignores_trap(const struct space *space)
{
	return space_has_trap(space) && space->own.handler == (uintptr_t)SIG_IGN;
}
