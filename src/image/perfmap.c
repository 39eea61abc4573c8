/* SPDX-License-Identifier: MIT
 *
 * /tmp/perf-PID.map: lines "START SIZE name" in hex, appended by a just-in-time
 * compiler as it makes code. Addresses are reused, so the newest line that
 * covers an address counts. The program writes the file: nothing in it is
 * believed beyond its form.
 */
#include "image/perfmap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/vec.h"
#include "image/spans.h"

#define MAX_BYTES (UINT64_C(256) << 20)
#define MAX_ENTRIES (UINT64_C(4) << 20)
#define MAX_NAME 4096

struct entry {
	uint64_t start, end;
	size_t name; /* offset in `names` */
};

struct cp_perf_map {
	int fd;
	uint64_t read; /* bytes of the file that were taken in: whole lines */
	CP_VEC(struct entry) entries;
	struct cp_buf names;
	struct cp_spans spans; /* of entries, by number; later ones win */
};

CP_ERROR cp_perf_map_open(int root_fd, int pid_in_namespace, uint32_t uid, struct cp_perf_map **ret)
{
	struct cp_perf_map *map;
	CP_CLOSE int fd = -1;
	struct stat st, link;
	char path[64];

	snprintf(path, sizeof(path), "%stmp/perf-%d.map", root_fd >= 0 ? "" : "/",
		 pid_in_namespace);
	CP_TRY(cp_file_open_regular(root_fd, path, &fd));
	/* Opened through a link it is another inode than its name is. */
	if (fstat(fd, &st) < 0 ||
	    fstatat(root_fd >= 0 ? root_fd : AT_FDCWD, path, &link, AT_SYMLINK_NOFOLLOW) < 0)
		return cp_error_new(CP_ERR_IO, errno, "cannot stat %s", path);
	if (!S_ISREG(link.st_mode) || link.st_ino != st.st_ino || link.st_dev != st.st_dev ||
	    st.st_nlink != 1)
		return cp_error_new(CP_ERR_PERMISSION, 0, "%s is a link: not trusted", path);
	if (st.st_uid != 0 && st.st_uid != uid)
		return cp_error_new(CP_ERR_PERMISSION, 0,
				    "%s belongs to neither root nor the program's user", path);
	map = calloc(1, sizeof(*map));
	if (!map)
		return cp_error_nomem();
	map->fd = cp_steal_fd(&fd);
	*ret = map;
	cp_perf_map_refresh(map);
	return NULL;
}

/* Hex digits, perhaps after 0x; *at moves behind them and the blanks. */
static bool number(const char **at, uint64_t *ret)
{
	char *end;

	if (**at == '-' || **at == '+' || **at == ' ' || **at == '\t')
		return false;
	*ret = strtoull(*at, &end, 16);
	if (end == *at || (*end != ' ' && *end != '\t'))
		return false;
	*at = end + strspn(end, " \t");
	return true;
}

/* False without memory; a line that makes no sense is passed over. */
static bool take_line(struct cp_perf_map *map, const char *line)
{
	struct entry e = { .name = map->names.size };
	size_t length;
	uint64_t size;

	if (!number(&line, &e.start) || !number(&line, &size) || !size || !line[0] ||
	    size > UINT64_MAX - e.start || map->entries.count >= MAX_ENTRIES)
		return true;
	e.end = e.start + size;
	length = strnlen(line, MAX_NAME);
	cp_buf_add(&map->names, line, length);
	cp_buf_u8(&map->names, 0);
	return !map->names.failed && cp_vec_push(&map->entries, e);
}

static bool take_lines(struct cp_perf_map *map, char *text, size_t size)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', size - (size_t)(line - text)))) {
		*end = 0;
		if (!take_line(map, line))
			return false;
		line = end + 1;
	}
	map->read += (uint64_t)(line - text);
	return true;
}

static void index_entries(struct cp_perf_map *map)
{
	struct cp_span *spans = calloc(map->entries.count + 1, sizeof(*spans));
	struct cp_spans flat = { 0 };
	size_t i;

	if (!spans)
		return;
	for (i = 0; i < map->entries.count; i++)
		spans[i] = (struct cp_span){ map->entries.items[i].start, map->entries.items[i].end,
					     i, (uint32_t)i };
	if (cp_spans_build(spans, map->entries.count, &flat)) {
		cp_spans_free(&map->spans);
		map->spans = flat;
	}
	free(spans);
}

static void forget(struct cp_perf_map *map)
{
	cp_vec_free(&map->entries);
	cp_buf_free(&map->names);
	cp_spans_free(&map->spans);
	map->read = 0;
}

void cp_perf_map_refresh(struct cp_perf_map *map)
{
	CP_FREE char *text = NULL;
	struct stat st;
	uint64_t size;
	size_t before, n;

	if (fstat(map->fd, &st) < 0 || st.st_size < 0)
		return;
	size = (uint64_t)st.st_size < MAX_BYTES ? (uint64_t)st.st_size : MAX_BYTES;
	if (size < map->read) /* written anew */
		forget(map);
	if (size == map->read)
		return;
	text = malloc(size - map->read);
	if (!text)
		return;
	before = map->entries.count;
	n = cp_pread(map->fd, text, size - map->read, map->read);
	if (take_lines(map, text, n) && map->entries.count != before)
		index_entries(map);
}

bool cp_perf_map_find(const struct cp_perf_map *map, uint64_t at, const char **name_ret,
		      uint64_t *start_ret, uint64_t *size_ret)
{
	const struct cp_span *span = cp_spans_find(&map->spans, at);
	const struct entry *e;

	if (!span)
		return false;
	e = &map->entries.items[span->value];
	*name_ret = map->names.bytes + e->name;
	*start_ret = e->start;
	*size_ret = e->end - e->start;
	return true;
}

bool cp_perf_map_entry(const struct cp_perf_map *map, size_t n, const char **name_ret,
		       uint64_t *start_ret, uint64_t *size_ret)
{
	const struct entry *e = n < map->entries.count ? &map->entries.items[n] : NULL;

	if (!e)
		return false;
	*name_ret = map->names.bytes + e->name;
	*start_ret = e->start;
	*size_ret = e->end - e->start;
	return true;
}

void cp_perf_map_destroy(struct cp_perf_map *map)
{
	if (!map)
		return;
	forget(map);
	close(map->fd);
	free(map);
}
