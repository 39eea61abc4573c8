/* SPDX-License-Identifier: MIT
 *
 * A perf map, read in two pieces.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[64];

static void clean(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/tmp/perf-1.map", root);
	unlink(path);
	snprintf(path, sizeof(path), "%s/tmp", root);
	rmdir(path);
	rmdir(root);
}

static void set_up(void)
{
	char path[128];

	if (root[0])
		return;
	snprintf(root, sizeof(root), "/tmp/cprof-fuzz-XXXXXX");
	if (!mkdtemp(root))
		exit(1);
	snprintf(path, sizeof(path), "%s/tmp", root);
	mkdir(path, 0700);
	atexit(clean);
}

static void ask(const struct cp_perf_map *map)
{
	static const uint64_t at[] = { 0, 1, 0x1000, 0x1fff, UINT64_MAX };
	const char *name;
	uint64_t start, size;
	size_t i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if (cp_perf_map_find(map, at[i], &name, &start, &size) &&
		    (start > at[i] || at[i] - start >= size || strlen(name) > 4096))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cp_perf_map *map = NULL;
	int root_fd, fd;
	char path[128];

	set_up();
	snprintf(path, sizeof(path), "%s/tmp/perf-1.map", root);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || root_fd < 0 || write(fd, data, size / 2) < 0)
		exit(1);
	cp_error_free(cp_perf_map_open(root_fd, 1, getuid(), &map));
	if (!map)
		abort();
	ask(map);
	if (write(fd, data + size / 2, size - size / 2) < 0)
		exit(1);
	cp_perf_map_refresh(map);
	ask(map);
	cp_perf_map_destroy(map);
	close(fd);
	close(root_fd);
	return 0;
}
