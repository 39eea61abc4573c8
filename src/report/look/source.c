/* SPDX-License-Identifier: MIT */
#include "report/look/source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"

#define SIZE_LIMIT (16u << 20)

void cp_source_deinit(struct cp_source *s)
{
	free(s->text);
	*s = (struct cp_source){ 0 };
}

char *cp_source_read(const char *path, size_t *size_ret, uint64_t *written_ns_ret)
{
	CP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	size_t size;
	char *text;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 0 ||
	    st.st_size > SIZE_LIMIT)
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return NULL;
	size = cp_pread(fd, text, (size_t)st.st_size, 0);
	text[size] = 0;
	*size_ret = size;
	if (written_ns_ret)
		*written_ns_ret =
			(uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	return text;
}

static void load(struct cp_source *s, const char *path)
{
	cp_source_deinit(s);
	s->path = path;
	s->text = cp_source_read(path, &s->size, NULL);
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
