/* SPDX-License-Identifier: MIT
 *
 * What names mean in a frame: see scope.c.
 */
#ifndef CP_INSPECT_SCOPE_H
#define CP_INSPECT_SCOPE_H

#include "inspect/thing.h"

/* A frame that names are looked up in, all borrowed. */
struct cp_scope {
	const struct cp_signature *signature; /* NULL: nothing is known of its variables */
	struct cp_capture capture; /* with the frame's registers, and memory */
	struct cp_value_frame frame; /* `locals` is not looked at */
};

/* A variable in scope. */
struct cp_scope_name {
	const struct cp_variable *variable;
	bool local; /* else an argument */
	size_t position; /* among those */
	bool fixed; /* a static of the function: cp_static_thing() tells where it is */
};

/* All of a frame, arguments first and statics of the function last, in the arena; *ret NULL:
 * none. */
size_t cp_scope_names(const struct cp_scope *scope, struct cp_arena *arena,
		      const struct cp_scope_name **ret);
/* Orders names that may be the same so that the one that is meant comes first: of the
 * innermost block. Answers how many are called `name`, statics of the function among them;
 * they are in the arena. */
size_t cp_scope_find(const struct cp_scope *scope, struct cp_arena *arena, const char *name,
		     const struct cp_scope_name **ret);
/* Where it is, and what it holds if that is no memory. */
struct cp_thing cp_scope_thing(const struct cp_scope *scope, const struct cp_expression_env *env,
			       const struct cp_scope_name *name);

#endif
