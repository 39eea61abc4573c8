/* SPDX-License-Identifier: MIT
 *
 * What `inspect` looks at: the objects of a process or a file, its memory, and what
 * names mean there.
 */
#ifndef CP_CMD_INSPECTING_H
#define CP_CMD_INSPECTING_H

#include "base/map.h"
#include "cmd/objects.h"
#include "cmd/reads.h"
#include "cmd/vtables.h"
#include "image/find.h"
#include "image/globals.h"
#include "image/templates.h"
#include "inspect/thing.h"
#include "inspect/thread_locals.h"

struct cp_inspected {
	pid_t pid; /* 0: a file */
	struct cp_core *core; /* owned; NULL: it is none */
	pid_t tid; /* whose thread-local variables are meant */
	int memory_fd;
	struct cp_reader memory;
	struct cp_objects objects;
	CP_VEC(struct cp_globals *) globals; /* that were found: their names and places */
	CP_VEC(struct cp_found *) types;
	CP_VEC(char *) notes; /* what is to be said of the names in the last expression */
	/* The library that has the first of them that the program has not, and the file in which
	 * it is declared; NULL: there is none, nobody says. */
	const char *library, *library_file;
	CP_VEC(struct cp_named_global {
		char *key;
		struct cp_globals *found;
		struct cp_object *in;
	})
	known;
	CP_VEC(struct cp_named_type {
		char *key;
		const struct cp_type *type;
		const struct cp_found *found; /* borrowed; NULL: an enumerator's */
		bool own; /* of what the frame's function is in */
	})
	known_types;
	struct cp_arena arena; /* of things */
	struct cp_expression_env env;
	struct cp_thread_library threads;
	struct cp_vtables vtables;
	struct cp_reads *reading; /* notes what is read of a process; borrowed, or NULL */
	struct cp_frames *frames; /* whose names come first; borrowed, or NULL */
};

struct cp_shapes;

/* `target` is a number of a process or a file. */
CP_ERROR cp_inspected_open(struct cp_inspected *in, const char *target,
			   const struct cp_image_options *options);
/* Values are read by these declarations, which find types in what is inspected; borrowed. */
void cp_inspected_use_shapes(struct cp_inspected *in, struct cp_shapes *shapes);
void cp_inspected_close(struct cp_inspected *in);
/* Where a variable is; an error where it has no place. */
struct cp_thing cp_inspected_global(struct cp_inspected *in, const struct cp_object *object,
				    const struct cp_global *global);

#endif
