/* SPDX-License-Identifier: MIT */
#include "report/source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"

#define SIZE_LIMIT (16u << 20)

void cp_source_deinit(struct cp_source *s)
{
	free(s->text);
	*s = (struct cp_source){ 0 };
}

static void read_all(struct cp_source *s, int fd, size_t size)
{
	ssize_t n = 0;

	s->text = malloc(size + 1);
	if (!s->text)
		return;
	while (s->size < size) {
		n = read(fd, s->text + s->size, size - s->size);
		if (n <= 0)
			break;
		s->size += (size_t)n;
	}
}

static void load(struct cp_source *s, const char *path)
{
	CP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	cp_source_deinit(s);
	s->path = path;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size > SIZE_LIMIT)
		return;
	read_all(s, fd, (size_t)st.st_size);
}

void cp_source_line(struct cp_source *s, const char *path, uint32_t line, struct cp_buf *out)
{
	const char *at, *end, *newline;

	if (path != s->path && (!s->path || strcmp(path, s->path)))
		load(s, path);
	if (!s->text || !line)
		return;
	for (at = s->text, end = at + s->size; at && --line; at = at ? at + 1 : NULL)
		at = memchr(at, '\n', (size_t)(end - at));
	if (!at || at >= end)
		return;
	newline = memchr(at, '\n', (size_t)(end - at));
	end = newline ? newline : end;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	for (; at < end; at++)
		cp_buf_u8(out, *at == '\t' ? ' ' : (uint8_t)*at);
}
