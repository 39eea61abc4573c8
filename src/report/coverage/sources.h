/* SPDX-License-Identifier: MIT
 *
 * Source files: where they are, which of them and which of their lines count.
 */
#ifndef CP_REPORT_SOURCES_H
#define CP_REPORT_SOURCES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

/* All borrowed; lists end with NULL, or are NULL. */
struct cp_source_rules {
	const char *root; /* what names are relative to; NULL: the working directory */
	/* Globs over recorded, mapped and relative paths; `*` crosses directories.
	 * Without any include, all but system ones (/usr but /usr/src and
	 * /usr/local/src, /lib, Rust's own libraries, crates that cargo fetched)
	 * count; one that is included by name counts wherever it
	 * lies. One that ends with '/' means all that is below. */
	const char *const *include, *const *exclude;
	const char *const *exclude_line; /* extended regular expressions */
	/* "START:END", each a regular expression; from the line of START on, but
	 * not that of END. A colon in START needs a backslash. */
	const char *const *exclude_region;
	const char *const *path_map; /* "OLD=NEW", prefixes of paths; the longest wins */
	/* git revision: which lines changed since the history parted from its;
	 * NULL: not asked. */
	const char *diff;
};

struct cp_sources;
/* Errors: bad regular expression, bad OLD=NEW, no git repository, no such
 * revision; each says which. */
CP_ERROR cp_sources_create(const struct cp_source_rules *rules, struct cp_sources **ret);
void cp_sources_destroy(struct cp_sources *s);
/* The directory that names are relative to, absolute. Lives as long as `s`. */
const char *cp_sources_root(const struct cp_sources *s);

/* False: left out. Notes which globs matched. */
bool cp_sources_wanted(struct cp_sources *s, const char *recorded);
/* After all files were asked for: an error for an --include or --exclude that
 * matched none. None where there was no file. */
CP_ERROR cp_sources_unmatched(const struct cp_sources *s);

#define CP_LINE_EXCLUDED \
	1u /* LCOV_EXCL_LINE, LCOV_EXCL_START to STOP, --exclude-line, -region;
			       GCOV_EXCL_* and GCOVR_EXCL_* too */
#define CP_LINE_NO_BRANCHES 2u /* LCOV_EXCL_BR_LINE, LCOV_EXCL_BR_START to STOP */
#define CP_LINE_CHANGED 4u /* since the revision */

struct cp_source_file {
	char *path; /* after --path-map, absolute */
	char *name; /* relative to the root where it lies below it */
	char *text; /* NUL-terminated; NULL: can't be read */
	size_t size;
	CP_VEC(uint32_t) starts; /* offset of each line, from line 1 at index 0 */
	CP_VEC(uint8_t) marks; /* CP_LINE_* of each line */
	uint64_t written_ns; /* 0: can't be read */
	bool all_changed; /* new since the revision */
};
/* Reads and marks it; owned by `s`, one each; the same path again is free. Never
 * NULL but without memory. */
const struct cp_source_file *cp_sources_file(struct cp_sources *s, const char *recorded);

/* Line `n` (from 1), without its end; "" behind the last one. */
const char *cp_sources_line(const struct cp_source_file *f, uint32_t n, size_t *size_ret);

#endif
