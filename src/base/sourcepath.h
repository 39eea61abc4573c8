/* SPDX-License-Identifier: MIT
 *
 * Paths of source files: where they lie now, and which of them count. The
 * recorder and the reports go by the same rules.
 */
#ifndef CP_BASE_SOURCEPATH_H
#define CP_BASE_SOURCEPATH_H

#include <stdbool.h>
#include <stddef.h>

/* All borrowed; lists end with NULL, or are NULL. */
struct cp_source_paths {
	const char *root; /* absolute, without links; what names are relative to */
	const char *const *include, *const *exclude; /* globs; `*` crosses directories */
	const char *const *path_map; /* "OLD=NEW" */
	/* A flag for each glob, set when it matched; or NULL. */
	bool *include_used, *exclude_used;
};

/* The path of the source that is recorded as `recorded`: after the map, absolute,
 * shortened. The caller's; NULL without memory. */
char *cp_source_path(const struct cp_source_paths *paths, const char *recorded);
/* The part of `path` below the root, or all of it. Points into it. */
const char *cp_source_name(const struct cp_source_paths *paths, const char *path);

/* True for paths of the system, compilers and their libraries. */
bool cp_path_is_system(const char *path);
/* True for programs and libraries of the system: those in /usr/local are not. */
bool cp_path_is_system_image(const char *path);
/* Rust's own libraries and what they are made of, as rust.org and as Debian
 * builds them. */
bool cp_path_is_rust_library(const char *path);

/* True when a source counts. A glob is compared with the path as recorded, where it
 * lies now and relative to the root; one that ends with '/' means all that is below. */
bool cp_source_wanted(const struct cp_source_paths *paths, const char *recorded);

/* NULL, or the first entry of a map that is not OLD=NEW. */
const char *cp_path_map_broken(const char *const *path_map);

#endif
