/* SPDX-License-Identifier: MIT */
#include "report/look/source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "record/enclosed.h"

#define SIZE_LIMIT (16u << 20)
#define TAB 8

void cp_source_deinit(struct cp_source *s)
{
	free(s->owned);
	*s = (struct cp_source){ .record = s->record };
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

/* Frames' paths are shown without "x/.."; of several texts the last written counts. */
static const struct cp_record_source *enclosed(const struct cp_record *r, const char *path)
{
	struct cp_buf shown CP_CLEANUP(cp_buf_free) = { 0 };
	const struct cp_record_source *best = NULL;
	uint32_t i;

	for (i = 0; i < cp_record_source_count(r); i++) {
		const struct cp_record_source *s = cp_record_get_source(r, i);

		cp_buf_clear(&shown);
		cp_path_shorten(&shown, s->path);
		if (!shown.failed && shown.bytes && !strcmp(shown.bytes, path) &&
		    (!best || s->written_ns > best->written_ns))
			best = s;
	}
	return best;
}

static void load(struct cp_source *s, const char *path)
{
	const struct cp_record_source *kept = s->record ? enclosed(s->record, path) : NULL;

	cp_source_deinit(s);
	s->path = path;
	if (kept) {
		s->text = kept->text;
		s->size = kept->size;
	} else {
		s->text = s->owned = cp_source_read(path, &s->size, NULL);
	}
}

/* Line `line` of what is loaded: from *at_ret up to *end_ret. */
static bool find_line(const struct cp_source *s, uint32_t line, const char **at_ret,
		      const char **end_ret)
{
	const char *at, *end, *newline;

	if (!s->text || !line)
		return false;
	for (at = s->text, end = at + s->size; at && --line; at = at ? at + 1 : NULL)
		at = memchr(at, '\n', (size_t)(end - at));
	if (!at || at >= end)
		return false;
	newline = memchr(at, '\n', (size_t)(end - at));
	*at_ret = at;
	*end_ret = newline ? newline : end;
	return true;
}

static bool find(struct cp_source *s, const char *path, uint32_t line, const char **at_ret,
		 const char **end_ret)
{
	if (path != s->path && (!s->path || strcmp(path, s->path)))
		load(s, path);
	return find_line(s, line, at_ret, end_ret);
}

void cp_source_line(struct cp_source *s, const char *path, uint32_t line, struct cp_buf *out)
{
	const char *at, *end;

	if (!find(s, path, line, &at, &end))
		return;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	for (; at < end; at++)
		cp_buf_u8(out, *at == '\t' ? ' ' : (uint8_t)*at);
}

bool cp_source_line_as_is(struct cp_source *s, const char *path, uint32_t line, struct cp_buf *out)
{
	const char *at, *end;
	size_t column = 0;

	if (!find(s, path, line, &at, &end))
		return false;
	for (; at < end && *at != '\r'; at++) {
		if (*at == '\t') {
			do
				cp_buf_u8(out, ' ');
			while (++column % TAB);
		} else {
			cp_buf_u8(out, (uint8_t)*at);
			column += ((uint8_t)*at & 0xc0) != 0x80;
		}
	}
	return true;
}
