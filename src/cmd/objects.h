/* SPDX-License-Identifier: MIT
 *
 * The ELF objects that a command looks at without profiling: a file, or what
 * a process has mapped.
 */
#ifndef CP_CMD_OBJECTS_H
#define CP_CMD_OBJECTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "cmd/options.h"
#include "image/core.h"
#include "image/image.h"

struct cp_object {
	char *path; /* owned; as the process names it */
	char *started_as; /* owned; another name of a program, or NULL */
	struct cp_image *image; /* owned */
	bool program; /* the executable */
	bool replaced; /* the core was made of another file of that name */
	uint64_t bias; /* run-time address = link-time address + bias; 0 for a file */
};

struct cp_objects {
	CP_VEC(struct cp_object) list;
};

/* Options about where symbols come from; they stay as long as the images. */
struct cp_symbols_options {
	struct cp_texts debug_dirs; /* before the usual ones */
	struct cp_debuginfod debuginfod;
};
extern const struct cp_option cp_symbols_options[];
struct cp_image_options cp_symbols_image(struct cp_symbols_options *options);

/* One file; a name without '/' that is not here is looked for in PATH. */
CP_ERROR cp_objects_file(const char *path, const struct cp_image_options *options,
			 struct cp_objects *ret);
/* Why a process has no memory to be read: it is a zombie, of the kernel, or there is none. */
struct cp_error *cp_objects_gone(pid_t pid);
typedef bool (*cp_object_wanted_fn)(void *ctx, const char *path, const char *started_as,
				    bool program);
/* The objects of a process for which `wanted` answers true. One that can't be
 * opened is left out, unless it is the program. */
CP_ERROR cp_objects_process(pid_t pid, const struct cp_image_options *options,
			    cp_object_wanted_fn wanted, void *ctx, struct cp_objects *ret);
/* The same of what was mapped when a core was made. */
CP_ERROR cp_objects_core(const struct cp_core *core, const struct cp_image_options *options,
			 struct cp_objects *ret);
void cp_objects_free(struct cp_objects *objects);

#endif
