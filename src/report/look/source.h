/* SPDX-License-Identifier: MIT
 *
 * Lines of source files: those that the recording encloses, else those that are
 * where the debug information says. The paths come from the recording: only
 * regular files are opened, and of a bounded size.
 */
#ifndef CP_REPORT_SOURCE_H
#define CP_REPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_buf;
struct cp_record;

struct cp_source {
	const struct cp_record *record; /* borrowed; what it encloses counts first; NULL: none */
	const char *path; /* borrowed; of what is in `text` */
	const char *text; /* NULL: not readable */
	char *owned; /* that, where it is no recording's */
	size_t size;
};

/* All of a source file, with a NUL behind it; the caller's. NULL: it can't be
 * read, or is too big for a source. *written_ns_ret (may be NULL): when it was
 * last written, since 1970. */
char *cp_source_read(const char *path, size_t *size_ret, uint64_t *written_ns_ret);

void cp_source_deinit(struct cp_source *s);
/* Appends line `line` (from 1) of `path`, raw, without leading blanks and
 * newline; nothing when there is none. */
void cp_source_line(struct cp_source *s, const char *path, uint32_t line, struct cp_buf *out);
/* The same with leading blanks, tabs as blanks. False: there is none. */
bool cp_source_line_as_is(struct cp_source *s, const char *path, uint32_t line, struct cp_buf *out);

#endif
