/* SPDX-License-Identifier: MIT
 *
 * The text of a page: the one that its marks were found in, or, where none was
 * looked for, what lies at its path.
 */
#include "report/coverage_html.h"

#include <fcntl.h>
#include <string.h>

#include "base/file.h"

#define SIZE_LIMIT (64u << 20)

static bool find_lines(struct cp_source_file *own)
{
	const char *at = own->text, *end = own->text + own->size;

	while (at && at < end) {
		if (!cp_vec_push(&own->starts, (uint32_t)(at - own->text)))
			return false;
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	return true;
}

const struct cp_source_file *cp_pages_source(const struct cp_covered_file *f,
					     struct cp_source_file *own)
{
	struct cp_buf text = { 0 };
	struct cp_error *err;

	if (f->source || f->missing)
		return f->source && f->source->text ? f->source : NULL;
	err = cp_file_read(AT_FDCWD, f->path, SIZE_LIMIT, &text);
	own->text = text.bytes;
	own->size = text.size;
	if (!err && own->text && find_lines(own))
		return own;
	cp_error_free(err);
	cp_pages_source_free(own);
	return NULL;
}

void cp_pages_source_free(struct cp_source_file *own)
{
	free(own->text);
	cp_vec_free(&own->starts);
	*own = (struct cp_source_file){ 0 };
}

const char *cp_pages_line(const struct cp_source_file *f, uint32_t n, size_t *size_ret)
{
	const char *line = f->text + f->starts.items[n - 1], *end = f->text + f->size;
	const char *newline = memchr(line, '\n', (size_t)(end - line));

	*size_ret = (size_t)((newline ? newline : end) - line);
	return line;
}

uint32_t cp_pages_lines(const struct cp_source_file *f)
{
	size_t count = f->starts.count;

	if (count && f->starts.items[count - 1] >= f->size)
		count--;
	return (uint32_t)count;
}
