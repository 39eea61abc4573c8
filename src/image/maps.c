/* SPDX-License-Identifier: MIT
 *
 * /proc/PID/maps. A line is
 *
 *     start-end rwxp offset major:minor inode      path
 *
 * The kernel writes a newline in a path as \012 and nothing else of it, so a
 * path may hold any other byte, look like another line's fields, or end in
 * " (deleted)" by itself; only the line's structure is trusted.
 */
#include "image/image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/vec.h"

#define DELETED " (deleted)"

struct line {
	const char *at, *end;
};

static bool hex(struct line *l, uint64_t *ret, char after)
{
	uint64_t value = 0;
	size_t digits = 0;
	int d;

	for (; l->at < l->end; l->at++, digits++) {
		if (*l->at >= '0' && *l->at <= '9')
			d = *l->at - '0';
		else if (*l->at >= 'a' && *l->at <= 'f')
			d = *l->at - 'a' + 10;
		else
			break;
		if (value >> 60)
			return false;
		value = value << 4 | (unsigned)d;
	}
	if (!digits || l->at == l->end || *l->at != after)
		return false;
	l->at++;
	*ret = value;
	return true;
}

static bool decimal(struct line *l, uint64_t *ret)
{
	uint64_t value = 0;
	size_t digits = 0;

	for (; l->at < l->end && *l->at >= '0' && *l->at <= '9'; l->at++, digits++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (unsigned)(*l->at - '0'), &value))
			return false;
	}
	*ret = value;
	return digits > 0;
}

/* "r-xp " */
static bool flags(struct line *l, struct cp_mapping *m)
{
	if (l->end - l->at < 5 || l->at[4] != ' ')
		return false;
	m->readable = l->at[0] == 'r';
	m->writable = l->at[1] == 'w';
	m->executable = l->at[2] == 'x';
	m->shared = l->at[3] == 's';
	l->at += 5;
	return true;
}

static char *unescape(const char *at, const char *end)
{
	char *path = malloc((size_t)(end - at) + 1), *to = path;

	if (!path)
		return NULL;
	while (at < end) {
		if (end - at >= 4 && !memcmp(at, "\\012", 4)) {
			*to++ = '\n';
			at += 4;
		} else {
			*to++ = *at++;
		}
	}
	*to = 0;
	return path;
}

static struct cp_error *parse_line(struct line l, struct cp_mapping *m)
{
	uint64_t major, minor;
	size_t cut = strlen(DELETED);

	if (!hex(&l, &m->start, '-') || !hex(&l, &m->end, ' ') || !flags(&l, m) ||
	    !hex(&l, &m->offset, ' ') || !hex(&l, &major, ':') || !hex(&l, &minor, ' ') ||
	    !decimal(&l, &m->inode) || m->end < m->start)
		return cp_error_new(CP_ERR_FORMAT, 0, "a line of maps makes no sense");
	m->device = makedev((unsigned)major, (unsigned)minor);
	while (l.at < l.end && *l.at == ' ')
		l.at++;
	if ((size_t)(l.end - l.at) > cut && !memcmp(l.end - cut, DELETED, cut)) {
		m->deleted = true;
		l.end -= cut;
	}
	m->path = unescape(l.at, l.end);
	return m->path ? NULL : cp_error_nomem();
}

CP_ERROR cp_mappings_parse(const char *text, size_t size, struct cp_mapping **ret,
			   size_t *count_ret)
{
	CP_VEC(struct cp_mapping) all = { 0 };
	const char *end = size ? text + size : text; /* an empty one may be NULL */
	struct cp_error *err = NULL;
	struct cp_mapping m;
	struct line l;

	for (l.at = text; !err && l.at < end; l.at = l.end + 1) {
		l.end = memchr(l.at, '\n', (size_t)(end - l.at));
		if (!l.end) /* cut off in the middle */
			break;
		m = (struct cp_mapping){ 0 };
		err = parse_line(l, &m);
		if (!err && !cp_vec_push(&all, m)) {
			free(m.path);
			err = cp_error_nomem();
		}
	}
	if (err) {
		cp_mappings_free(all.items, all.count);
		return err;
	}
	*ret = all.items;
	*count_ret = all.count;
	return NULL;
}

void cp_mappings_free(struct cp_mapping *mappings, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free(mappings[i].path);
	free(mappings);
}
