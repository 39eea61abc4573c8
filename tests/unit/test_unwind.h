/* SPDX-License-Identifier: MIT
 *
 * What the unwinder's tests share: a process's memory and mappings.
 */
#ifndef CP_TEST_UNWIND_H
#define CP_TEST_UNWIND_H

#include "base/types.h"
#include "unwind/unwind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

static inline size_t test_read_pid(void *ctx, uint64_t addr, void *buffer, size_t size)
{
	struct iovec to = { buffer, size };
	struct iovec from = { (void *)(uintptr_t)addr, size };
	ssize_t got = process_vm_readv(*(const pid_t *)ctx, &to, 1, &from, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

struct test_maps {
	struct cp_unwind_mapping *items;
	size_t count;
};

/* The mappings of a process; free with test_maps_free(). */
static inline struct test_maps test_maps(pid_t pid)
{
	struct test_maps maps = { NULL, 0 };
	char name[64], line[8192], perms[8];
	unsigned major, minor;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f)) {
		struct cp_unwind_mapping m = { 0 };
		int path = 0;

		if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %n", &m.start, &m.end, perms,
			   &m.file_offset, &major, &minor, &m.inode, &path) < 7)
			continue;
		line[strcspn(line, "\n")] = 0;
		m.device = (uint64_t)major << 32 | minor;
		m.executable = perms[2] == 'x';
		m.path = strdup(line + path);
		m.mtime_ns = m.inode ? 1 : 0;
		maps.items = realloc(maps.items, (maps.count + 1) * sizeof(m));
		if (!maps.items || !m.path)
			abort();
		maps.items[maps.count++] = m;
	}
	if (f)
		fclose(f);
	return maps;
}

static inline void test_maps_free(struct test_maps *maps)
{
	while (maps->count)
		free((char *)(uintptr_t)maps->items[--maps->count].path);
	free(maps->items);
	maps->items = NULL;
}

#endif
