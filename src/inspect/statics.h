/* SPDX-License-Identifier: MIT
 *
 * Where static variables are: see statics.c.
 */
#ifndef CP_INSPECT_STATICS_H
#define CP_INSPECT_STATICS_H

#include "image/globals.h"
#include "inspect/thing.h"
#include "inspect/thread_locals.h"

struct cp_signature;

/* What tells where they are, all borrowed. */
struct cp_statics {
	const struct cp_reader *memory;
	const struct cp_thread_library *threads; /* NULL: a file, in which no thread is */
	pid_t tid; /* whose thread-local variables are meant */
	struct cp_arena *arena; /* of initial values */
	struct cp_placed_image
		program; /* where copies of libraries' may be; image NULL: not known */
};

/* Where a variable of the image `of` is, whose process `program` began; an error where it
 * has no place. */
struct cp_thing cp_static_thing(const struct cp_statics *statics, const struct cp_placed_image *of,
				bool program, const struct cp_global *global);

/* A static of a function, as those that are found by name are. The name is in the arena. */
struct cp_global cp_static_of(const struct cp_signature *signature,
			      const struct cp_variable *variable, struct cp_arena *arena);
/* The one of that name in the function itself, whichever block it is in; NULL: none. */
const struct cp_variable *cp_static_in(const struct cp_signature *signature, const char *name);
/* Does each thread have one of its own? */
bool cp_static_is_of_threads(const struct cp_global *global);

/* Where the function of that name begins, with or without what it takes; 0: there is none. */
struct cp_vaddr cp_function_address(struct cp_image *image, const char *name);
/* A function as its address, as C has it. */
bool cp_function_pointer(struct cp_arena *arena, uint64_t address, struct cp_thing *ret);
/* The function of that name, so. False: the image has none. */
bool cp_function_thing(const struct cp_placed_image *in, const char *name, struct cp_arena *arena,
		       struct cp_thing *ret);
/* The first one whose name ends so: what it is in is left out, a::b::f is b::f. False: the
 * image has none. */
bool cp_function_within(const struct cp_placed_image *in, const char *name, struct cp_arena *arena,
			struct cp_thing *ret);

#endif
