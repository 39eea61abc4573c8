/* SPDX-License-Identifier: MIT
 *
 * The files that a program consists of, found on disk as the dynamic linker
 * would find them.
 */
#ifndef CP_PROBE_LIBRARIES_H
#define CP_PROBE_LIBRARIES_H

#include "base/error.h"
#include "base/vec.h"
#include "image/elffile.h"

#define CP_LIBRARIES_MAX 1024

struct cp_library {
	char *path; /* owned */
	char *runpath, *rpath; /* owned, or NULL */
	size_t loader; /* number of the file that needs it; the program: itself */
};

struct cp_libraries {
	CP_VEC(struct cp_library) list; /* the program first */
	bool missing; /* one was not found, or can't be read */
	bool is_static; /* the program, which needs no others */
	bool may_load, may_start; /* by what they import: see preview.h */
};

/* Reads the dynamic sections, from the program's on. A file that makes no
 * sense sets `missing`. */
CP_ERROR cp_libraries_find(const char *path, struct cp_libraries *ret);
void cp_libraries_free(struct cp_libraries *libraries);

#endif
